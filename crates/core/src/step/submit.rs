//! `Submit` and `Edit`: a task is accepted durably, or refused with the reason.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{SpecId, TaskId, UserId};
use crate::model::limits;
use crate::model::task::{ArrayElement, DEFAULT_PRIORITY, Outcome, Task, TaskSpec, TaskState};
use crate::model::time::{Span, Time};
use crate::model::trail::Trail;
use crate::schedule::quota;
use crate::state::State;
use crate::step::dependencies::{self, DependencyVerdict};
use crate::step::event::Event;
use crate::step::feasibility;
use crate::step::growth;
use crate::step::input::Actor;
use crate::step::permission::{own_task, require_admin};
use crate::step::refusal::{Counted, Refusal, TaskAct, TextField};
use crate::step::tasks::wrong_state;
use crate::step::validate::{self, at_most};
use crate::step::{Answer, Reply, Turn};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(crate) fn submit(
    turn: &mut Turn<'_>,
    by: UserId,
    spec: TaskSpec,
    key: Option<String>,
) -> Answer {
    let state = &mut *turn.state;
    if !state.users.get(&by).ok_or(Refusal::NoSuchUser)?.is_active() {
        return Err(Refusal::Locked);
    }
    if let Some(task) = submitted_before(state, by, key.as_ref()) {
        let same = task.edited || *task.spec == spec;
        return if same { Ok(Reply::Task(task.id)) } else { Err(Refusal::KeyReused) };
    }
    check_new(state, by, &spec, key.as_ref(), turn.now)?;
    let first = state.ledger.next_task;
    let key = key.map(Arc::from);
    if spec.array.is_some() {
        growth::begin(turn, by, spec, key);
    } else {
        let (spec_id, spec) = turn.state.new_spec(spec);
        turn.state.ledger.next_task = TaskId(first.0 + 1);
        turn.event(Event::TaskSubmitted { task: first, spec: spec_id });
        let new = NewTasks::alike(turn.state, by, (spec_id, &spec), turn.now, turn.now);
        new.add(turn, first, key, None);
    }
    Ok(Reply::Task(first))
}

/// Tasks that differ in their ids only: what they have in common is decided once.
pub(crate) struct NewTasks {
    model: Task,
    /// They can never run: their predecessor has ended otherwise.
    fail: Option<Outcome>,
}

impl NewTasks {
    pub(crate) fn alike(
        state: &State,
        owner: UserId,
        (spec_id, spec): (SpecId, &Arc<TaskSpec>),
        submitted_at: Time,
        now: Time,
    ) -> NewTasks {
        let mut model = Task { spec_id, submitted_at, ..new_task(state, owner, spec, now) };
        let mut fail = None;
        if !spec.hold {
            match dependencies::verdict(state, &spec.after) {
                DependencyVerdict::Wait { on } => model.state = TaskState::Blocked { on },
                DependencyVerdict::Queue => {
                    model.predicted = state.predict(&model);
                    model.state = TaskState::Queued { since: now };
                }
                DependencyVerdict::Fail { on } => fail = Some(Outcome::DependencyFailed { on }),
            }
        }
        NewTasks { model, fail }
    }

    pub(crate) fn add(
        &self,
        turn: &mut Turn<'_>,
        id: TaskId,
        key: Option<Arc<str>>,
        array: Option<ArrayElement>,
    ) {
        let task = Task { id, key, array, place: id.0, ..self.model.clone() };
        let predicts = task.is_queued() && turn.state.settings().predictions;
        turn.state.insert_task(Arc::new(task));
        if predicts {
            turn.state.predict_start(id, turn.now);
        }
        if let Some(outcome) = &self.fail {
            dependencies::finish(turn, id, outcome.clone());
        }
    }
}

/// The task as it would be created now.
pub(crate) fn new_task(state: &State, owner: UserId, spec: &Arc<TaskSpec>, now: Time) -> Task {
    let id = state.ledger.next_task;
    let not_before = spec.begin.filter(|begin| *begin > now);
    Task {
        id,
        owner,
        spec: Arc::clone(spec),
        spec_id: state.ledger.next_spec,
        submitted_at: now,
        key: None,
        edited: false,
        array: None,
        place: id.0,
        own_claims: require_admin(state, Actor::User(owner)).is_err(),
        state: TaskState::Held,
        predicted: None,
        trail: Trail { not_before, ..Trail::default() }.kept(),
    }
}

