//! A task, or an array as a whole, as one row of a table.

use super::amounts;
use super::moment::{Elapsed, Moment};
use super::page_context::Visit;
use super::{reasons, states};
use crate::read_model::ReadModel;
use danlu_core::{Task, TaskId, Time};
use danlu_messages::web::rows as msg;
use danlu_wire::api::{ArrayLine, Line, TaskStateName, TaskView};

pub(super) struct TaskRow {
    pub(super) id: u64,
    /// `412`, or `421–520`.
    pub(super) number: String,
    pub(super) name: String,
    pub(super) user: String,
    pub(super) mine: bool,
    pub(super) class: &'static str,
    pub(super) state: &'static str,
    pub(super) command: String,
    /// How many, or where they are.
    pub(super) gpus: String,
    pub(super) why: String,
    pub(super) why_at: Option<Moment>,
    pub(super) limit: Option<Limit>,
    pub(super) elapsed: Option<Elapsed>,
    pub(super) submitted: Option<Moment>,
    pub(super) ended: Option<Moment>,
    pub(super) expected: Option<Moment>,
    /// Its first task, if the row stands for an array.
    pub(super) array: Option<u64>,
    pub(super) failed: bool,
}

/// Of its time.
pub(super) struct Limit {
    pub(super) percent: u64,
    pub(super) words: String,
}

pub(super) fn row(
    line: &Line,
    model: &ReadModel,
    visit: &Visit,
    expected: Option<Time>,
) -> TaskRow {
    let Line { task, array } = line;
    let context = &visit.context;
    let state = array.as_ref().map_or(task.state, ArrayLine::state);
    let spec = model.tasks.get(&TaskId(task.id));
    let (why, why_at) = match (&task.wait, array) {
        (Some(wait), None) => reasons::reason(wait, context),
        (Some(wait), Some(array)) if array.counts.len() == 1 => reasons::reason(wait, context),
        (_, Some(array)) => (counts(array), None),
        _ => match &task.idle {
            Some(idle) => (idle.why.clone(), None),
            None => (ended(task), None),
        },
    };
    let read = |text: &Option<String>| text.as_deref().and_then(|it| Moment::read(it, context.now));
    let started = match array {
        Some(array) => read(&array.running_since),
        None => read(&task.started_at).filter(|_| !task.state.is_waiting()),
    };
    let ended_at = read(&task.ended_at).filter(|_| state.is_over());
    TaskRow {
        id: task.id,
        number: array
            .as_ref()
            .map_or_else(|| task.id.to_string(), |array| format!("{}–{}", array.first, array.last)),
        name: name(task, array.as_ref()),
        user: task.user.clone(),
        mine: task.user == visit.caller.name,
        class: states::class(state),
        state: states::word(state),
        command: command(task),
        gpus: gpus(task, array.as_ref(), spec.map(|task| &**task)),
        why,
        why_at,
        limit: started.filter(|_| !state.is_over()).and_then(|since| limit(task, since, visit)),
        elapsed: started.map(|since| Elapsed {
            since: since.at(),
            until: ended_at.map(Moment::at),
            now: context.now,
        }),
        submitted: Moment::read(&task.submitted_at, context.now),
        ended: ended_at,
        expected: expected.map(|at| Moment::new(at, context.now)),
        array: array.as_ref().map(|array| array.first),
        failed: matches!(state, TaskStateName::Failed | TaskStateName::TimedOut),
    }
}

fn name(task: &TaskView, array: Option<&ArrayLine>) -> String {
    let range = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    match (array, task.index) {
        (Some(array), _) => {
            let indices: Vec<String> = array.indices.iter().take(4).map(range).collect();
            format!("{} [{}]", task.name, indices.join(","))
        }
        (None, Some(index)) if task.grid.is_empty() => format!("{} [{index}]", task.name),
        (None, Some(_)) => {
            let values = task.grid.iter().map(|(name, value)| format!("{name}={value}"));
            format!("{} [{}]", task.name, values.collect::<Vec<_>>().join(" "))
        }
        (None, None) => task.name.clone(),
    }
}

/// As one could type it. A script that is one word of it is long: its beginning tells enough.
pub(super) fn command(task: &TaskView) -> String {
    if task.shell {
        return task.command.join(" ");
    }
    let plain = |word: &&String| {
        let harmless = |letter: char| letter.is_alphanumeric() || "-_./=:,+@%".contains(letter);
        !word.is_empty() && word.chars().all(harmless)
    };
    let quoted = |word: &String| match plain(&word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    };
    task.command.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

fn gpus(task: &TaskView, array: Option<&ArrayLine>, spec: Option<&Task>) -> String {
    if let (Some(node), None) = (&task.node, array) {
        let ids: Vec<String> = task.gpu_ids.iter().map(u32::to_string).collect();
        return if ids.is_empty() { node.clone() } else { format!("{node}: {}", ids.join(", ")) };
    }
    match spec.and_then(|task| task.spec.request.gpu_model.as_ref()) {
        Some(model) => format!("{} × {model}", task.gpus),
        None => task.gpus.to_string(),
    }
}

fn counts(array: &ArrayLine) -> String {
    let part = |(state, count): (&TaskStateName, &usize)| {
        let state = states::word(*state);
        msg::count_state(&count, &state)
    };
    array.counts.iter().map(part).collect::<Vec<_>>().join(msg::comma())
}

fn ended(task: &TaskView) -> String {
    let Some(failure) = &task.failure else { return task.why.clone().unwrap_or_default() };
    let (what, _) = states::failure(&failure.class);
    match failure.evidence.as_deref().filter(|evidence| !evidence.is_empty()) {
        Some(evidence) => msg::what_evidence(&what, &evidence),
        None => what.to_owned(),
    }
}

fn limit(task: &TaskView, since: Moment, visit: &Visit) -> Option<Limit> {
    let limit = task.time_limit?;
    let passed = visit.context.now.0.saturating_sub(since.at().0).max(0).unsigned_abs() / 1000;
    let (all, left) = (amounts::length(limit), rounded(limit.saturating_sub(passed)));
    let words = msg::limit_all_left_left(&all, &left);
    Some(Limit { percent: amounts::percent(passed, limit), words })
}

/// Seconds of days tell nothing.
fn rounded(seconds: u64) -> String {
    let unit = if seconds >= 7_200 {
        600
    } else if seconds >= 120 {
        60
    } else {
        1
    };
    amounts::length(seconds / unit * unit)
}
