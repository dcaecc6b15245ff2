//! Indexes derived from the rows, to make questions cheap. The methods of `State` keep them up to date.

use crate::model::ids::{NodeId, RunId, SpecId, TaskId, UserId};
use crate::model::resources::{Hold, Request};
use crate::model::settings::{Order, Settings};
use crate::model::shared::Shared;
use crate::model::task::{Task, TaskSpec, TaskState};
use crate::model::time::Time;
use crate::schedule;
use crate::schedule::duration_estimate::DurationHistory;
use crate::schedule::pool::Pool;
use crate::schedule::pool::demand_mix::DemandMix;
use crate::schedule::queue::{Queue, Rank};
use crate::schedule::quota::Load;
use crate::schedule::turn::balance::BalanceTurns;
use crate::schedule::turn::fair::FairTurns;
use crate::state::gpu_claims::GpuClaims;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Index {
    pub(crate) queue: Queue,
    /// Queued tasks whose time has not come, by when it does.
    pub(crate) later: BTreeSet<(Time, TaskId)>,
    /// Those of them that wait to be tried again, by when they must have failed to wait for so long.
    pub(crate) retried: BTreeSet<(Time, TaskId)>,
    /// Running and waiting load of users and projects.
    pub(crate) of_users: BTreeMap<UserId, Loads>,
    pub(crate) of_projects: BTreeMap<String, Loads>,
    /// The turn order of users …
    pub(crate) turns: BalanceTurns,
    /// … and under `fair`.
    pub(crate) fair_turns: FairTurns,
    /// Arrays with a limit of running elements.
    throttles: BTreeMap<TaskId, Throttle>,
    /// The resources that are free now.
    pub(crate) pool: Pool,
    /// The resources that would be free if every run had ended.
    pub(crate) idle_pool: Pool,
    /// What each run that has not ended holds, by its parts that have not ended.
    pub(crate) held: BTreeMap<RunId, Vec<Hold>>,
    /// Runs that have not ended, by their expected end.
    pub(crate) releases: BTreeSet<(Time, RunId)>,
    pub(crate) runs_on: BTreeMap<NodeId, BTreeSet<RunId>>,
    pub(crate) runs_of: BTreeMap<TaskId, BTreeSet<RunId>>,
    /// Unfinished tasks by the tasks they name in `after`.
    pub(crate) dependents: BTreeMap<TaskId, BTreeSet<TaskId>>,
    /// What tasks were asked to do, and how many tasks ask for it.
    pub(crate) specs: BTreeMap<SpecId, (Arc<TaskSpec>, usize)>,
    pub(crate) keys: BTreeMap<(UserId, Arc<str>), TaskId>,
    pub(crate) open_tasks: usize,
    /// Ended tasks that no unfinished one depends on, by when they ended.
    pub(crate) ended: BTreeSet<(Time, TaskId)>,
    /// Bytes of the logs of users' runs that have ended, wherever their tasks are. Wide enough for whatever nodes say.
    pub(crate) log_bytes: BTreeMap<UserId, u128>,
    /// How often each kind of request occurs.
    pub(crate) demand_mix: DemandMix,
    /// Nodes where something changes with time alone, and when the next such change is due.
    pub(crate) ripens_at: BTreeMap<NodeId, Time>,
    pub(crate) history: DurationHistory,
    /// Of removed tasks, by the nodes that have not deleted them.
    pub(crate) logs_to_drop: BTreeMap<NodeId, BTreeSet<RunId>>,
    /// Which nodes list which GPU.
    pub(crate) gpu_claims: GpuClaims,
}

/// Tasks that have not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Loads {
    pub(crate) running: Load,
    pub(crate) waiting: Load,
}

impl Loads {
    fn change(&mut self, task: &Task, change: fn(Load, Load) -> Load) {
        let load = Load::of(&task.spec.request);
        match task.state {
            TaskState::Active { .. } => self.running = change(self.running, load),
            TaskState::Held
            | TaskState::Blocked { .. }
            | TaskState::Queued { .. }
            | TaskState::Finished { .. } => self.waiting = change(self.waiting, load),
        }
    }
}

