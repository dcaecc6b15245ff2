//! All rows, and the indexes derived from them.
//!
//! The maps are the truth and what a store keeps; `Index` is derived from them. Only the methods here and in the
//! submodules (`users.rs` for users) change a row, and each keeps the index up to date.

mod follow;
pub(crate) mod gpu_claims;
mod gpus;
pub mod growing;
pub(crate) mod index;
mod invariants;
mod logs;
mod retired;
pub mod rows;
mod shared_parts;
mod users;

pub use self::follow::{Changes, TaskChange};
use self::gpus::hold;
use self::growing::SLICE;
pub use self::retired::Retired;
use crate::explain::accuracy::StartPrediction;
use crate::explain::forecast;
use crate::model::gpu::GpuRule;
use crate::model::ids::{GpuId, NodeId, RunId, SpecId, TaskId, UserId};
use crate::model::node::{Link, Node, UnknownRun};
use crate::model::past_work::PastWork;
use crate::model::resources::{Claim, GpuMask, Hold, Part};
use crate::model::run::{LogRemoval, PartState, Run, RunPart, RunUsage};
use crate::model::settings::{Order, Settings};
use crate::model::task::{Task, TaskSpec};
use crate::model::time::{Span, Time};
use crate::model::user::User;
use crate::schedule;
use crate::schedule::pool::{Ground, Pool, Thresholds};
use crate::schedule::queue::Queue;
use crate::state::index::Index;
use crate::state::rows::{Ledger, Row, RowKey};
use crate::state::shared_parts::SharedParts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    pub ledger: Ledger,
    pub users: BTreeMap<UserId, User>,
    pub nodes: BTreeMap<NodeId, Node>,
    /// Shared with readers: a change makes a copy while they look at the old one.
    pub tasks: BTreeMap<TaskId, Arc<Task>>,
    pub runs: BTreeMap<RunId, Arc<Run>>,
    /// Of tasks that were removed.
    pub log_removals: BTreeMap<RunId, LogRemoval>,
    /// What is remembered of ended tasks that have left the state.
    pub past_work: BTreeMap<UserId, Arc<PastWork>>,
    /// How many elements of an array are added by one step.
    pub slice: usize,
    pub(crate) index: Index,
    pub(crate) parts: SharedParts,
}

impl Default for State {
    fn default() -> Self {
        let mut state = State {
            ledger: Ledger::default(),
            users: BTreeMap::new(),
            nodes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            runs: BTreeMap::new(),
            log_removals: BTreeMap::new(),
            past_work: BTreeMap::new(),
            slice: SLICE,
            index: Index::default(),
            parts: SharedParts::default(),
        };
        state.index.idle_pool = Pool::when_idle();
        state
    }
}

impl State {
    pub fn new() -> State {
        State::default()
    }

    /// The state that a store holds. Errors are damage: rows that contradict each other.
    pub fn from_rows(rows: impl IntoIterator<Item = Row>) -> Result<State, String> {
        let mut state = State::new();
        let (mut tasks, mut runs) = (Vec::new(), Vec::new());
        let mut specs = BTreeMap::new();
        for row in rows {
            match row {
                Row::Ledger(ledger) => state.ledger = *ledger,
                Row::User(user) => state.insert_user(user),
                Row::Node(node) => state.insert_node(node),
                Row::Spec { id, mut spec } => {
                    state.parts.share(Arc::make_mut(&mut spec));
                    specs.insert(id, spec);
                }
                Row::Task(task) => tasks.push(task),
                Row::Run(run) => runs.push(run),
                Row::LogRemoval(removal) => state.insert_log_removal(removal),
                Row::PastWork(past) => state.insert_past_work(past),
            }
        }
        for (first, growing) in &state.ledger.growing {
            let spec = specs.get(&growing.spec);
            let spec = spec.ok_or_else(|| format!("nobody knows what array {first} is to do"))?;
            state.index.keep_spec(growing.spec, spec);
        }
        state.refile_all();
        for mut task in tasks {
            let spec = specs.get(&task.spec_id);
            let spec =
                spec.ok_or_else(|| format!("nobody knows what task {} is to do", task.id))?;
            Arc::make_mut(&mut task).spec = Arc::clone(spec);
            state.insert_task(task);
        }
        for run in runs {
            let known = state.tasks.contains_key(&run.task)
                && run.parts.iter().all(|part| part.is_ended() || state.has_gpus(part));
            if !known {
                return Err(format!("run {} names a task, node or GPU that is not there", run.id));
            }
            state.insert_run(run);
        }
        state.check()?;
        Ok(state)
    }

