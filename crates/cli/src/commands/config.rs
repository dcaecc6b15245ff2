//! `danlu config show`: how the server was configured, and where each value comes from.

use std::io;

use clap::{Args, Subcommand};

use crate::{
    client::{Client, answers::ConfigAnswer, read},
    failure::Failure,
    language::text,
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = text("Show the configuration, and where each value comes from", "查看配置及每个值的来源"),
    override_usage = "danlu config show [--json]",
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(
        about = text("Every value with its origin", "每个值及其来源"),
        override_usage = "danlu config show [--json]",
    )]
    Show {
        #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
        json: bool,
    },
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let What::Show { json } = arguments.what;
    let document = client.get_document("/config")?;
    if json {
        return screen::print_document(&document);
    }
    let mut table = Table::new(vec![
        Column::left(text("KEY", "名称")),
        Column::left(text("VALUE", "值")).shrinks(24, 10),
        Column::left(text("FROM", "来源")).shrinks(24, 10),
    ]);
    for entry in read::<ConfigAnswer>(&document)?.config {
        table.row(vec![entry.key.into(), entry.value.into(), entry.origin.into()]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}