/// The elements of an array with a limit: only the first ones that may still start are in the queue. Their requests
/// are equal until one is edited; the limit applies per distinct request, so that an element that cannot run does not
/// block the others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Throttle {
    at_once: usize,
    active: usize,
    waiting: BTreeMap<Shared<Request>, BTreeSet<Rank>>,
    admitted: BTreeSet<Rank>,
}

impl Index {
    pub(crate) fn list_task(&mut self, task: &Task, tasks: &Tasks, settings: &Settings) {
        self.history.learn(task);
        self.count_in_batch(task, settings);
        self.enqueue(task, tasks, settings);
        if let Some(at) = task.ended_at() {
            if !self.dependents.contains_key(&task.id) {
                self.ended.insert((at, task.id));
            }
        } else {
            self.open_tasks += 1;
            self.of_users.entry(task.owner).or_default().change(task, Load::plus);
            if let Some(project) = &task.spec.project {
                self.of_projects.entry(project.clone()).or_default().change(task, Load::plus);
            }
            for dependency in &task.spec.after {
                self.dependents.entry(dependency.task).or_default().insert(task.id);
                if let Some(at) = ended_at(tasks, dependency.task) {
                    self.ended.remove(&(at, dependency.task));
                }
            }
        }
    }

    pub(crate) fn unlist_task(&mut self, task: &Task, tasks: &Tasks, settings: &Settings) {
        self.history.unlearn(task);
        if settings.order == Order::Auto {
            self.queue.batches_mut().uncount(task);
        }
        self.dequeue(task, tasks, settings);
        if let Some(at) = task.ended_at() {
            self.ended.remove(&(at, task.id));
        } else {
            self.open_tasks -= 1;
            subtract(&mut self.of_users, &task.owner, task);
            if let Some(project) = &task.spec.project {
                subtract(&mut self.of_projects, project, task);
            }
            for dependency in &task.spec.after {
                if let Some(waiting) = self.dependents.get_mut(&dependency.task) {
                    waiting.remove(&task.id);
                    if waiting.is_empty() {
                        self.dependents.remove(&dependency.task);
                        let ended = ended_at(tasks, dependency.task);
                        self.ended.extend(ended.map(|at| (at, dependency.task)));
                    }
                }
            }
        }
    }

    pub(crate) fn count_log(&mut self, owner: UserId, bytes: u128) {
        if bytes > 0 {
            *self.log_bytes.entry(owner).or_default() += bytes;
        }
    }

    pub(crate) fn uncount_log(&mut self, owner: UserId, bytes: u128) {
        let Some(kept) = self.log_bytes.get_mut(&owner) else { return };
        *kept -= bytes;
        if *kept == 0 {
            self.log_bytes.remove(&owner);
        }
    }

    pub(crate) fn share_spec(&mut self, task: &Task) {
        self.demand_mix.add(&task.spec.request);
        let shared = self.specs.entry(task.spec_id);
        shared.or_insert_with(|| (Arc::clone(&task.spec), 0)).1 += 1;
    }

    /// For what is still to be added.
    pub(crate) fn keep_spec(&mut self, id: SpecId, spec: &Arc<TaskSpec>) {
        self.specs.entry(id).or_insert_with(|| (Arc::clone(spec), 0)).1 += 1;
    }

    pub(crate) fn drop_spec(&mut self, id: SpecId) {
        if let Some((_, sharers)) = self.specs.get_mut(&id) {
            *sharers -= 1;
            if *sharers == 0 {
                self.specs.remove(&id);
            }
        }
    }

    pub(crate) fn unshare_spec(&mut self, id: SpecId) {
        if let Some((spec, _)) = self.specs.get(&id) {
            self.demand_mix.remove(&spec.request);
        }
        self.drop_spec(id);
    }

    /// The order has changed.
    pub(crate) fn rebuild_queue(&mut self, tasks: &Tasks, settings: &Settings) {
        self.queue = Queue::default();
        self.later.clear();
        self.retried.clear();
        self.turns = BalanceTurns::default();
        self.fair_turns = FairTurns::default();
        self.throttles.clear();
        for task in tasks.values() {
            self.count_in_batch(task, settings);
            self.enqueue(task, tasks, settings);
        }
    }

