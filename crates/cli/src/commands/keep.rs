//! `danlu keep`: keeps the GPUs of a task for some time although it does not use them.

use std::process::ExitCode;

use clap::Args;
use danlu_messages::cli::keep as msg;
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
    override_usage = msg::danlu_keep_id_time(),
    after_help = msg::help(),
)]
pub(crate) struct KeepArguments {
    #[arg(value_name = "ID… [TIME]", required = true, num_args = 1.., help = msg::tasks_and_time())]
    words: Vec<String>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

/// Without a time.
const USUAL: &str = "2h";

pub(crate) fn run(client: &Client, arguments: &KeepArguments) -> Result<ExitCode, Failure> {
    let wrong = |complaint: String| Failure::new(Exit::Usage, complaint).hint("danlu keep 12 2h");
    let (ids, time) = ids_and_time(&arguments.words);
    let names: Result<Vec<TaskName>, String> = ids.iter().map(|id| parse_task_name(id)).collect();
    let selected = resolve_names(client, names.map_err(wrong)?.iter())?;
    let more = parse_time_limit(time).map_err(wrong)?.seconds();
    let more = more.ok_or_else(|| wrong(msg::none_is_no_duration().to_owned()))?;
    let act = Act { more, ..Act::new(ActName::Keep, selected.ids.clone()) };
    let done = |tasks: &str| msg::tasks_kept(&tasks, &time);
    report(client, &act, &selected, done, arguments.json).map(|(_, exit)| exit)
}

/// A bare number is a task: a time has a unit.
fn ids_and_time(words: &[String]) -> (&[String], &str) {
    match words.split_last() {
        Some((time, ids)) if !ids.is_empty() && parse_task_name(time).is_err() => (ids, time),
        _ => (words, USUAL),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, ids: usize, time: &str) {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let (found, given) = ids_and_time(&words);
        assert_eq!((found.len(), given), (ids, time), "{words:?}");
    }

    #[test]
    fn the_last_word_may_be_a_time() {
        check("12", 1, "2h");
        check("12 13", 2, "2h");
        check("12 8h", 1, "8h");
        check("3-9 12 30m", 2, "30m");
    }
}
