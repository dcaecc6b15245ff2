//! `danlu cancel`: a queued task is cancelled; of a running one the whole process tree ends.

use std::process::ExitCode;

use clap::Args;
use danlu_wire::api::{Act, ActName};

use super::{
    acting::{agreed, report},
    cascade::Cascade,
    wait,
};
use crate::{
    client::Client,
    failure::Failure,
    given::task_state,
    language::{say, text},
    selection::Selection,
};

#[derive(Debug, Args)]
#[command(
    about = text(
        "Cancel tasks; of a running one the whole process tree ends",
        "取消任务；运行中的结束其全部进程",
    ),
    override_usage = text("danlu cancel ID… [OPTIONS]", "danlu cancel 编号… [选项]"),
    after_help = text(
        "A running task gets SIGTERM, and what is left of it after the grace time (10 s) is killed.\n\n\
         Examples:\n  \
           danlu cancel 12\n  \
           danlu cancel 3-9 --yes\n  \
           danlu cancel --state queued --label sweep=a",
        "运行中的任务先收到 SIGTERM，宽限时间（10 秒）之后仍未结束的将被强制终止。\n\n\
         示例：\n  \
           danlu cancel 12\n  \
           danlu cancel 3-9 --yes\n  \
           danlu cancel --state queued --label sweep=a",
    ),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    cascade: Cascade,

    #[arg(short, long, help = text("Do not ask", "不询问"))]
    yes: bool,

    #[arg(long, help = text("Return when they have ended", "等它们结束后再返回"))]
    wait: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let selected = arguments.selection.resolve(client, &task_state::OPEN)?;
    let question = |count| say!("cancel {count} tasks?", "取消 {count} 个任务？");
    if !agreed(&selected, arguments.yes, question)? {
        return Ok(ExitCode::SUCCESS);
    }
    let cascade = arguments.cascade.agreed(client, &selected.ids, arguments.yes)?;
    let act = Act { cascade, ..Act::new(ActName::Cancel, selected.ids.clone()) };
    let done = |tasks: &str| say!("cancelled {tasks}", "已取消 {tasks}");
    let (cancelled, exit) = report(client, &act, &selected, done, arguments.json)?;
    if arguments.wait {
        wait::until_ended(client, &cancelled)?;
    }
    Ok(exit)
}