    /// The same state with every index made anew.
    pub(crate) fn rebuilt(&self) -> State {
        let mut state = State { ledger: self.ledger.clone(), slice: self.slice, ..State::new() };
        for growing in self.ledger.growing.values() {
            if let Some((spec, _)) = self.index.specs.get(&growing.spec) {
                state.index.keep_spec(growing.spec, spec);
            }
        }
        self.users.values().for_each(|user| state.insert_user(user.clone()));
        for node in self.nodes.values() {
            state.insert_node(stored(node));
        }
        for task in self.tasks.values() {
            state.insert_task(Arc::clone(task));
        }
        for run in self.runs.values() {
            state.insert_run(Arc::clone(run));
        }
        for removal in self.log_removals.values() {
            state.insert_log_removal(removal.clone());
        }
        for past in self.past_work.values() {
            state.insert_past_work(Arc::clone(past));
        }
        state
    }

    pub fn rows(&self) -> impl Iterator<Item = Row> {
        let ledger = std::iter::once(Row::Ledger(Box::new(self.ledger.clone())));
        ledger
            .chain(self.users.values().cloned().map(Row::User))
            .chain(self.nodes.values().map(|node| Row::Node(stored(node))))
            .chain(self.index.specs.iter().map(spec_row))
            .chain(self.tasks.values().cloned().map(Row::Task))
            .chain(self.runs.values().cloned().map(Row::Run))
            .chain(self.log_removals.values().cloned().map(Row::LogRemoval))
            .chain(self.past_work.values().cloned().map(Row::PastWork))
    }

    /// `None` when there is no such row any more.
    pub fn row(&self, key: RowKey) -> Option<Row> {
        match key {
            RowKey::Ledger => Some(Row::Ledger(Box::new(self.ledger.clone()))),
            RowKey::User(id) => self.users.get(&id).cloned().map(Row::User),
            RowKey::Node(id) => self.nodes.get(&id).map(|node| Row::Node(stored(node))),
            RowKey::Spec(id) => self.index.specs.get_key_value(&id).map(spec_row),
            RowKey::Task(id) => self.tasks.get(&id).cloned().map(Row::Task),
            RowKey::Run(id) => self.runs.get(&id).cloned().map(Row::Run),
            RowKey::LogRemoval(id) => self.log_removals.get(&id).cloned().map(Row::LogRemoval),
            RowKey::PastWork(id) => self.past_work.get(&id).cloned().map(Row::PastWork),
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.ledger.settings
    }

    pub fn queue(&self) -> &Queue {
        &self.index.queue
    }

    pub fn pool(&self) -> &Pool {
        &self.index.pool
    }

    pub fn idle_pool(&self) -> &Pool {
        &self.index.idle_pool
    }

    /// What a search for a place goes by besides the pool.
    pub(crate) fn ground(&self, thresholds: Thresholds) -> Ground<'_> {
        let (nodes, settings) = (&self.nodes, self.settings());
        let runs_so_far = self.ledger.next_run.saturating_sub(1);
        let demand_mix = &self.index.demand_mix;
        Ground { nodes, settings, thresholds, demand_mix, larger_than: None, runs_so_far }
    }

    /// Runs that have not ended.
    pub fn active_runs(&self) -> impl Iterator<Item = &Run> {
        self.index.held.keys().map(|id| &*self.runs[id])
    }

    /// Runs that have not ended on this node.
    pub fn runs_on(&self, node: NodeId) -> impl Iterator<Item = RunId> {
        self.index.runs_on.get(&node).into_iter().flatten().copied()
    }

    pub fn runs_of(&self, task: TaskId) -> impl Iterator<Item = &Run> {
        self.index.runs_of.get(&task).into_iter().flatten().map(|id| &*self.runs[id])
    }

