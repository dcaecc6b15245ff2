//! `danlu wait`: return when tasks have ended, with their exit code.

use std::{collections::BTreeSet, process::ExitCode};

use clap::Args;
use danlu_messages::cli::wait as msg;
use danlu_wire::api::{Document, TaskStateName, TaskView, Tasks};

use crate::{
    client::{Client, Patience, Query},
    failure::Failure,
    given::task_state::OPEN,
    screen,
    selection::Selection,
};

#[derive(Debug, Args)]
#[command(
    about = msg::wait_until_tasks_have_ended(),
    override_usage = msg::danlu_wait_id_all_options(),
    after_help = msg::without_ids_all_of_my_tasks_that_are_not_held(),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,

    #[arg(long, help = msg::print_the_tasks_as_one_json_document())]
    json: bool,
}

/// Ids in one request: an address should not get too long.
const AT_ONCE: usize = 500;

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    // What is held does not end by itself.
    let not_held: Vec<TaskStateName> =
        OPEN.into_iter().filter(|state| *state != TaskStateName::Held).collect();
    let selected = arguments.selection.or_all().resolve(client, &not_held)?;
    let ids = if selected.may_be_missing.is_empty() {
        selected.ids
    } else {
        existing(client, &selected.ids)?
    };
    let mut tasks = until_ended(client, &ids)?;
    tasks.sort_unstable_by_key(|task| task.id);
    let code = tasks.iter().map(exit_code).find(|code| *code != 0).unwrap_or(0);
    if arguments.json {
        let total = tasks.len();
        let document = Document::new(Tasks { tasks, total, next: None });
        screen::print_document(&serde_json::to_string(&document).expect("a document of the API"))?;
    }
    Ok(ExitCode::from(code))
}

/// As they are when the last of them has ended.
pub(super) fn until_ended(client: &Client, ids: &[u64]) -> Result<Vec<TaskView>, Failure> {
    let mut ended = Vec::new();
    // All must end, so that it does not matter which are waited for first.
    for some in ids.chunks(AT_ONCE) {
        ended.extend(until_these_ended(client, some)?);
    }
    Ok(ended)
}

fn until_these_ended(client: &Client, ids: &[u64]) -> Result<Vec<TaskView>, Failure> {
    let list: Vec<String> = ids.iter().map(u64::to_string).collect();
    let path = format!("/wait?ids={}", list.join(","));
    let mut patience = Patience::default();
    loop {
        match client.get::<Document<Tasks>>(&path) {
            // The server answers now and then even if not all have ended.
            Ok(answer) => {
                patience.renew();
                if answer.content.tasks.iter().all(|task| task.state.is_over()) {
                    return Ok(answer.content.tasks);
                }
            }
            Err(problem) => patience.wait(problem)?,
        }
    }
}

/// Of a range, those that are there.
fn existing(client: &Client, ids: &[u64]) -> Result<Vec<u64>, Failure> {
    let there = client.list(&Query { oldest_first: true, ..Query::default() })?;
    let there: BTreeSet<u64> = there.iter().map(|task| task.id).collect();
    Ok(ids.iter().copied().filter(|id| there.contains(id)).collect())
}

/// As a shell would tell it.
pub(super) fn exit_code(task: &TaskView) -> u8 {
    let own = task.exit_code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0);
    match task.state {
        TaskStateName::Succeeded => 0,
        TaskStateName::TimedOut => 124,
        TaskStateName::Cancelled => 130,
        _ => own.unwrap_or(1),
    }
}
