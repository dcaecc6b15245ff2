//! Every input of the state: from users, from nodes, from the engine itself.

use crate::model::gpu::{GpuConfig, GpuReport};
use crate::model::idle::{IdleKind, IdleRung};
use crate::model::ids::{Epoch, NodeId, RunId, SessionId, TaskId, UserId};
use crate::model::limits;
use crate::model::node::Capacity;
use crate::model::run::{Ending, RunReport};
use crate::model::settings::Settings;
use crate::model::task::TaskSpec;
use crate::model::time::{Span, Time};
use crate::model::trouble::Trouble;
use crate::model::user::UserChange;
use crate::state::Retired;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[rustfmt::skip] // one line for each
pub enum Input {
    /// First input of every life of the daemon. A higher epoch than the stored one means that the
    /// store is not the one that was there last.
    /// `restored`: what was acknowledged since is not in it; what had not ended may have run since. No task gets an id
    /// below `ids_from`.
    Boot { epoch: Epoch, #[serde(default)] restored: bool, #[serde(default)] ids_from: u64 },
    /// No new task gets an id below this: those are in the history, of another store.
    SkipIds { by: Actor, below: TaskId },
    AddUser { by: Actor, name: String, admin: bool },
    SetUser { by: Actor, user: UserId, change: UserChange },
    /// Their tasks are cancelled; their history stays.
    RemoveUser { by: Actor, user: UserId },
    Submit { by: UserId, spec: TaskSpec, key: Option<String> },
    Cancel { by: Actor, task: TaskId },
    Hold { by: Actor, task: TaskId },
    Release { by: Actor, task: TaskId },
    /// Run a finished task again.
    Retry { by: Actor, task: TaskId },
    /// Stop a running task and put it back into the queue, at its old place.
    Requeue { by: Actor, task: TaskId },
    /// Freeze a running task; it keeps its GPUs.
    Pause { by: Actor, task: TaskId },
    Resume { by: Actor, task: TaskId },
    /// Give a waiting task another description; it keeps its place.
    Edit { by: Actor, task: TaskId, spec: TaskSpec },
    /// More time for a task that has a limit; it may be running.
    Extend { by: Actor, task: TaskId, more: Span },
    /// Nothing is done about GPUs that it holds and does not use, for a time.
    Keep { by: Actor, task: TaskId, time: Span },
    /// The daemon has seen that a run holds GPUs and does not use them: tell its owner, or ask.
    NoteIdle { run: RunId, since: Time, kind: IdleKind, rung: IdleRung },
    /// … that it uses them again.
    NoteUsed { run: RunId },
    /// … that nobody has answered: stop it as the settings say.
    StopIdle { run: RunId, since: Time, kind: IdleKind },
    /// To this place among its owner's queued tasks of the same urgency and priority.
    Move { by: Actor, task: TaskId, position: usize },
    /// Start a queued task before its turn, if there is room for it.
    Start { by: Actor, task: TaskId },
    /// Take a finished task out of the state.
    Remove { by: Actor, task: TaskId },
    /// Give up a run whose node cannot be asked. It may still be running there.
    Abandon { by: Actor, run: RunId },
    AddNode { by: Actor, name: String, labels: BTreeMap<String, String> },
    RemoveNode { by: Actor, node: NodeId },
    /// Other labels: a value, or nothing where one goes. What runs goes on.
    SetLabels { by: Actor, node: NodeId, change: BTreeMap<String, Option<String>> },
    /// All runs of a node that cannot be asked have failed. They may still be running there: only if it has been away
    /// for `lost_after`, or by force.
    DeclareLost { by: Actor, node: NodeId, force: bool },
    /// A node's custom countable resources.
    SetResources { by: Actor, node: NodeId, resources: BTreeMap<String, u32> },
    Drain { by: Actor, node: NodeId },
    Undrain { by: Actor, node: NodeId },
    /// Which GPUs of a node are allocated, and to how many tasks at once.
    ManageGpus { by: Actor, node: NodeId, change: GpuChange },
    /// End what goes on there from a life of the store that was lost.
    EndUnknownRuns { by: Actor, node: NodeId },
    Configure { by: Actor, settings: Settings },
    /// All that concerns one node arrives here in the order in which it happened on that connection.
    Node { node: NodeId, session: SessionId, message: NodeMessage },
    /// An ended task that has left the state is named by the next input. In memory only: the engine has it from the store.
    #[serde(skip)]
    Recall(Box<Retired>),
    /// Decide what starts. The engine sends it once after each batch of other inputs.
    Schedule,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[rustfmt::skip] // one line for each
pub enum NodeMessage {
    Connected,
    /// Everything the node has: the answer to a new connection and to [`crate::Effect::AskReport`].
    Report(NodeReport),
    Started { run: RunId, at: Time },
    Ended { run: RunId, ending: Ending },
    /// The log of a removed task is not there any more.
    LogDropped { run: RunId },
    /// The GPUs have changed.
    Gpus(Vec<GpuReport>),
    /// So many bytes of its memory are free, in coarse steps.
    Memory { free: u64 },
    /// What keeps it from starting anything; `None` when it is well again.
    Fitness { trouble: Option<Trouble> },
    /// The connection is gone.
    Lost,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeReport {
    pub capacity: Capacity,
    /// Free memory in bytes, in coarse steps; `None` if not reported.
    #[serde(default)]
    pub free_memory: Option<u64>,
    pub gpus: Vec<GpuReport>,
    /// Every run directory there is.
    pub runs: Vec<RunReport>,
    /// What keeps it from starting anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<Trouble>,
}

/// GPUs are named by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuChange {
    /// Allocated again, even after a hardware error.
    Enable(BTreeSet<u32>),
    /// Not allocated any more; runs on them go on.
    Disable(BTreeSet<u32>),
    /// So many tasks share each by count.
    Slots(BTreeMap<u32, u16>),
    /// What the configuration file says; what was decided about single ones stays.
    Config(GpuConfig),
}

/// Who sends an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    User(UserId),
    /// The same person without an admin's powers: a token that was given less.
    Limited(UserId),
    /// The daemon itself, by its configuration.
    Daemon,
}

impl Actor {
    /// Which person it is, if it is one.
    pub fn person(self) -> Option<UserId> {
        match self {
            Actor::User(id) | Actor::Limited(id) => Some(id),
            Actor::Daemon => None,
        }
    }
}

impl Input {
    /// The tasks that it names.
    pub(crate) fn tasks(&self) -> Vec<TaskId> {
        match self {
            Input::Cancel { task, .. }
            | Input::Hold { task, .. }
            | Input::Release { task, .. }
            | Input::Retry { task, .. }
            | Input::Requeue { task, .. }
            | Input::Pause { task, .. }
            | Input::Resume { task, .. }
            | Input::Extend { task, .. }
            | Input::Keep { task, .. }
            | Input::Move { task, .. }
            | Input::Start { task, .. }
            | Input::Remove { task, .. } => vec![*task],
            Input::Edit { task, spec, .. } => [*task].into_iter().chain(depends_on(spec)).collect(),
            Input::Submit { spec, .. } => depends_on(spec).collect(),
            Input::Boot { .. }
            | Input::SkipIds { .. }
            | Input::AddUser { .. }
            | Input::SetUser { .. }
            | Input::RemoveUser { .. }
            | Input::NoteIdle { .. }
            | Input::NoteUsed { .. }
            | Input::StopIdle { .. }
            | Input::Abandon { .. }
            | Input::AddNode { .. }
            | Input::RemoveNode { .. }
            | Input::SetLabels { .. }
            | Input::DeclareLost { .. }
            | Input::SetResources { .. }
            | Input::Drain { .. }
            | Input::Undrain { .. }
            | Input::ManageGpus { .. }
            | Input::EndUnknownRuns { .. }
            | Input::Configure { .. }
            | Input::Node { .. }
            | Input::Recall(_)
            | Input::Schedule => Vec::new(),
        }
    }
}

/// More are refused anyway.
pub(crate) fn depends_on(spec: &TaskSpec) -> impl Iterator<Item = TaskId> {
    spec.after.iter().take(limits::DEPENDENCIES_PER_TASK).map(|after| after.task)
}