    /// When to look again although nothing has happened by then.
    pub fn wake_at(&self, now: Time) -> Option<Time> {
        let set_back = self.index.retried.last().is_some_and(|(failed_at, _)| *failed_at > now);
        let due = self.index.later.first().map(|(at, _)| (*at).max(now));
        let due = if set_back { Some(now) } else { due };
        if !self.ledger.growing.is_empty() {
            return Some(now);
        }
        let ripens = self.index.ripens_at.values().min().copied();
        let ripens = ripens.filter(|_| !self.queue().is_empty());
        let ripens = ripens.map(|at| at.min(now + self.settings().longest_ripening()));
        let backlog = (self.no_longer_recent() > 0).then_some(now);
        let others = [due, ripens, self.lost_at(now), backlog].into_iter().flatten();
        others.chain(schedule::wake_at(self, now)).min()
    }

    /// For how long a node has been unreachable; `None` while it is reachable. Only time while the daemon ran counts.
    pub fn away_for(&self, id: NodeId, now: Time) -> Option<Span> {
        let Link::Down { since } = self.nodes.get(&id)?.link else { return None };
        Some(now.since(since.max(self.ledger.booted_at)))
    }

    /// When the next node that is away will have been so for too long.
    fn lost_at(&self, now: Time) -> Option<Time> {
        let after = self.settings().lost_after;
        if after == Span::ZERO {
            return None;
        }
        let away = self.index.runs_on.keys().filter_map(|id| self.away_for(*id, now));
        away.map(|away| now + after.saturating_sub(away)).min()
    }

    pub(crate) fn held_by(&self, run: RunId) -> &[Hold] {
        self.index.held.get(&run).map_or(&[], Vec::as_slice)
    }

    /// The run time predicted from ended tasks.
    pub(crate) fn predict(&self, task: &Task) -> Option<Span> {
        let settings = self.settings();
        let asked = settings.predictions || settings.auto_inside || settings.order == Order::Auto;
        asked.then(|| self.index.history.predict(task.owner, &task.spec)).flatten()
    }

    /// The expected run time if it starts now; the newest prediction counts.
    pub(crate) fn expected_from_now(&self, task: &Task) -> Option<Span> {
        let guess = task.predicted.filter(|_| task.is_guessed());
        let newest = guess.and_then(|_| self.predict(task));
        newest.map(|total| task.remaining(total)).or_else(|| task.expected_remaining())
    }

    /// The predicted start is stored with the task's end; while it waits, nothing depends on it.
    pub(crate) fn predict_start(&mut self, id: TaskId, now: Time) {
        let starts_at = forecast::start_at_once_told(self, id, now);
        let Some(starts_at) = starts_at else { return };
        let task = self.tasks.get_mut(&id).expect("the caller has looked the task up");
        Arc::make_mut(task).trail_mut().predicted_start =
            Some(StartPrediction { made_at: now, starts_at });
    }

    pub(crate) fn set_settings(&mut self, settings: Settings) {
        self.ledger.settings = settings;
        self.index.rebuild_queue(&self.tasks, &self.ledger.settings);
        self.refile_all();
        let nodes: Vec<NodeId> = self.nodes.keys().copied().collect();
        nodes.into_iter().for_each(|node| self.refresh_holds(node));
    }

    fn refile_all(&mut self) {
        let users: Vec<UserId> = self.users.keys().copied().collect();
        users.into_iter().for_each(|user| self.refile(user));
    }

    pub(crate) fn insert_task(&mut self, task: Arc<Task>) {
        let id = task.id;
        if let Some(key) = &task.key {
            self.index.keys.insert((task.owner, Arc::clone(key)), id);
        }
        self.index.share_spec(&task);
        let owner = task.owner;
        self.tasks.insert(id, task);
        self.index.list_task(&self.tasks[&id], &self.tasks, &self.ledger.settings);
        self.refile(owner);
    }

    pub(crate) fn change_task(&mut self, id: TaskId, change: impl FnOnce(&mut Task)) {
        self.with_task(id, |task| {
            let task = Arc::make_mut(task);
            change(task);
            task.tidy();
        });
    }

    /// … with one that others have, too.
    fn replace_task(&mut self, id: TaskId, new: Arc<Task>) {
        self.with_task(id, |task| *task = new);
    }

