//! A new task: accepted for good, or refused with the reason. Never accepted and dropped.

use crate::event::Event;
use crate::ids::{SpecId, TaskId, UserId};
use crate::input::Actor;
use crate::limits;
use crate::mutant::{Mutant, mutated};
use crate::pool::Pool;
use crate::refusal::Refusal;
use crate::resources::Request;
use crate::state::State;
use crate::step::{Answer, Reply, Turn};
use crate::steps::dependencies;
use crate::steps::permission::own_task;
use crate::steps::tasks::wrong_state;
use crate::task::{ArrayElement, Task, TaskSpec, TaskState};
use crate::time::Span;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) fn submit(
    turn: &mut Turn<'_>,
    by: UserId,
    spec: TaskSpec,
    key: Option<String>,
) -> Answer {
    let state = &mut *turn.state;
    if !state.users.contains_key(&by) {
        return Err(Refusal::NoSuchUser);
    }
    if let Some(task) = submitted_before(state, by, key.as_ref()) {
        let same = task.edited || *task.spec == spec;
        return if same { Ok(Reply::Task(task.id)) } else { Err(Refusal::KeyReused) };
    }
    check(state, &spec, key.as_ref())?;
    check_array(state, &spec)?;
    let first = state.ledger.next_task;
    let spec = turn.state.new_spec(spec);
    match &spec.1.array {
        None => add(turn, by, &spec, key, None),
        Some(array) => {
            // The first carries the key: it stands for all of them.
            let mut key = key;
            for &index in &array.indices {
                let element = ArrayElement { first, index };
                add(turn, by, &spec, key.take(), Some(element));
            }
        }
    }
    Ok(Reply::Task(first))
}

fn add(
    turn: &mut Turn<'_>,
    owner: UserId,
    (spec_id, spec): &(SpecId, Arc<TaskSpec>),
    key: Option<String>,
    array: Option<ArrayElement>,
) {
    let id = turn.state.ledger.next_task;
    turn.state.ledger.next_task = TaskId(id.0 + 1);
    let hold = spec.hold;
    turn.state.insert_task(Task {
        id,
        owner,
        spec: Arc::clone(spec),
        spec_id: *spec_id,
        submitted_at: turn.now,
        key,
        edited: false,
        array,
        place: id.0,
        state: TaskState::Held,
        attempts: 0,
        failures: 0,
        losses: 0,
        attained: Span::ZERO,
        progress: Span::ZERO,
        restart_cost: Span::ZERO,
        last_run: None,
    });
    turn.event(Event::TaskSubmitted { task: id, spec: *spec_id });
    if !hold {
        dependencies::settle(turn, id);
    }
}

/// A waiting task gets another description, and its dependencies are looked at again.
pub(crate) fn edit(turn: &mut Turn<'_>, by: Actor, id: TaskId, spec: TaskSpec) -> Answer {
    let task = own_task(turn.state, by, id)?;
    if matches!(task.state, TaskState::Active { .. } | TaskState::Finished { .. }) {
        return Err(wrong_state(task, "waiting", "edited"));
    }
    if task.spec.array != spec.array {
        return Err(Refusal::BadArray);
    }
    check(turn.state, &spec, None)?;
    if spec.after.iter().any(|after| waits_for(turn.state, after.task, id)) {
        return Err(Refusal::Circle(id));
    }
    let (held, was) = (task.state == TaskState::Held, task.spec_id);
    let (spec_id, spec) = turn.state.new_spec(spec);
    turn.state.change_task(id, |task| {
        task.spec = spec;
        task.spec_id = spec_id;
        task.edited = true;
        // Out of the queue and off its old dependencies, until they are settled anew.
        task.state = TaskState::Held;
    });
    turn.event(Event::TaskEdited { task: id, spec: spec_id, was });
    if !held {
        dependencies::settle(turn, id);
    }
    Ok(Reply::Done)
}

/// Whether `task` waits for `other`, or is it, over any number of steps. Finished tasks count too: they may be
/// run again.
fn waits_for(state: &State, task: TaskId, other: TaskId) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![task];
    while let Some(id) = next.pop() {
        if id == other {
            return true;
        }
        if seen.insert(id) {
            let after = state.tasks.get(&id).into_iter().flat_map(|task| &task.spec.after);
            next.extend(after.map(|dependency| dependency.task));
        }
    }
    false
}

