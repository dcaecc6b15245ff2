//! `danlu config show`: shows the server's configuration, and where each value comes from.

use std::io;

use clap::{Args, Subcommand};
use danlu_messages::cli::config as msg;

use crate::{
    client::{Client, read, responses::ConfigAnswer},
    failure::Failure,
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = "danlu config show [--json]",
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    what: ConfigCommand,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    #[command(
        about = msg::every_value_with_its_origin(),
        override_usage = "danlu config show [--json]",
    )]
    Show {
        #[arg(long, help = msg::print_one_json_document())]
        json: bool,
    },
}

pub(crate) fn run(client: &Client, arguments: &ConfigArguments) -> Result<(), Failure> {
    let ConfigCommand::Show { json } = arguments.what;
    let document = client.get_document("/config")?;
    if json {
        return screen::print_document(&document);
    }
    let mut table = Table::new(vec![
        Column::left(msg::key()),
        Column::left(msg::value()).shrinks(24, 10),
        Column::left(msg::from()).shrinks(24, 10),
    ]);
    for entry in read::<ConfigAnswer>(&document)?.config {
        table.row(vec![entry.key.into(), entry.value.into(), entry.origin.into()]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}
