//! What a step has done: the history for users, and the list of rows that have changed.

use crate::fault_injection::{Mutant, mutated};
use crate::model::idle::{IdleKind, IdleRung};
use crate::model::ids::{Epoch, GpuId, NodeId, RunId, SessionId, SpecId, TaskId, UserId};
use crate::model::run::{Exit, StopReason};
use crate::model::task::{Doubt, Outcome};
use crate::model::time::Time;
use crate::model::trouble::Trouble;
use crate::state::rows::RowKey;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[rustfmt::skip] // one line for each
pub enum Event {
    Booted { epoch: Epoch, #[serde(default)] restored: bool },
    UserAdded { user: UserId },
    UserChanged { user: UserId },
    /// GPU time of a project with a quota was counted.
    ProjectCharged { project: String },
    SettingsChanged,
    /// A machine has shown that a lost store had assigned these ids.
    IdsSkipped,

    TaskSubmitted { task: TaskId, spec: SpecId },
    /// So many elements of an array, with ids one after the other.
    TasksSubmitted { first: TaskId, count: u32, spec: SpecId },
    TaskHeld { task: TaskId },
    /// It may have run to its end without a record: held until it is released.
    TaskInDoubt { task: TaskId, why: Doubt },
    TaskReleased { task: TaskId },
    TaskUnblocked { task: TaskId },
    TaskRequeued { task: TaskId, why: RequeueReason },
    TaskRetried { task: TaskId },
    /// The time before which it was not to start has come.
    TaskDue { task: TaskId },
    TaskEdited { task: TaskId, spec: SpecId, was: SpecId },
    TaskExtended { task: TaskId, run: Option<RunId> },
    /// These have changed places.
    TasksMoved { tasks: Vec<TaskId> },
    TaskFinished { task: TaskId, outcome: Outcome },
    TaskRemoved { task: TaskId, spec: SpecId, runs: Vec<RunId> },
    /// These have ended long ago and are in the store alone from now on, with their runs and what nobody else is to do.
    /// Internal, as the next one: for people nothing has changed.
    TasksRetired { tasks: Vec<TaskId>, specs: Vec<SpecId>, runs: Vec<RunId>, users: Vec<UserId> },
    /// It is named again, and in the state as if it had never left it.
    TaskRecalled { task: TaskId, owner: UserId, spec: Option<SpecId>, runs: Vec<RunId> },

    RunLaunched { run: RunId, task: TaskId, #[serde(default)] owner: UserId, nodes: Vec<NodeId> },
    PartStarted { run: RunId, node: NodeId },
    RunPaused { run: RunId },
    RunResumed { run: RunId },
    /// It holds GPUs and does not use them: its owner is told that, or asked.
    RunIdle { run: RunId, rung: IdleRung, kind: IdleKind, since: Time },
    RunUsedAgain { run: RunId },
    /// Nothing is done about idle GPUs of it before.
    RunKept { run: RunId, task: TaskId, until: Time },
    RunStopping { run: RunId, why: StopReason },
    PartEnded { run: RunId, node: NodeId, exit: Exit },
    RunEnded { run: RunId, task: TaskId, #[serde(default)] owner: UserId, exit: Exit },
    /// The log of a removed task is no longer on this node, or the node is none of ours any more.
    LogDropped { run: RunId, node: NodeId },

    NodeAdded { node: NodeId },
    NodeRemoved { node: NodeId },
    NodeConnected { node: NodeId, session: SessionId },
    NodeReady { node: NodeId },
    /// It runs what it should not; these are being stopped first.
    NodeHasStrays { node: NodeId, runs: Vec<RunId> },
    NodeLost { node: NodeId },
    /// It cannot start anything, and gets nothing new until it is well.
    NodeUnfit { node: NodeId, trouble: Trouble },
    NodeFit { node: NodeId },
    /// It runs what a lost store knew: that goes on, and its GPUs are used by others.
    NodeHasUnknownRuns { node: NodeId, runs: Vec<RunId> },
    /// An administrator has ordered the end of these.
    UnknownRunsStopping { node: NodeId, runs: Vec<RunId> },
    UnknownRunsEnded { node: NodeId, runs: Vec<RunId> },
    NodeResourcesChanged { node: NodeId },
    NodeLabelsChanged { node: NodeId },
    /// It was unreachable for too long, or declared lost: these runs count as failed, even if they go on there.
    RunsDeclaredLost { node: NodeId, runs: Vec<RunId> },
    NodeDraining { node: NodeId },
    NodeUndrained { node: NodeId },
    GpusChanged { node: NodeId },
    /// It has a hardware error, and is disabled until an administrator enables it. These users have runs on it, and
    /// are notified.
    GpuQuarantined { node: NodeId, gpu: GpuId, why: String, #[serde(default)] owners: Vec<UserId> },
    /// A policy decided what the state does not allow. Nothing was done.
    DecisionRejected { task: TaskId, reason: String },
    /// A message from an earlier connection, or about something long settled.
    LateMessageIgnored { node: NodeId, run: Option<RunId> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequeueReason {
    Failed,
    Lost,
    Preempted,
    /// A user requested it.
    Asked,
    NeverStarted,
    /// The machine could not start it.
    NodeUnfit,
    /// It held GPUs and did not use them.
    Idle,
}

impl Event {
    /// The rows that may have changed; every changed row of a step is named by one of its events.
    pub fn rows(&self) -> Vec<RowKey> {
        use Event::*;
        match self {
            TaskSubmitted { task, spec } if mutated(Mutant::LedgerNotNamed) => {
                vec![RowKey::Spec(*spec), RowKey::Task(*task)]
            }
            RunEnded { run, owner, .. } if mutated(Mutant::TaskRowNotNamed) => {
                vec![RowKey::Run(*run), RowKey::User(*owner)]
            }
            Booted { .. } | IdsSkipped | SettingsChanged | ProjectCharged { .. } => {
                vec![RowKey::Ledger]
            }
            UserAdded { user } => vec![RowKey::User(*user), RowKey::Ledger],
            UserChanged { user } => vec![RowKey::User(*user)],
            TaskSubmitted { task, spec } => {
                vec![RowKey::Spec(*spec), RowKey::Task(*task), RowKey::Ledger]
            }
            TasksSubmitted { first, count, spec } => {
                let tasks = (first.0..).take(*count as usize).map(|id| RowKey::Task(TaskId(id)));
                tasks.chain([RowKey::Spec(*spec), RowKey::Ledger]).collect()
            }
            TaskEdited { task, spec, was } => {
                vec![RowKey::Spec(*spec), RowKey::Spec(*was), RowKey::Task(*task), RowKey::Ledger]
            }
            TaskHeld { task }
            | TaskInDoubt { task, .. }
            | TaskReleased { task }
            | TaskUnblocked { task }
            | TaskRequeued { task, .. }
            | TaskRetried { task }
            | TaskDue { task }
            | TaskFinished { task, .. } => vec![RowKey::Task(*task)],
            TaskExtended { task, run } => {
                run.iter().map(|run| RowKey::Run(*run)).chain([RowKey::Task(*task)]).collect()
            }
            TasksMoved { tasks } => tasks.iter().map(|task| RowKey::Task(*task)).collect(),
            TaskRemoved { task, spec, runs } => {
                let runs =
                    runs.iter().flat_map(|run| [RowKey::Run(*run), RowKey::LogRemoval(*run)]);
                runs.chain([RowKey::Task(*task), RowKey::Spec(*spec)]).collect()
            }
            TasksRetired { tasks, specs, runs, users } => {
                let tasks = tasks.iter().filter(|_| !mutated(Mutant::RetiredStaysInRows));
                let users = users.iter().filter(|_| !mutated(Mutant::PastWorkNotNamed));
                let rows = tasks.map(|task| RowKey::Task(*task));
                rows.chain(runs.iter().map(|run| RowKey::Run(*run)))
                    .chain(specs.iter().map(|spec| RowKey::Spec(*spec)))
                    .chain(users.map(|user| RowKey::PastWork(*user)))
                    .collect()
            }
            TaskRecalled { task, owner, spec, runs } => {
                let spec = spec.filter(|_| !mutated(Mutant::RecalledSpecNotNamed));
                let rows = [RowKey::Ledger, RowKey::Task(*task), RowKey::PastWork(*owner)];
                rows.into_iter()
                    .chain(runs.iter().map(|run| RowKey::Run(*run)))
                    .chain(spec.map(RowKey::Spec))
                    .collect()
            }
            RunLaunched { run, task, owner, .. } => {
                let user = RowKey::User(*owner);
                vec![RowKey::Run(*run), RowKey::Task(*task), user, RowKey::Ledger]
            }
            PartStarted { run, .. }
            | RunPaused { run }
            | RunResumed { run }
            | RunIdle { run, .. }
            | RunUsedAgain { run }
            | RunKept { run, .. }
            | RunStopping { run, .. }
            | PartEnded { run, .. } => {
                vec![RowKey::Run(*run)]
            }
            RunEnded { run, task, owner, .. } => {
                vec![RowKey::Run(*run), RowKey::Task(*task), RowKey::User(*owner)]
            }
            LogDropped { run, .. } => vec![RowKey::LogRemoval(*run)],
            NodeAdded { node } => vec![RowKey::Node(*node), RowKey::Ledger],
            NodeRemoved { node }
            | NodeConnected { node, .. }
            | NodeReady { node }
            | NodeHasStrays { node, .. }
            | NodeLost { node }
            | NodeUnfit { node, .. }
            | NodeFit { node }
            | NodeHasUnknownRuns { node, .. }
            | UnknownRunsStopping { node, .. }
            | UnknownRunsEnded { node, .. }
            | NodeResourcesChanged { node }
            | NodeLabelsChanged { node }
            | NodeDraining { node }
            | NodeUndrained { node }
            | GpuQuarantined { node, .. }
            | GpusChanged { node } => vec![RowKey::Node(*node)],
            // What becomes of each run has an event of its own.
            RunsDeclaredLost { .. } => vec![],
            DecisionRejected { .. } | LateMessageIgnored { .. } => vec![],
        }
    }
}
