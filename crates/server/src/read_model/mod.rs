//! The read model: the rows as of the last commit, in persistent maps that share unchanged parts.
//!
//! Readers never wait for the engine, nor the engine for readers.

mod brief;
mod digest;
mod follower;

pub(crate) use brief::outcome_name;
pub use brief::{Brief, BriefState};
pub use digest::{ArrayDigest, Digest};

use crate::metrics::Counters;
use crate::store::Batch;
use crate::store::history::counts::PastCounts;
use arc_swap::ArcSwap;
use danlu_core::rows::Ledger;
use danlu_core::state::Retired;
use danlu_core::task::ArrayElement;
use danlu_core::{
    Epoch, Event, GpuId, Node, NodeId, PastWork, Row, RowKey, Run, RunId, State, Task, TaskId,
    Time, User, UserId,
};
use follower::Follower;
use imbl::{OrdMap, OrdSet};
use std::sync::{Arc, OnceLock};
use tokio::sync::broadcast;

#[derive(Debug, Clone, Default)]
pub struct ReadModel {
    pub ledger: Arc<Ledger>,
    pub users: OrdMap<UserId, Arc<User>>,
    pub nodes: OrdMap<NodeId, Arc<Node>>,
    pub tasks: OrdMap<TaskId, Arc<Task>>,
    /// The same tasks in a few bytes each, side by side, for going through all of them.
    pub briefs: OrdMap<TaskId, Brief>,
    pub digest: Digest,
    pub runs: OrdMap<RunId, Arc<Run>>,
    /// Runs that have not ended.
    pub active: OrdSet<RunId>,
    pub runs_of: OrdSet<(TaskId, RunId)>,
    /// What is remembered of ended tasks that have left the rows.
    pub past_work: OrdMap<UserId, Arc<PastWork>>,
    /// Which nodes list a GPU: more than one where a machine has two names.
    listed: OrdSet<(GpuId, NodeId)>,
    /// Of ended tasks that are not here any more.
    pub past: Arc<PastCounts>,
}

/// The engine's side.
#[derive(Debug)]
pub(crate) struct Publisher {
    current: ReadModel,
    shared: Arc<ArcSwap<ReadModel>>,
    news: broadcast::Sender<Arc<News>>,
    counters: Arc<Counters>,
}

/// The readers' side.
#[derive(Debug, Clone)]
pub struct Reader {
    shared: Arc<ArcSwap<ReadModel>>,
    follower: Arc<Follower>,
    news: broadcast::Sender<Arc<News>>,
    counters: Arc<Counters>,
}

/// The changes of one commit.
#[derive(Debug)]
pub struct News {
    /// The number of the last of them.
    newest: i64,
    pub events: Vec<(Time, Event)>,
    /// Encoded by the first stream that sends them, and reused by the others.
    encoded: OnceLock<Vec<Option<String>>>,
}

impl News {
    /// The number of the first of them.
    pub(crate) fn first(&self) -> i64 {
        self.newest - self.events.len() as i64 + 1
    }

    /// Encoded by `encode`, which must be the same function for all readers.
    pub(crate) fn encoded(
        &self,
        encode: impl Fn(Time, &Event) -> Option<String>,
    ) -> &[Option<String>] {
        let all = || self.events.iter().map(|(at, event)| encode(*at, event)).collect();
        self.encoded.get_or_init(all)
    }
}

/// A reader that lags behind by more than this has to read the model again.
const NEWS_KEPT: usize = 1_024;

impl Publisher {
    pub(crate) fn new() -> (Publisher, Reader) {
        let shared = Arc::new(ArcSwap::from_pointee(ReadModel::default()));
        let (news, _) = broadcast::channel(NEWS_KEPT);
        let (follower, told) = (Arc::default(), news.clone());
        let counters: Arc<Counters> = Arc::default();
        let counted = Arc::clone(&counters);
        let reader =
            Reader { shared: Arc::clone(&shared), follower, news: told, counters: counted };
        (Publisher { current: ReadModel::default(), shared, news, counters }, reader)
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// As of the last commit.
    pub(crate) fn node_name(&self, node: NodeId) -> String {
        self.current.nodes.get(&node).map_or_else(|| node.to_string(), |node| node.name.clone())
    }

    pub(crate) fn publish_all(&mut self, state: &State, past: PastCounts) {
        self.current = ReadModel { past: Arc::new(past), ..ReadModel::default() };
        for row in state.rows() {
            self.current.put(row);
        }
        self.shared.store(Arc::new(self.current.clone()));
    }

    /// `newest` is the number of the last event that is stored, `past` what is in the history if that has changed.
    pub(crate) fn publish(&mut self, batch: &Batch, newest: i64, past: Option<PastCounts>) {
        if batch.rows.is_empty() && batch.events.is_empty() && past.is_none() {
            return;
        }
        if self.counters.is_wanted() {
            self.counters.note(&self.current, batch);
        }
        if let Some(past) = past {
            self.current.past = Arc::new(past);
        }
        for (key, row) in &batch.rows {
            match row {
                Some(row) => self.current.put(row.clone()),
                None => self.current.remove(*key),
            }
        }
        self.shared.store(Arc::new(self.current.clone()));
        // There may be no receiver.
        let (events, encoded) = (batch.events.clone(), OnceLock::new());
        let _ = self.news.send(Arc::new(News { newest, events, encoded }));
    }
}

impl Reader {
    pub fn model(&self) -> Arc<ReadModel> {
        self.shared.load_full()
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Everything that is committed from now on.
    pub fn news(&self) -> broadcast::Receiver<Arc<News>> {
        self.news.subscribe()
    }
}

impl ReadModel {
    /// The same with these ended tasks from the history. What is live counts more: it may have been run again since.
    pub fn with_retired(&self, retired: impl IntoIterator<Item = Retired>) -> ReadModel {
        let mut model = self.clone();
        for Retired { task, runs } in retired {
            if !model.tasks.contains_key(&task.id) {
                model.put_task(&task);
                runs.into_iter().for_each(|run| model.put_run(run));
            }
        }
        model
    }

