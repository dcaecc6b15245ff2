//! `danlu extend`: extends the time limit of a task, also while it runs.

use std::process::ExitCode;

use clap::Args;
use danlu_messages::cli::extend as msg;
use danlu_wire::api::{Act, ActName};

use super::task_action::report;
use crate::{
    client::Client,
    failure::{Exit, Failure},
    parse::{
        task_ids::{TaskName, parse_task_name},
        time_limit::parse_time_limit,
    },
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_extend_id_time(),
    after_help = msg::help(),
)]
pub(crate) struct ExtendArguments {
    #[arg(value_name = "ID… TIME", required = true, num_args = 2.., help = msg::tasks_and_time())]
    words: Vec<String>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &ExtendArguments) -> Result<ExitCode, Failure> {
    let wrong = |complaint: String| Failure::new(Exit::Usage, complaint).hint("danlu extend 12 2h");
    let (time, ids) = arguments.words.split_last().ok_or_else(|| wrong(String::new()))?;
    let names: Result<Vec<TaskName>, String> = ids.iter().map(|id| parse_task_name(id)).collect();
    let selected = resolve_names(client, names.map_err(wrong)?.iter())?;
    let more = parse_time_limit(time).map_err(wrong)?.seconds();
    let more = more.ok_or_else(|| wrong(msg::none_is_no_duration().to_owned()))?;
    let act = Act { more, ..Act::new(ActName::Extend, selected.ids.clone()) };
    let done = |tasks: &str| msg::tasks_time_longer(&tasks, &time);
    report(client, &act, &selected, done, arguments.json).map(|(_, exit)| exit)
}