    fn with_task(&mut self, id: TaskId, change: impl FnOnce(&mut Arc<Task>)) {
        let settings = &self.ledger.settings;
        let spec = self.tasks[&id].spec_id;
        self.index.unlist_task(&self.tasks[&id], &self.tasks, settings);
        change(self.tasks.get_mut(&id).expect("the caller has looked the task up"));
        self.index.list_task(&self.tasks[&id], &self.tasks, settings);
        if self.tasks[&id].spec_id != spec {
            self.index.share_spec(&self.tasks[&id]);
            self.index.unshare_spec(spec);
        }
        self.refile(self.tasks[&id].owner);
    }

    /// What a task is to be asked to do, under a number of its own.
    pub(crate) fn new_spec(&mut self, mut spec: TaskSpec) -> (SpecId, Arc<TaskSpec>) {
        self.parts.share(&mut spec);
        let id = self.ledger.next_spec;
        self.ledger.next_spec = SpecId(id.0 + 1);
        (id, Arc::new(spec))
    }

    /// The task and all its runs, which have ended.
    pub(crate) fn remove_task(&mut self, id: TaskId) -> Vec<Arc<Run>> {
        self.index.unlist_task(&self.tasks[&id], &self.tasks, &self.ledger.settings);
        let task = self.tasks.remove(&id).expect("the caller has looked the task up");
        self.index.unshare_spec(task.spec_id);
        if let Some(key) = &task.key {
            self.index.keys.remove(&(task.owner, Arc::clone(key)));
        }
        let runs = self.index.runs_of.remove(&id).unwrap_or_default();
        let runs: Vec<Arc<Run>> = runs.iter().filter_map(|run| self.runs.remove(run)).collect();
        for run in &runs {
            self.index.uncount_log(task.owner, run.used.log_bytes.into());
        }
        self.refile(task.owner);
        runs
    }

    pub(crate) fn insert_node(&mut self, node: Node) {
        let id = node.id;
        self.index.pool.add_node(id);
        self.index.idle_pool.add_node(id);
        self.nodes.insert(id, node);
        self.refresh_gpus(id);
    }

    pub(crate) fn remove_node(&mut self, id: NodeId) {
        self.nodes.remove(&id);
        self.index.pool.remove_node(id);
        self.index.idle_pool.remove_node(id);
        self.index.ripens_at.remove(&id);
        for other in self.index.gpu_claims.list(id, BTreeSet::new()) {
            self.refresh_claims(other);
        }
    }

    /// Change anything of a node but its GPUs.
    pub(crate) fn change_node(&mut self, id: NodeId, change: impl FnOnce(&mut Node)) {
        change(self.nodes.get_mut(&id).expect("the caller has looked the node up"));
        self.refresh_node(id);
    }

    pub(crate) fn change_unknown_runs(
        &mut self,
        id: NodeId,
        change: impl FnOnce(&mut Vec<UnknownRun>),
    ) {
        let node = self.nodes.get_mut(&id).expect("the caller has looked the node up");
        change(&mut node.unknown_runs);
        self.refresh_gpus(id);
    }

    pub(crate) fn insert_run(&mut self, run: Arc<Run>) {
        self.index.runs_of.entry(run.task).or_default().insert(run.id);
        self.index.count_log(self.tasks[&run.task].owner, run.used.log_bytes.into());
        if !run.is_ended() {
            let request = &self.tasks[&run.task].spec.request;
            let mut held = Vec::with_capacity(run.parts.len());
            for run_part in run.parts.iter().filter(|part| !part.is_ended()) {
                let node = self.nodes.get_mut(&run_part.node).expect("runs are on known nodes");
                let hold = hold(node, &run, run_part, request, &self.ledger.settings);
                for position in hold.gpus.positions() {
                    let holders = &mut node.gpus[position].holders;
                    let at = holders.partition_point(|other| *other < run.id);
                    holders.insert(at, run.id);
                }
                let part = Part { node: run_part.node, gpus: hold.gpus };
                self.index.pool.take(&hold);
                self.index.runs_on.entry(part.node).or_default().insert(run.id);
                held.push(hold);
            }
            self.index.held.insert(run.id, held);
            if let Some(at) = run.release_at() {
                self.index.releases.insert((at, run.id));
            }
        }
        let sharing = self.tasks[&run.task].spec.request.is_shared() && !run.is_ended();
        // Where a part of it has ended, the node may have been removed since.
        let open = run.parts.iter().filter(|part| !part.is_ended());
        let nodes: Vec<NodeId> = open.map(|part| part.node).collect();
        self.runs.insert(run.id, run);
        for node in nodes {
            self.refresh_sharers(node);
            if sharing {
                self.refresh_ripening(node);
            }
        }
    }