    /// Which element of which array it is.
    pub fn element(&self, task: TaskId) -> Option<ArrayElement> {
        self.tasks.get(&task)?.array
    }

    fn put(&mut self, row: Row) {
        match row {
            Row::Ledger(ledger) => self.ledger = Arc::new(*ledger),
            Row::User(user) => drop(self.users.insert(user.id, Arc::new(user))),
            Row::Node(node) => self.put_node(node),
            // Tasks carry theirs with them.
            Row::Spec { .. } => {}
            Row::Task(task) => self.put_task(&task),
            Row::Run(run) => self.put_run(run),
            Row::LogRemoval(_) => {}
            Row::PastWork(past) => drop(self.past_work.insert(past.user, past)),
        }
    }

    fn put_node(&mut self, node: Node) {
        let id = node.id;
        let before = self.nodes.insert(id, Arc::new(node));
        let ids =
            |node: &Node| -> Vec<GpuId> { node.gpus.iter().map(|gpu| gpu.id.clone()).collect() };
        let (old, new) = (before.as_deref().map(ids).unwrap_or_default(), ids(&self.nodes[&id]));
        if old != new {
            self.unlist(id, old);
            self.listed.extend(new.into_iter().map(|gpu| (gpu, id)));
        }
    }

    fn unlist(&mut self, node: NodeId, gpus: Vec<GpuId>) {
        for gpu in gpus {
            self.listed.remove(&(gpu, node));
        }
    }

    /// Other nodes that list this GPU.
    pub fn also_listed(&self, gpu: &GpuId, node: NodeId) -> impl Iterator<Item = &Node> {
        let of_gpu = self.listed.range((gpu.clone(), NodeId(0))..);
        let of_gpu = of_gpu.take_while(move |(listed, _)| listed == gpu).map(|(_, id)| *id);
        of_gpu.filter(move |id| *id != node).filter_map(|id| Some(&**self.nodes.get(&id)?))
    }

    fn put_task(&mut self, task: &Arc<Task>) {
        self.briefs.insert(task.id, Brief::of(task));
        let before = self.tasks.insert(task.id, Arc::clone(task));
        self.digest.change(task.id, before.as_deref(), Some(task));
    }

    fn put_run(&mut self, run: Arc<Run>) {
        if run.is_ended() {
            self.active.remove(&run.id);
        } else {
            self.active.insert(run.id);
        }
        self.runs_of.insert((run.task, run.id));
        self.runs.insert(run.id, run);
    }

    pub fn active_runs(&self) -> impl Iterator<Item = &Run> {
        self.active.iter().filter_map(|id| self.runs.get(id)).map(|run| &**run)
    }

    pub fn runs_of(&self, task: TaskId) -> impl Iterator<Item = &Run> {
        let first = (task, RunId { epoch: Epoch(0), number: 0 });
        let of_task = self.runs_of.range(first..).take_while(move |(id, _)| *id == task);
        of_task.filter_map(|(_, run)| self.runs.get(run)).map(|run| &**run)
    }

    fn remove(&mut self, key: RowKey) {
        match key {
            RowKey::Ledger | RowKey::Spec(_) | RowKey::LogRemoval(_) => {}
            RowKey::User(id) => drop(self.users.remove(&id)),
            RowKey::PastWork(id) => drop(self.past_work.remove(&id)),
            RowKey::Node(id) => {
                if let Some(node) = self.nodes.remove(&id) {
                    self.unlist(id, node.gpus.iter().map(|gpu| gpu.id.clone()).collect());
                }
            }
            RowKey::Task(id) => {
                self.briefs.remove(&id);
                let before = self.tasks.remove(&id);
                self.digest.change(id, before.as_deref(), None);
            }
            RowKey::Run(id) => {
                if let Some(run) = self.runs.remove(&id) {
                    self.runs_of.remove(&(run.task, id));
                    self.active.remove(&id);
                }
            }
        }
    }
}
