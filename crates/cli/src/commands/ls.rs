//! `danlu ls`: my tasks, why they wait, and whether GPUs are free.

mod fold;
mod summary;

use std::io;

use clap::Args;
use danlu_wire::api::{ME, Overview, TaskView};
use jiff::Timestamp;

use super::notices;
use crate::{
    client::{Client, Query},
    failure::Failure,
    language::{say, text},
    screen::{self, colour, width},
    selection::Filters,
};

#[derive(Debug, Args)]
#[command(
    about = text("List my tasks, and say why they wait", "列出我的任务，并说明为何等待"),
    override_usage = text("danlu ls [OPTIONS]", "danlu ls [选项]"),
    after_help = text(
        "Shows what runs and waits, and what has ended of late. Arrays are folded into one line.\n\n\
         Examples:\n  \
           danlu ls -a                        everybody's\n  \
           danlu ls --state failed            all that failed\n  \
           danlu ls --label sweep=a --json    for programs: every task, never folded",
        "显示正在运行、等待和最近结束的任务。数组折叠为一行。\n\n\
         示例：\n  \
           danlu ls -a                        所有人的任务\n  \
           danlu ls --state failed            所有失败的任务\n  \
           danlu ls --label sweep=a --json    供程序使用：列出每个任务，不折叠",
    ),
)]
pub(crate) struct Arguments {
    #[arg(short, long, help = text("Everybody's tasks", "所有人的任务"))]
    all: bool,

    #[command(flatten)]
    filters: Filters,

    #[arg(short = 'n', long, value_name = "N", help = text(
        "The newest N tasks, whatever their state",
        "最新的 N 个任务，不论状态",
    ))]
    limit: Option<usize>,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

/// Tasks that are looked at when states are named, unless more is asked for.
const LOOKED_AT: usize = 200;

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let mut query = arguments.filters.query();
    query.limit = arguments.limit;
    let by_state = arguments.json || !query.states.is_empty() || query.limit.is_some();
    if query.user.is_none() && !arguments.all {
        query.user = Some(ME.to_owned());
    }
    if arguments.json {
        query.oldest_first = arguments.limit.is_none();
        return screen::print_document(&client.list_document(&query)?);
    }
    let mut overview = client.overview(&query)?;
    if by_state {
        let (tasks, not_shown) = listed(client, query)?;
        overview.lines = fold::folded(tasks);
        overview.not_shown = not_shown;
    }
    let others = |user| user != overview.user;
    let with_user = arguments.all || arguments.filters.user().is_some_and(others);
    show(&overview, with_user)
}

/// And how many more there are.
fn listed(client: &Client, query: Query) -> Result<(Vec<TaskView>, usize), Failure> {
    if query.limit.is_some() {
        return Ok((client.list(&query)?, 0));
    }
    let page = client.page(&Query { limit: Some(LOOKED_AT), ..query })?;
    let not_shown = page.total - page.tasks.len();
    Ok((page.tasks, not_shown))
}

fn show(overview: &Overview, with_user: bool) -> Result<(), Failure> {
    let (columns, colour) = (width::of_stdout(), colour::wanted(&io::stdout()));
    let mut out = notices::lines(&overview.notices);
    out += &summary::line(overview, columns);
    if overview.lines.is_empty() {
        out += text("\nno tasks: danlu submit -- COMMAND\n", "\n没有任务：danlu submit -- 命令\n");
    } else {
        let table = fold::table(&overview.lines, with_user, Timestamp::now());
        out += &format!("\n{}", table.render(columns, colour));
    }
    let more = overview.not_shown;
    if more > 0 {
        out += &say!(
            "… and {more} more: danlu ls -n {more}, or --json\n",
            "……另有 {more} 个：danlu ls -n {more}，或 --json\n"
        );
    }
    screen::print(&out)
}
