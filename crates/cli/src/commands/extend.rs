//! `danlu extend`: more time for a task with a limit, also while it runs.

use std::process::ExitCode;

use clap::Args;
use danlu_wire::api::{Act, ActName};

use super::acting::report;
use crate::{
    client::Client,
    failure::{Exit, Failure},
    given::{
        task_ids::{TaskName, parse_task_name},
        time_limit::parse_time_limit,
    },
    language::{say, text},
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = text("More time for a task with a limit, also while it runs", "延长任务的时限，运行中也可以"),
    override_usage = text("danlu extend ID… TIME", "danlu extend 编号… 时间"),
    after_help = text(
        "The time is added to the limit. Owners may add as much as the setting max_extension says, admins any.\n\n\
         Examples:\n  danlu extend 12 2h\n  danlu extend 3-9 30m",
        "时间加到原有时限上。所有者最多可加设置 max_extension 所定的时间，管理员不限。\n\n\
         示例：\n  danlu extend 12 2h\n  danlu extend 3-9 30m",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID… TIME", required = true, num_args = 2.., help = text(
        "The tasks, and how much longer: 30m, 2h, 1-00:00:00",
        "任务，以及延长的时间：30m、2h、1-00:00:00",
    ))]
    words: Vec<String>,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let wrong = |complaint: String| Failure::new(Exit::Usage, complaint).hint("danlu extend 12 2h");
    let (time, ids) = arguments.words.split_last().ok_or_else(|| wrong(String::new()))?;
    let names: Result<Vec<TaskName>, String> = ids.iter().map(|id| parse_task_name(id)).collect();
    let selected = resolve_names(client, names.map_err(wrong)?.iter())?;
    let more = parse_time_limit(time).map_err(wrong)?.seconds();
    let more = more.ok_or_else(|| {
        wrong(
            text("how much longer? `none` is no length of time", "延长多久？`none` 不是时间")
                .to_owned(),
        )
    })?;
    let act = Act { more, ..Act::new(ActName::Extend, selected.ids.clone()) };
    let done = |tasks: &str| say!("{tasks}: {time} longer", "{tasks}：已延长 {time}");
    report(client, &act, &selected, done, arguments.json).map(|(_, exit)| exit)
}
