//! The full answer to "why does it wait?": binding constraints, position in the queue, and what could start now.
//!
//! Invariant: with all `constraints` lifted the task starts in the next pass, and with any single one left it does not.

use super::candidates;
use super::constraint::{Attribute, Constraint};
use super::lift::{change_spec, lift};
use crate::model::ids::TaskId;
use crate::model::resources::Request;
use crate::model::task::{Task, TaskState};
use crate::model::time::Time;
use crate::schedule::{self, TurnCursor};
use crate::state::State;
use crate::step::input::Input;
use crate::step::step;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// With more unfinished tasks than this, the other waiting tasks are not simulated.
const MOST_TASKS: usize = 1_000;
/// Tasks before it that are counted.
const MOST_AHEAD: usize = 1_000;
/// At most this many tasks are named.
const NAMED: usize = 16;
/// Numbers of GPUs and models that are tried out.
const MOST_TRIED: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Why {
    pub constraints: Vec<Constraint>,
    /// The parts of its request to drop for it to start at once if it were first in the queue.
    pub short_of: Vec<Attribute>,
    /// Whether the constraints are known to be all there are.
    pub exact: bool,
    pub place: Option<Place>,
    /// Freed GPUs are kept for it.
    pub reserved: bool,
    /// Changes that would let it start now.
    pub alternatives: Vec<Alternative>,
}

/// Its position in the queue, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub place: usize,
    pub of: usize,
}

/// Another request that could start now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alternative {
    /// So many GPUs (on each node), of the same model.
    Gpus(u32),
    /// As many GPUs of another model.
    Model(String),
    /// On shared GPUs, with this many bytes of each.
    Shared(u64),
}

/// A copy of what the answer depends on, so that it can be computed outside the engine.
#[derive(Debug, Clone)]
pub struct Scene {
    state: State,
    task: TaskId,
    now: Time,
    /// The others that wait are there too.
    whole: bool,
    place: Option<Place>,
    reserved: bool,
    learnt_memory: Option<u64>,
}

impl Scene {
    /// `None` for a task that does not wait.
    pub fn of(state: &State, id: TaskId, now: Time) -> Option<Scene> {
        let task = state.tasks.get(&id)?;
        if matches!(task.state, TaskState::Active { .. } | TaskState::Finished { .. }) {
            return None;
        }
        let open = copy(state, |other| !other.is_finished() || concerns(task, other));
        let whole = open.is_some();
        let scene = open.or_else(|| copy(state, |other| concerns(task, other)))?;
        let first = schedule::reservation(state, now).map(|(rank, _)| rank.task);
        Some(Scene {
            state: scene,
            task: id,
            now,
            whole,
            place: place(state, task, now),
            reserved: whole && first == Some(id),
            learnt_memory: crate::learnt_gpu_memory(state, task.owner, &task.spec.command),
        })
    }

    pub fn why(&self) -> Why {
        let task = &self.state.tasks[&self.task];
        let alone = self.alone(task);
        let mut constraints = self.binding(&alone, &candidates::all(&self.state, task));
        let mut exact = self.starts(&alone, &constraints);
        if !exact {
            constraints = match self.state.nodes.is_empty() {
                true => vec![Constraint::NoNodes],
                false => Vec::new(),
            };
        }
        if self.whole {
            if !self.starts(&self.state, &constraints) {
                constraints.push(self.turn());
            }
            exact = exact && self.starts(&self.state, &constraints);
            self.drop_needless(&mut constraints);
        } else if self.place.is_none_or(|place| place.place > 1) {
            constraints.push(self.turn());
            exact = false;
        }
        Why {
            short_of: self.short_of(&alone, &constraints),
            alternatives: self.alternatives(task),
            constraints,
            exact,
            place: self.place,
            reserved: self.reserved,
        }
    }

    /// As if no other task waited.
    fn alone(&self, task: &Task) -> State {
        let mut alone = copy(&self.state, |other| concerns(task, other)).unwrap_or_else(State::new);
        for after in &task.spec.after {
            if alone.tasks.get(&after.task).is_some_and(|task| task.is_queued()) {
                alone.change_task(after.task, |other| other.state = TaskState::Held);
            }
        }
        alone
    }

