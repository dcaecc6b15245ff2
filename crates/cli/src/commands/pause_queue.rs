//! `danlu pause-queue`: nothing new starts, on all machines.

use std::{collections::BTreeSet, process::ExitCode};

use clap::Args;
use danlu_wire::api::{Act, ActName};

use super::{acting::report, set};
use crate::{
    client::{Client, Query},
    failure::Failure,
    given::task_state::ACTIVE,
    language::{say, text},
    screen,
    selection::Selected,
};

#[derive(Debug, Args)]
#[command(
    about = text("Start nothing more until resume-queue", "暂停队列，直到 resume-queue"),
    override_usage = text("danlu pause-queue [OPTIONS]", "danlu pause-queue [选项]"),
    after_help = text(
        "What runs goes on, and tasks can be submitted. For admins.\n\n\
         Examples:\n  danlu pause-queue\n  danlu pause-queue --requeue-running",
        "运行中的任务继续，仍可提交任务。仅限管理员。\n\n\
         示例：\n  danlu pause-queue\n  danlu pause-queue --requeue-running",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, help = text(
        "Stop what runs and put it back into the queue, at its old place",
        "停止运行中的任务并放回队列中原来的位置",
    ))]
    requeue_running: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    set::change(client, "queue_paused", "true")?;
    screen::print(text("the queue is paused\n", "队列已暂停\n"))?;
    if !arguments.requeue_running {
        return Ok(ExitCode::SUCCESS);
    }
    let running = client.list(&Query { states: ACTIVE.to_vec(), ..Query::default() })?;
    let ids: Vec<u64> = running.iter().map(|task| task.id).collect();
    if ids.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let selected = Selected { ids: ids.clone(), may_be_missing: BTreeSet::new(), one_by_one: true };
    let done = |tasks: &str| say!("put back {tasks}", "已放回 {tasks}");
    report(client, &Act::new(ActName::Requeue, ids), &selected, done, false).map(|(_, exit)| exit)
}
