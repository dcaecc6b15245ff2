//! `danlu audit`: shows who did what, and from where.

use std::io;

use clap::Args;
use danlu_messages::cli::audit as msg;
use danlu_wire::api::{Audit, Document};

use crate::{
    client::{Client, path_segment, read},
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
    override_usage = msg::danlu_audit_target_options(),
    after_help = msg::help(),
)]
pub(crate) struct AuditArguments {
    #[arg(value_name = "TARGET", help = msg::such_as_task_12_or_user_ann())]
    target: Vec<String>,

    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 50, help = msg::at_most_so_many())]
    limit: u32,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &AuditArguments) -> Result<(), Failure> {
    let mut path = format!("/audit?limit={}", arguments.limit);
    if !arguments.target.is_empty() {
        path += &format!("&target={}", path_segment(&arguments.target.join(" ")));
    }
    let document = client.get_document(&path)?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let entries = read::<Document<Audit>>(&document)?.content.entries;
    let mut table = Table::new(vec![
        Column::left(msg::when()),
        Column::left(msg::who()),
        Column::left(msg::from()),
        Column::left(msg::act()),
        Column::left(msg::what()),
        Column::left(msg::detail()),
    ]);
    for entry in entries {
        table.row(vec![
            entry.at.into(),
            entry.user.into(),
            entry.from.into(),
            danlu_messages::acts::act(&entry.act).into(),
            entry.target.into(),
            entry.detail.into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}