    /// Whether it starts in the next pass once these are lifted.
    fn starts(&self, state: &State, lifted: &[Constraint]) -> bool {
        let mut state = state.clone();
        // It is queued after what has to end before, and the others step back last.
        let last = |it: &&Constraint| match it {
            Constraint::Held
            | Constraint::InDoubt { .. }
            | Constraint::Begins { .. }
            | Constraint::RetryAt { .. }
            | Constraint::QueuePaused
            | Constraint::ArrayLimit { .. }
            | Constraint::Quota(_)
            | Constraint::Settling(_)
            | Constraint::RunEnds(_)
            | Constraint::Gpu { .. }
            | Constraint::Node { .. }
            | Constraint::KeepGpuMemory { .. }
            | Constraint::TasksPerGpu { .. }
            | Constraint::Asks(_)
            | Constraint::NoNodes => 0,
            Constraint::Dependencies { .. } => 1,
            Constraint::Turn { .. } => 2,
        };
        let mut in_order: Vec<&Constraint> = lifted.iter().collect();
        in_order.sort_by_key(last);
        for constraint in in_order {
            lift(&mut state, self.task, constraint, self.now);
        }
        step(&mut state, Input::Schedule, self.now);
        matches!(state.tasks[&self.task].state, TaskState::Active { .. })
    }

    /// A smallest part of `candidates` that lets it start, of the first ones where there is a choice (QuickXplain).
    fn binding(&self, state: &State, candidates: &[Constraint]) -> Vec<Constraint> {
        if self.starts(state, &[]) {
            return Vec::new();
        }
        self.explain(state, &[], false, candidates)
    }

    fn explain(
        &self,
        state: &State,
        lifted: &[Constraint],
        changed: bool,
        candidates: &[Constraint],
    ) -> Vec<Constraint> {
        if changed && self.starts(state, lifted) {
            return Vec::new();
        }
        if candidates.len() <= 1 {
            return candidates.to_vec();
        }
        let (first, second) = candidates.split_at(candidates.len() / 2);
        let of_second = self.explain(state, &together(lifted, first), true, second);
        let with_second = together(lifted, &of_second);
        let of_first = self.explain(state, &with_second, !of_second.is_empty(), first);
        together(&of_first, &of_second)
    }

    /// What is not needed with all the others is left out: lifting one thing may be in the way of another.
    fn drop_needless(&self, constraints: &mut Vec<Constraint>) {
        if !self.starts(&self.state, constraints) {
            return;
        }
        let mut at = 0;
        while at < constraints.len() {
            let mut fewer = constraints.clone();
            fewer.remove(at);
            if self.starts(&self.state, &fewer) {
                *constraints = fewer;
                at = 0;
            } else {
                at += 1;
            }
        }
    }

    fn turn(&self) -> Constraint {
        let waiting = || self.state.tasks.values().filter(|task| task.is_queued());
        let (tasks, _) = tasks_ahead(&self.state, &self.state.tasks[&self.task], self.now);
        let all = waiting().count().saturating_sub(1);
        let ahead = self.place.map_or(all, |place| place.place - 1);
        Constraint::Turn { ahead, tasks: tasks.into_iter().take(NAMED).collect() }
    }

    fn short_of(&self, alone: &State, constraints: &[Constraint]) -> Vec<Attribute> {
        let mut state = alone.clone();
        for constraint in constraints.iter().filter(|it| !it.is_about_resources()) {
            lift(&mut state, self.task, constraint, self.now);
        }
        let request = &state.tasks[&self.task].spec.request;
        let attributes = candidates::attributes(&state, request);
        let asked: Vec<Constraint> = attributes.into_iter().map(Constraint::Asks).collect();
        let binding = self.binding(&state, &asked);
        if !self.starts(&state, &binding) {
            return Vec::new();
        }
        let attribute = |it| if let Constraint::Asks(it) = it { Some(it) } else { None };
        binding.into_iter().filter_map(attribute).collect()
    }

    fn alternatives(&self, task: &Task) -> Vec<Alternative> {
        let request = &task.spec.request;
        if !task.is_queued() || request.gpus == 0 {
            return Vec::new();
        }
        let fewer = self.fewer_gpus(request).map(Alternative::Gpus);
        let models = self
            .other_models(request)
            .into_iter()
            .filter(|model| self.starts_asking(|request| request.gpu_model = Some(model.clone())));
        let shared = self.learnt_memory.filter(|bytes| {
            !request.is_shared()
                && self.starts_asking(|request| {
                    request.sharing =
                        crate::model::resources::Sharing::Shared { idle_utilization: 0 };
                    request.gpu_memory = *bytes;
                })
        });
        let models: Vec<Alternative> = models.take(2).map(Alternative::Model).collect();
        fewer.into_iter().chain(models).chain(shared.map(Alternative::Shared)).collect()
    }

