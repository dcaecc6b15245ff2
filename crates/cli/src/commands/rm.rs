//! `danlu rm`: tasks are removed with all that is kept of them.

use std::process::ExitCode;

use clap::Args;
use danlu_wire::api::{Act, ActName, Acted, Document};

use super::{
    acting::{agreed, report},
    cascade::Cascade,
    wait,
};
use crate::{
    client::{Client, read},
    failure::Failure,
    given::task_state,
    language::{say, text},
    selection::Selection,
};

#[derive(Debug, Args)]
#[command(
    about = text("Remove tasks; a running one is cancelled first", "删除任务；运行中的先取消"),
    override_usage = text("danlu rm ID… [OPTIONS]", "danlu rm 编号… [选项]"),
    after_help = text(
        "Examples:\n  danlu rm 12\n  danlu rm --state succeeded --yes\n\nTheir logs are deleted on every machine, on one that is away as soon as it is back. Files named with --output stay.",
        "示例：\n  danlu rm 12\n  danlu rm --state succeeded --yes\n\n所有机器上的任务日志一并删除；离线的机器恢复连接后删除。--output 指定的文件保留。",
    ),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    cascade: Cascade,

    #[arg(short, long, help = text("Do not ask", "不询问"))]
    yes: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let selected = arguments.selection.resolve(client, &task_state::ENDED)?;
    let question = |count| say!("remove {count} tasks?", "删除 {count} 个任务？");
    if !agreed(&selected, arguments.yes, question)? {
        return Ok(ExitCode::SUCCESS);
    }
    let cascade = arguments.cascade.agreed(client, &selected.ids, arguments.yes)?;
    end_those_that_run(client, &selected.ids, cascade)?;
    let act = Act::new(ActName::Remove, selected.ids.clone());
    let done = |tasks: &str| say!("removed {tasks}", "已删除 {tasks}");
    report(client, &act, &selected, done, arguments.json).map(|(_, exit)| exit)
}

/// Only what has ended can be removed. What had ended before is refused here, and that is fine.
fn end_those_that_run(client: &Client, ids: &[u64], cascade: bool) -> Result<(), Failure> {
    let act = Act { cascade, ..Act::new(ActName::Cancel, ids.to_vec()) };
    let acted: Document<Acted> = read(&client.send("POST", "/tasks/act", &act)?)?;
    let cancelled = acted.content.results.into_iter().filter(|result| result.error.is_none());
    let cancelled: Vec<u64> = cancelled.map(|result| result.id).collect();
    wait::until_ended(client, &cancelled).map(drop)
}