    fn count_in_batch(&mut self, task: &Task, settings: &Settings) {
        if settings.order == Order::Auto {
            self.queue.batches_mut().count(task);
        }
    }

    fn enqueue(&mut self, task: &Task, tasks: &Tasks, settings: &Settings) {
        if let Some(delay) = Delay::of(task, settings) {
            self.later.insert((delay.until, task.id));
            self.retried.extend(delay.failed_at.map(|at| (at, task.id)));
            return;
        }
        let Some((array, at_once)) = task.throttle() else {
            if task.is_due() {
                self.queue.insert(task, settings);
            }
            return;
        };
        let throttle = match task.state {
            TaskState::Queued { .. } => {
                let throttle = self.throttles.entry(array).or_default();
                let request = task.spec.request.clone();
                throttle.waiting.entry(request).or_default().insert(schedule::rank(task, settings));
                throttle
            }
            TaskState::Active { .. } => {
                let throttle = self.throttles.entry(array).or_default();
                throttle.active += 1;
                throttle
            }
            TaskState::Held | TaskState::Blocked { .. } | TaskState::Finished { .. } => return,
        };
        throttle.at_once = at_once;
        throttle.admit(&mut self.queue, tasks, settings);
    }

    fn dequeue(&mut self, task: &Task, tasks: &Tasks, settings: &Settings) {
        if let Some(delay) = Delay::of(task, settings) {
            self.later.remove(&(delay.until, task.id));
            if let Some(at) = delay.failed_at {
                self.retried.remove(&(at, task.id));
            }
            return;
        }
        let Some((array, _)) = task.throttle() else {
            if task.is_due() {
                self.queue.remove(task, settings);
            }
            return;
        };
        let Some(throttle) = self.throttles.get_mut(&array) else { return };
        match task.state {
            TaskState::Queued { .. } => {
                let rank = schedule::rank(task, settings);
                if let Some(alike) = throttle.waiting.get_mut(&task.spec.request) {
                    alike.remove(&rank);
                    if alike.is_empty() {
                        throttle.waiting.remove(&task.spec.request);
                    }
                }
                if throttle.admitted.remove(&rank) {
                    self.queue.remove(task, settings);
                }
            }
            TaskState::Active { .. } => throttle.active -= 1,
            TaskState::Held | TaskState::Blocked { .. } | TaskState::Finished { .. } => return,
        }
        throttle.admit(&mut self.queue, tasks, settings);
        if throttle.active == 0 && throttle.waiting.is_empty() {
            self.throttles.remove(&array);
        }
    }
}

/// Why a queued task is not in the queue.
struct Delay {
    until: Time,
    /// Unless it merely begins later.
    failed_at: Option<Time>,
}

impl Delay {
    fn of(task: &Task, settings: &Settings) -> Option<Delay> {
        let until = task.trail().not_before.filter(|_| task.is_queued())?;
        let begins = task.spec.begin == Some(until);
        let failed_at = (!begins).then(|| until - settings.backoff(task.trail().failures));
        Some(Delay { until, failed_at })
    }
}

fn ended_at(tasks: &Tasks, id: TaskId) -> Option<Time> {
    tasks.get(&id).and_then(|task| task.ended_at())
}

fn subtract<K: Ord>(loads: &mut BTreeMap<K, Loads>, whose: &K, task: &Task) {
    let Some(of_one) = loads.get_mut(whose) else { return };
    of_one.change(task, Load::minus);
    if *of_one == Loads::default() {
        loads.remove(whose);
    }
}

type Tasks = BTreeMap<TaskId, Arc<Task>>;

impl Throttle {
    fn admit(&mut self, queue: &mut Queue, tasks: &Tasks, settings: &Settings) {
        let room = self.at_once.saturating_sub(self.active);
        let alike = self.waiting.values();
        let wanted: BTreeSet<Rank> =
            alike.flat_map(|ranks| ranks.iter().take(room)).copied().collect();
        for rank in self.admitted.difference(&wanted) {
            queue.remove(&tasks[&rank.task], settings);
        }
        for rank in wanted.difference(&self.admitted) {
            queue.insert(&tasks[&rank.task], settings);
        }
        self.admitted = wanted;
    }
}