    /// The most GPUs that it could have now.
    fn fewer_gpus(&self, request: &Request) -> Option<u32> {
        let each = request.gpus_per_node();
        let pinned = u32::try_from(request.gpu_ids.len()).unwrap_or(u32::MAX);
        let mut fewer = (pinned.max(1)..each).rev().take(MOST_TRIED);
        fewer.find(|gpus| self.starts_asking(|request| request.gpus = gpus * request.nodes.max(1)))
    }

    fn other_models(&self, request: &Request) -> Vec<String> {
        if request.gpu_model.is_none() {
            return Vec::new();
        }
        let gpus = self.state.nodes.values().flat_map(|node| &node.gpus);
        let others = gpus.filter(|gpu| !gpu.is_called(request));
        let mut models: Vec<String> = others.map(|gpu| gpu.model.clone()).collect();
        models.sort_unstable();
        models.dedup();
        models.truncate(MOST_TRIED);
        models
    }

    fn starts_asking(&self, change: impl FnOnce(&mut Request)) -> bool {
        if !self.whole {
            return false;
        }
        let mut state = self.state.clone();
        change_spec(&mut state, self.task, |spec| change(&mut spec.request));
        self.starts(&state, &[])
    }
}

impl Constraint {
    /// Whether it is about what there is on nodes, and not about the task or the line.
    fn is_about_resources(&self) -> bool {
        match self {
            Constraint::Settling(_)
            | Constraint::RunEnds(_)
            | Constraint::Gpu { .. }
            | Constraint::Node { .. }
            | Constraint::KeepGpuMemory { .. }
            | Constraint::TasksPerGpu { .. }
            | Constraint::Asks(_)
            | Constraint::NoNodes => true,
            Constraint::Held
            | Constraint::InDoubt { .. }
            | Constraint::Dependencies { .. }
            | Constraint::Begins { .. }
            | Constraint::RetryAt { .. }
            | Constraint::QueuePaused
            | Constraint::ArrayLimit { .. }
            | Constraint::Quota(_)
            | Constraint::Turn { .. } => false,
        }
    }
}

fn together(some: &[Constraint], others: &[Constraint]) -> Vec<Constraint> {
    some.iter().chain(others).cloned().collect()
}

/// The task itself, or one that it names.
fn concerns(task: &Task, other: &Task) -> bool {
    other.id == task.id || task.spec.after.iter().any(|after| after.task == other.id)
}

/// What runs, and of the other tasks those that are wanted; `None` with too many of them.
pub(crate) fn copy(state: &State, wanted: impl Fn(&Task) -> bool) -> Option<State> {
    let mut copy = State { ledger: state.ledger.clone(), ..State::new() };
    // They come later than what is looked at.
    copy.ledger.growing.clear();
    state.users.values().for_each(|user| copy.insert_user(user.clone()));
    state.nodes.values().for_each(|node| copy.insert_node(crate::state::stored(node)));
    let active = |task: &Task| matches!(task.state, TaskState::Active { .. });
    for task in state.tasks.values().filter(|task| active(task) || wanted(task)) {
        copy.insert_task(Arc::clone(task));
        if copy.tasks.len() > MOST_TASKS {
            return None;
        }
    }
    state.active_runs().for_each(|run| copy.insert_run(Arc::clone(&state.runs[&run.id])));
    // Statistics of all tasks, including those that are not copied.
    copy.index.demand_mix.clone_from(&state.index.demand_mix);
    copy.index.history.clone_from(&state.index.history);
    Some(copy)
}

fn place(state: &State, task: &Task, now: Time) -> Option<Place> {
    if !state.queue().contains(task, state.settings()) {
        return None;
    }
    let (ahead, found) = tasks_ahead(state, task, now);
    found.then(|| Place { place: ahead.len() + 1, of: state.queue().len() })
}

/// Those whose turn comes before, as if everything could start, and whether its own turn comes then: not with too many
/// before it, nor if its owner has had their share.
fn tasks_ahead(state: &State, task: &Task, now: Time) -> (Vec<TaskId>, bool) {
    let mut cursor = TurnCursor::new(state, now);
    let mut ahead = Vec::new();
    while let Some(lane) = cursor.first() {
        let Some(rank) = cursor.next_in(lane) else {
            cursor.close(lane);
            continue;
        };
        if rank.task == task.id {
            return (ahead, true);
        }
        if ahead.len() >= MOST_AHEAD {
            break;
        }
        ahead.push(rank.task);
        cursor.start(lane, rank);
    }
    (ahead, false)
}