/// A waiting task gets another description, and its dependencies are looked at again.
pub(crate) fn edit(turn: &mut Turn<'_>, by: Actor, id: TaskId, spec: TaskSpec) -> Answer {
    let task = own_task(turn.state, by, id)?;
    if matches!(task.state, TaskState::Active { .. } | TaskState::Finished { .. }) {
        return Err(wrong_state(task, TaskAct::Edit));
    }
    if task.spec.array != spec.array {
        return Err(Refusal::BadArray);
    }
    check_rank(turn.state, by, &spec, &task.spec)?;
    check(turn.state, &spec, None)?;
    if spec.after.iter().any(|after| waits_for(turn.state, after.task, id)) {
        return Err(Refusal::Circle(id));
    }
    let (held, was) = (task.state == TaskState::Held, task.spec_id);
    // A new beginning takes the place of any other wait.
    let begins = (task.spec.begin != spec.begin).then_some(spec.begin);
    let now = turn.now;
    let claims = claims_after_edit(turn.state, by, task, &spec);
    let limit_before = task.spec.time_limit;
    let (spec_id, spec) = turn.state.new_spec(spec);
    turn.state.change_task(id, |task| {
        task.spec = spec;
        task.spec_id = spec_id;
        task.edited = true;
        if task.spec.time_limit != limit_before {
            task.trail_mut().extra_time = Span::ZERO;
        }
        if let Some(begin) = begins {
            task.trail_mut().not_before = begin.filter(|begin| *begin > now);
        }
        task.own_claims = claims;
        // Out of the queue and off its old dependencies, until they are settled anew.
        task.state = TaskState::Held;
    });
    turn.event(Event::TaskEdited { task: id, spec: spec_id, was });
    if !held {
        dependencies::settle(turn, id);
    }
    Ok(Reply::Done)
}

/// An admin who gives a task an earlier place means it; what its owner has claimed stays a claim.
fn claims_after_edit(state: &State, by: Actor, task: &Task, spec: &TaskSpec) -> bool {
    let same = (spec.urgent, spec.priority) == (task.spec.urgent, task.spec.priority);
    let admin = require_admin(state, by).is_ok();
    if same || !goes_before(spec, &task.spec) { task.own_claims } else { !admin }
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

/// Checks whether a new task would be accepted.
pub(crate) fn check_new(
    state: &State,
    by: UserId,
    spec: &TaskSpec,
    key: Option<&String>,
    now: Time,
) -> Result<(), Refusal> {
    check_rank(state, Actor::User(by), spec, &TaskSpec::default())?;
    check(state, spec, key)?;
    check_array(state, spec)?;
    check_quota(state, by, spec, now)
}

/// Refuses a task that is over quota and may not wait, or would wait for ever.
fn check_quota(state: &State, owner: UserId, spec: &TaskSpec, now: Time) -> Result<(), Refusal> {
    let count = spec.array.as_ref().map_or(1, |array| array.indices.len());
    quota::admit(state, owner, spec, count, now)
}

fn check_array(state: &State, spec: &TaskSpec) -> Result<(), Refusal> {
    let Some(array) = &spec.array else { return Ok(()) };
    validate::check_array(array)?;
    at_most(Counted::OpenTasks, state.open_tasks() + array.indices.len(), limits::OPEN_TASKS)
}

fn submitted_before<'a>(state: &'a State, by: UserId, key: Option<&String>) -> Option<&'a Task> {
    let key = key.filter(|_| !mutated(Mutant::KeyIgnored))?;
    let id = state.index.keys.get(&(by, Arc::from(key.as_str())))?;
    state.tasks.get(id).map(Arc::as_ref)
}

fn check(state: &State, spec: &TaskSpec, key: Option<&String>) -> Result<(), Refusal> {
    at_most(Counted::OpenTasks, state.open_tasks() + 1, limits::OPEN_TASKS)?;
    validate::check(spec)?;
    if let Some(key) = key {
        validate::check_text(TextField::Key, key)?;
    }
    at_most(Counted::Dependencies, spec.after.len(), limits::DEPENDENCIES_PER_TASK)?;
    let missing = spec.after.iter().find(|after| !state.tasks.contains_key(&after.task));
    if let Some(after) = missing {
        return Err(Refusal::NoSuchTask(after.task));
    }
    feasibility::check(state, &spec.request)
}

/// In orders with one lane, an earlier place is before all users' tasks: only administrators may grant it. Where
/// users take turns, it counts among the owner's tasks only.
fn check_rank(state: &State, by: Actor, spec: &TaskSpec, before: &TaskSpec) -> Result<(), Refusal> {
    let free = state.settings().order.is_by_user() || require_admin(state, by).is_ok();
    if !free && goes_before(spec, before) {
        return Err(Refusal::PassesEverybody);
    }
    Ok(())
}

/// Whether it claims an earlier place than before, and than the default.
fn goes_before(spec: &TaskSpec, before: &TaskSpec) -> bool {
    let earlier = spec.priority < before.priority.min(DEFAULT_PRIORITY);
    earlier || spec.urgent && !before.urgent
}
