//! `danlu move`: a task's place among its owner's tasks.

use std::process::ExitCode;

use clap::Args;
use danlu_wire::api::{Act, ActName};

use super::acting::report;
use crate::{
    client::Client,
    failure::Failure,
    given::task_ids::{TaskName, parse_one_task},
    language::{say, text},
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = text("Move a task within my queue", "调整任务在我的队列中的位置"),
    override_usage = text("danlu move ID [POSITION]", "danlu move 编号 [位置]"),
    after_help = text(
        "Examples:\n  danlu move 12        to the front of my queue\n  danlu move 12 3      behind three others",
        "示例：\n  danlu move 12        移到我的队首\n  danlu move 12 3      排在另外三个之后",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = text("The task", "任务"))]
    id: TaskName,

    #[arg(value_name = "POSITION", default_value_t = 0, hide_default_value = true, help = text(
        "How many of my tasks stay before it (0 unless told)",
        "排在它前面的任务数（默认 0）",
    ))]
    position: usize,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let selected = resolve_names(client, [arguments.id].iter())?;
    let act = Act { position: arguments.position, ..Act::new(ActName::Move, selected.ids.clone()) };
    let done = |tasks: &str| say!("moved {tasks}", "已移动 {tasks}");
    report(client, &act, &selected, done, arguments.json).map(|(_, exit)| exit)
}
