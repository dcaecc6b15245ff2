//! `danlu audit`: who did what, from where.

use std::io;

use clap::Args;
use danlu_wire::api::{Audit, Document};

use super::user::path_segment;
use crate::{
    client::{Client, read},
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
    about = text("Who did what, from where", "审计：谁在何处做了什么"),
    override_usage = text("danlu audit [TARGET…] [OPTIONS]", "danlu audit [对象…] [选项]"),
    after_help = text(
        "Newest first. For admins.\n\nExamples:\n  danlu audit\n  danlu audit task 12\n  danlu audit user ann -n 20",
        "最新的在前。仅限管理员。\n\n示例：\n  danlu audit\n  danlu audit task 12\n  danlu audit user ann -n 20",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "TARGET", help = text("Such as `task 12` or `user ann`", "如 `task 12` 或 `user ann`"))]
    target: Vec<String>,

    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 50, help = text("At most so many", "最多条数"))]
    limit: u32,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
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
        Column::left(text("WHEN", "时间")),
        Column::left(text("WHO", "用户")),
        Column::left(text("FROM", "来源")),
        Column::left(text("ACT", "操作")),
        Column::left(text("WHAT", "对象")),
        Column::left(text("DETAIL", "详情")),
    ]);
    for entry in entries {
        table.row(vec![
            entry.at.into(),
            entry.user.into(),
            entry.from.into(),
            entry.act.into(),
            entry.target.into(),
            entry.detail.into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}