fn check_array(state: &State, spec: &TaskSpec) -> Result<(), Refusal> {
    let Some(array) = &spec.array else { return Ok(()) };
    at_most("tasks in an array", array.indices.len(), limits::TASKS_PER_ARRAY)?;
    at_most("open tasks", state.index.open_tasks + array.indices.len(), limits::OPEN_TASKS)?;
    let distinct: BTreeSet<u32> = array.indices.iter().copied().collect();
    let sound = !distinct.is_empty() && distinct.len() == array.indices.len();
    if sound && array.at_once != Some(0) { Ok(()) } else { Err(Refusal::BadArray) }
}

fn submitted_before<'a>(state: &'a State, by: UserId, key: Option<&String>) -> Option<&'a Task> {
    let key = key.filter(|_| !mutated(Mutant::KeyIgnored))?;
    let id = state.index.keys.get(&(by, key.clone()))?;
    state.tasks.get(id)
}

fn check(state: &State, spec: &TaskSpec, key: Option<&String>) -> Result<(), Refusal> {
    at_most("open tasks", state.index.open_tasks + 1, limits::OPEN_TASKS)?;
    let command_bytes = spec.command.iter().map(|word| word.len() + 1).sum();
    at_most("bytes in a command", command_bytes, limits::COMMAND_BYTES)?;
    at_most("bytes in a name", spec.name.len(), limits::NAME_BYTES)?;
    at_most("bytes in a description", spec.description.len(), limits::DESCRIPTION_BYTES)?;
    at_most("labels", spec.labels.len(), limits::LABELS)?;
    at_most("bytes in a key", key.map_or(0, String::len), limits::NAME_BYTES)?;
    at_most("dependencies", spec.after.len(), limits::DEPENDENCIES_PER_TASK)?;
    at_most("retries", spec.retries as usize, limits::RETRIES as usize)?;
    at_most("GPUs", spec.request.gpus as usize, limits::GPUS_PER_TASK as usize)?;
    if spec.command.is_empty() {
        return Err(Refusal::EmptyCommand);
    }
    let missing = spec.after.iter().find(|after| !state.tasks.contains_key(&after.task));
    if let Some(after) = missing {
        return Err(Refusal::NoSuchTask(after.task));
    }
    check_possible(state, &spec.request)
}

fn at_most(what: &'static str, count: usize, limit: usize) -> Result<(), Refusal> {
    if count > limit { Err(Refusal::TooMany { what, limit }) } else { Ok(()) }
}

/// Refuse what no known node could ever run, whatever its state is now. While some node has
/// never reported what it has, everything may be possible.
fn check_possible(state: &State, request: &Request) -> Result<(), Refusal> {
    let rule = state.settings().placement;
    let fits = |pool: &Pool| pool.place(request, rule, &state.nodes).is_some();
    let unknown =
        state.nodes.is_empty() || state.nodes.values().any(|node| node.capacity.is_none());
    if unknown || fits(state.idle_pool()) {
        return Ok(());
    }
    if fits(&Pool::of_whole_nodes(state.nodes.values())) {
        return Ok(());
    }
    let total: usize = state.nodes.values().map(|node| node.gpus.len()).sum();
    let largest = state.nodes.values().map(|node| node.gpus.len()).max().unwrap_or(0);
    Err(Refusal::Impossible {
        wanted: describe(request),
        most: format!("{largest} GPUs on one node, {total} in all"),
    })
}

fn describe(request: &Request) -> String {
    let mut words = vec![format!("{} GPUs", request.gpus)];
    words.extend(request.gpu_model.as_ref().map(|model| format!("of model {model}")));
    if request.gpu_memory > 0 {
        words.push(format!("with {} bytes each", request.gpu_memory));
    }
    if request.cpus > 0 {
        words.push(format!("with {} CPUs", request.cpus));
    }
    if request.memory > 0 {
        words.push(format!("with {} bytes of memory", request.memory));
    }
    if !request.span_nodes {
        words.push("on one node".to_string());
    }
    words.join(" ")
}
