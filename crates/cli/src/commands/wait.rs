//! `danlu wait`: return when tasks have ended, with their exit code, or when they have reached a state.

use std::{
    collections::BTreeSet,
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use danlu_wire::api::{Document, TaskStateName, TaskView, Tasks, Waited};

use crate::{
    client::{Client, Patience, Query},
    failure::Failure,
    given::{
        task_state::{ENDED, OPEN, States, parse_state},
        time_limit::parse_length,
    },
    language::{say, text},
    screen,
    selection::Selection,
};

#[derive(Debug, Args)]
#[command(
    about = text("Wait until tasks have ended or reached a state", "等待任务结束或达到某个状态"),
    override_usage = text("danlu wait [ID… | --all] [OPTIONS]", "danlu wait [编号… | --all] [选项]"),
    after_help = text(
        "Without ids: all of my tasks that are not held.\n\n\
         The exit code is 0 if all succeeded, else that of the lowest id that did not:\n\
         its own, 128+n for signal n, 124 for the time limit, 130 when cancelled, 1 when\n\
         there is none. With --until it is 0 if each task has been in one of the states, 1 if\n\
         a task has ended without that; 124 when --timeout is over.\n\n\
         Examples:\n  \
           danlu wait 12 && danlu submit -- python eval.py\n  \
           danlu wait --all\n  \
           danlu wait 12 --until running --timeout 10m",
        "不写编号：我的所有未被扣住的任务。\n\n\
         全部成功时退出码为 0，否则取编号最小的未成功者：它自己的退出码；被信号 n 终止为 128+n；\n\
         超时 124；取消 130；没有退出码则为 1。使用 --until 时：每个任务都到过其中一个状态为 0，\n\
         有任务未到过就已结束为 1；--timeout 到期为 124。\n\n\
         示例：\n  \
           danlu wait 12 && danlu submit -- python eval.py\n  \
           danlu wait --all\n  \
           danlu wait 12 --until running --timeout 10m",
    ),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    selection: Selection,

    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = states(), hide_possible_values = true, help = text(
        "Wait for one of these states instead: queued, running, paused, succeeded, …; or waiting, active, ended",
        "改为等待其中一个状态：queued、running、paused、succeeded 等；或 waiting、active、ended",
    ))]
    until: Vec<States>,

    #[arg(long, value_name = "DURATION", value_parser = parse_length, help = text(
        "Give up after this long, with exit code 124: 90s, 10m (default: never)",
        "超过该时长则放弃，退出码为 124：90s、10m（默认：一直等）",
    ))]
    timeout: Option<u64>,

    #[arg(long, help = text("Print the tasks as one JSON document", "以一个 JSON 文档输出这些任务"))]
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
struct Wish {
    /// Empty: until they have ended.
    states: Vec<TaskStateName>,
    deadline: Option<Instant>,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<ExitCode, Failure> {
    let states = arguments.until.iter().flat_map(|states| states.0.iter().copied()).collect();
    let deadline = arguments.timeout.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let wish = Wish { states, deadline };
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
        let document = Document::new(Tasks { tasks, total, next: None });
        screen::print_document(&serde_json::to_string(&document).expect("a document of the API"))?;
    }
    Ok(ExitCode::from(code))
}

/// As they are when the last of them has ended.
pub(super) fn until_ended(client: &Client, ids: &[u64]) -> Result<Vec<TaskView>, Failure> {
    Wish { states: Vec::new(), deadline: None }.wait(client, ids)
}

impl Wish {
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
    Failure::with_status(
        TIMED_OUT,
        say!("timed out: task {id} is {state}", "等待超时：任务 {id} 的状态为 {state}"),
    )
    .hint(format!("danlu why {id}"))
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