    /// Change a run's own state, not that of its parts.
    pub(crate) fn change_run(&mut self, id: RunId, change: impl FnOnce(&mut Run)) {
        let run = self.runs.get_mut(&id).expect("the caller has looked the run up");
        let run = Arc::make_mut(run);
        if let Some(at) = run.release_at() {
            self.index.releases.remove(&(at, id));
        }
        change(run);
        if run.is_ended() {
            self.index.held.remove(&id);
        } else if let Some(at) = run.release_at() {
            self.index.releases.insert((at, id));
        }
    }

    /// What a part has used that has ended.
    pub(crate) fn add_usage(&mut self, id: RunId, used: RunUsage) {
        let run = self.runs.get_mut(&id).expect("the caller has looked the run up");
        let run = Arc::make_mut(run);
        let owner = self.tasks[&run.task].owner;
        self.index.uncount_log(owner, run.used.log_bytes.into());
        run.used = run.used.plus(used);
        self.index.count_log(owner, run.used.log_bytes.into());
    }

    /// Bytes of logs that machines keep for this user.
    pub fn log_bytes_of(&self, user: UserId) -> u64 {
        let bytes = self.index.log_bytes.get(&user).copied().unwrap_or(0);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    pub(crate) fn set_part(
        &mut self,
        id: RunId,
        node: NodeId,
        started_at: Option<Time>,
        state: PartState,
    ) {
        let run = self.runs.get_mut(&id).expect("the caller has looked the run up");
        let run = Arc::make_mut(run);
        let part = run.parts.iter_mut().find(|part| part.node == node);
        let part = part.expect("the caller has looked the part up");
        part.started_at = part.started_at.or(started_at);
        part.state = state;
        if part.is_ended() {
            self.free_part(id, node);
        }
    }

    fn free_part(&mut self, id: RunId, node_id: NodeId) {
        let held = self.index.held.get_mut(&id).expect("a part that ends was held");
        let at = held.iter().position(|hold| hold.node == node_id).expect("by this node too");
        let hold = held.remove(at);
        let node = self.nodes.get_mut(&node_id).expect("runs are on known nodes");
        for position in hold.gpus.positions() {
            node.gpus[position].holders.retain(|holder| *holder != id);
        }
        self.index.pool.give(&hold);
        if let Some(runs) = self.index.runs_on.get_mut(&node_id) {
            runs.remove(&id);
            if runs.is_empty() {
                self.index.runs_on.remove(&node_id);
            }
        }
        self.refresh_sharers(node_id);
        if matches!(hold.claim, Claim::Share { .. }) {
            self.refresh_ripening(node_id);
        }
    }

    fn has_gpus(&self, part: &RunPart) -> bool {
        let here = |node: &Node, id: &GpuId| node.gpus.iter().any(|gpu| gpu.id == *id);
        let node = self.nodes.get(&part.node);
        node.is_some_and(|node| part.gpus.iter().all(|id| here(node, id)))
    }
}

fn spec_row((id, (spec, _)): (&SpecId, &(Arc<TaskSpec>, usize))) -> Row {
    Row::Spec { id: *id, spec: Arc::clone(spec) }
}

/// A node as it is stored: the holders of its GPUs are derived from the runs.
pub(crate) fn stored(node: &Node) -> Node {
    let mut node = node.clone();
    for gpu in &mut node.gpus {
        gpu.holders.clear();
        gpu.rule = GpuRule::default();
        gpu.also_on.clear();
        gpu.has_unknown_run = false;
        gpu.links = GpuMask::NONE;
    }
    node
}
