//! `danlu ls`: my tasks, why they wait, and whether GPUs are free.

mod fold;
mod summary;

use std::io;

use clap::Args;
use danlu_wire::api::{Document, Gpus, TaskView};
use jiff::Timestamp;

use crate::{
    client::{Client, Query},
    failure::Failure,
    given::task_state::{ACTIVE, ENDED, WAITING},
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

/// Waiting tasks, and ended ones, that are looked at unless more is asked for.
const LOOKED_AT: usize = 200;
/// Lines of those that have ended of late.
const ENDED_LINES: usize = 10;

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let me = client.who_am_i()?.user;
    let mut query = arguments.filters.query();
    if query.user.is_none() && !arguments.all {
        query.user = Some(me.clone());
    }
    query.limit = arguments.limit;
    if arguments.json {
        query.oldest_first = arguments.limit.is_none();
        return screen::print_document(&client.list_document(&query)?);
    }
    let found = if query.states.is_empty() && query.limit.is_none() {
        overview(client, &query)?
    } else {
        listed(client, query)?
    };
    let gpus: Document<Gpus> = client.get("/gpus")?;
    let with_user = arguments.all || arguments.filters.user().is_some_and(|user| user != me);
    show(&found, &gpus.content, &me, with_user)
}

/// What is to be shown, and how much more there is.
struct Found {
    tasks: Vec<TaskView>,
    /// Of the person who asks, where that is known.
    waiting: Option<usize>,
    ended_lines: usize,
    not_shown: usize,
}

/// What runs, what waits, and what has ended of late.
fn overview(client: &Client, query: &Query) -> Result<Found, Failure> {
    let some = |states: &[_], oldest_first, limit| Query {
        states: states.to_vec(),
        oldest_first,
        limit,
        ..query.clone()
    };
    let active = client.page(&some(&ACTIVE, true, None))?;
    let waiting = client.page(&some(&WAITING, true, Some(LOOKED_AT)))?;
    let ended = client.page(&some(&ENDED, false, Some(LOOKED_AT)))?;
    let not_shown = (active.total - active.tasks.len()) + (waiting.total - waiting.tasks.len());
    let waits = waiting.total;
    let tasks = [active.tasks, waiting.tasks, ended.tasks].concat();
    Ok(Found { tasks, waiting: Some(waits), ended_lines: ENDED_LINES, not_shown })
}

fn listed(client: &Client, query: Query) -> Result<Found, Failure> {
    let (tasks, not_shown) = if query.limit.is_some() {
        (client.list(&query)?, 0)
    } else {
        let page = client.page(&Query { limit: Some(LOOKED_AT), ..query })?;
        let not_shown = page.total - page.tasks.len();
        (page.tasks, not_shown)
    };
    Ok(Found { tasks, waiting: None, ended_lines: usize::MAX, not_shown })
}

fn show(found: &Found, gpus: &Gpus, me: &str, with_user: bool) -> Result<(), Failure> {
    let (columns, colour) = (width::of_stdout(), colour::wanted(&io::stdout()));
    let mut out = summary::line(gpus, &found.tasks, found.waiting, me, columns);
    if found.tasks.is_empty() {
        out += text("\nno tasks: danlu submit -- COMMAND\n", "\n没有任务：danlu submit -- 命令\n");
    } else {
        let table = fold::table(&found.tasks, found.ended_lines, with_user, Timestamp::now());
        out += &format!("\n{}", table.render(columns, colour));
    }
    let more = found.not_shown;
    if more > 0 {
        out += &say!(
            "… and {more} more: danlu ls -n {more}, or --json\n",
            "……另有 {more} 个：danlu ls -n {more}，或 --json\n"
        );
    }
    screen::print(&out)
}
