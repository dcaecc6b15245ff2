//! `danlu wait`: returns when tasks have ended, with their exit code, or when they have reached a state.

use std::{
    collections::BTreeSet,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use danlu_messages::cli::wait as msg;
use danlu_wire::api::{Document, TaskStateName, TaskView, Tasks, Waited};

use crate::{
    client::{Client, Patience, Query},
    failure::Failure,
    parse::{
        task_state::{ENDED, OPEN, States, parse_state},
        time_limit::parse_length,
    },
    screen,
    selection::Selection,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_wait_id_all_options(),
    after_help = msg::help(),
)]
pub(crate) struct WaitArguments {
    #[command(flatten)]
    selection: Selection,

    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = states(), hide_possible_values = true, help = msg::until())]
    until: Vec<States>,

    #[arg(long, value_name = "DURATION", value_parser = parse_length, help = msg::timeout())]
    timeout: Option<u64>,

    #[arg(long, help = msg::print_json())]
    json: bool,
}

/// As `--state` reads them, and known to completions.
fn states() -> impl TypedValueParser<Value = States> {
    let names = TaskStateName::ALL.into_iter().map(TaskStateName::as_str);
    PossibleValuesParser::new(names.chain(["waiting", "active", "ended"]))
        .try_map(|name| parse_state(&name))
}

/// Ids in one request: an address should not get too long.
const AT_ONCE: usize = 500;
/// As `timeout` says it.
const TIMED_OUT: u8 = 124;

/// What is waited for.
struct WaitCondition {
    /// Empty: until they have ended.
    states: Vec<TaskStateName>,
    deadline: Option<Instant>,
}

pub(crate) fn run(client: &Client, arguments: &WaitArguments) -> Result<ExitCode, Failure> {
    let states = arguments.until.iter().flat_map(|states| states.0.iter().copied()).collect();
    let deadline = arguments.timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let wish = WaitCondition { states, deadline };
    // What is held does not end by itself.
    let not_held: Vec<TaskStateName> =
        OPEN.into_iter().filter(|state| *state != TaskStateName::Held).collect();
    let selected = arguments.selection.or_all().resolve(client, &not_held)?;
    let ids = if selected.may_be_missing.is_empty() {
        selected.ids
    } else {
        existing(client, &selected.ids)?
    };
    let mut tasks = wish.wait(client, &ids)?;
    tasks.sort_unstable_by_key(|task| task.id);
    let code = tasks.iter().map(|task| wish.exit_code(task)).find(|code| *code != 0).unwrap_or(0);
    if arguments.json {
        let total = tasks.len();
        let document = Document::new(Tasks {
            tasks,
            total,
            more_than_total: false,
            next: None,
            next_cursor: None,
        });
        screen::print_document(&serde_json::to_string(&document).expect("a document of the API"))?;
    }
    Ok(ExitCode::from(code))
}

/// As they are when the last of them has ended.
pub(crate) fn until_ended(client: &Client, ids: &[u64]) -> Result<Vec<TaskView>, Failure> {
    WaitCondition { states: Vec::new(), deadline: None }.wait(client, ids)
}

impl WaitCondition {
    /// Each as it was when it had been waited for.
    fn wait(&self, client: &Client, ids: &[u64]) -> Result<Vec<TaskView>, Failure> {
        let mut done = Vec::new();
        // All are waited for, so that it does not matter which come first.
        for some in ids.chunks(AT_ONCE) {
            self.wait_for_some(client, some.to_vec(), &mut done)?;
        }
        Ok(done)
    }

    fn wait_for_some(
        &self,
        client: &Client,
        mut pending: Vec<u64>,
        done: &mut Vec<TaskView>,
    ) -> Result<(), Failure> {
        let mut patience = Patience::default();
        while !pending.is_empty() {
            match client.get::<Document<Waited>>(&self.path(&pending)) {
                // The server answers now and then even if there is nothing new.
                Ok(answer) => {
                    patience.renew();
                    let Waited { tasks: Tasks { tasks, .. }, pending: left } = answer.content;
                    let waits = |task: &TaskView| match &left {
                        Some(left) => left.contains(&task.id),
                        None => !task.state.is_over(),
                    };
                    let (late, ready): (Vec<TaskView>, Vec<TaskView>) =
                        tasks.into_iter().partition(waits);
                    done.extend(ready);
                    pending = late.iter().map(|task| task.id).collect();
                    if let Some(task) = late.first().filter(|_| self.left() == Some(Duration::ZERO))
                    {
                        return Err(timed_out(task));
                    }
                }
                Err(problem) => patience.wait(problem)?,
            }
        }
        Ok(())
    }

    fn path(&self, ids: &[u64]) -> String {
        let ids: Vec<String> = ids.iter().map(u64::to_string).collect();
        let mut path = format!("/wait?ids={}", ids.join(","));
        if !self.states.is_empty() {
            let names: Vec<&str> = self.states.iter().map(|state| state.as_str()).collect();
            path += &format!("&until={}", names.join(","));
        }
        if let Some(left) = self.left() {
            path += &format!("&timeout_ms={}", left.as_millis());
        }
        path
    }

    fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    fn exit_code(&self, task: &TaskView) -> u8 {
        if self.states.is_empty() || ENDED.iter().all(|state| self.states.contains(state)) {
            return exit_code(task);
        }
        // Who has run has been queued, and may have ended before anybody looked.
        let passed = [TaskStateName::Queued, TaskStateName::Starting, TaskStateName::Running];
        let passed = task.started_at.is_some() && passed.iter().any(|it| self.states.contains(it));
        let missed = task.state.is_over() && !self.states.contains(&task.state) && !passed;
        u8::from(missed)
    }
}

fn timed_out(task: &TaskView) -> Failure {
    let (id, state) = (task.id, task.state.as_str());
    Failure::with_status(TIMED_OUT, msg::timed_out_task_id_is_state(&id, &state))
        .hint(format!("danlu why {id}"))
}

/// Of a range, those that are there.
fn existing(client: &Client, ids: &[u64]) -> Result<Vec<u64>, Failure> {
    let there = client.list(&Query { oldest_first: true, ..Query::default() })?;
    let there: BTreeSet<u64> = there.iter().map(|task| task.id).collect();
    Ok(ids.iter().copied().filter(|id| there.contains(id)).collect())
}

/// As a shell would tell it.
pub(crate) fn exit_code(task: &TaskView) -> u8 {
    let own = task.exit_code.and_then(|code| u8::try_from(code).ok()).filter(|code| *code != 0);
    match task.state {
        TaskStateName::Succeeded => 0,
        TaskStateName::TimedOut => 124,
        TaskStateName::Cancelled => 130,
        TaskStateName::Failed
        | TaskStateName::Held
        | TaskStateName::Blocked
        | TaskStateName::Queued
        | TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Unknown => own.unwrap_or(1),
    }
}
