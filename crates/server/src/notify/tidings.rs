//! What an event means for who tells people: the one place that knows every event. Pure.

use danlu_core::event::RequeueReason;
use danlu_core::idle::{IdleKind, IdleRung};
use danlu_core::task::Outcome;
use danlu_core::{Event, GpuId, NodeId, RunId, TaskId, Time, UserId};

/// An event that people may be told of, now or when it has lasted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tidings<'a> {
    Started {
        run: RunId,
        node: NodeId,
    },
    Finished {
        task: TaskId,
        outcome: &'a Outcome,
    },
    Requeued {
        task: TaskId,
        why: RequeueReason,
    },
    InDoubt {
        task: TaskId,
    },
    Settings,
    Quarantined {
        node: NodeId,
        gpu: &'a GpuId,
        why: &'a str,
        owners: &'a [UserId],
    },
    RunEnded {
        owner: UserId,
    },
    Idle {
        run: RunId,
        rung: IdleRung,
        kind: IdleKind,
        since: Time,
    },
    LimitChanged {
        run: RunId,
    },
    NodeLost {
        node: NodeId,
    },
    NodeBack {
        node: NodeId,
    },
    /// Of no interest.
    Nothing,
}

impl Tidings<'_> {
    pub(crate) fn of(event: &Event) -> Tidings<'_> {
        use Event::*;
        match event {
            PartStarted { run, node } => Tidings::Started { run: *run, node: *node },
            TaskFinished { task, outcome } => Tidings::Finished { task: *task, outcome },
            TaskRequeued { task, why } => Tidings::Requeued { task: *task, why: *why },
            TaskInDoubt { task, .. } => Tidings::InDoubt { task: *task },
            SettingsChanged => Tidings::Settings,
            GpuQuarantined { node, gpu, why, owners } => {
                Tidings::Quarantined { node: *node, gpu, why, owners }
            }
            RunIdle { run, rung, kind, since } => {
                Tidings::Idle { run: *run, rung: *rung, kind: *kind, since: *since }
            }
            RunEnded { owner, .. } => Tidings::RunEnded { owner: *owner },
            TaskExtended { run: Some(run), .. } => Tidings::LimitChanged { run: *run },
            NodeLost { node } => Tidings::NodeLost { node: *node },
            NodeReady { node } | NodeRemoved { node } => Tidings::NodeBack { node: *node },
            TaskExtended { run: None, .. }
            | Booted { .. }
            | UserAdded { .. }
            | UserChanged { .. }
            | ProjectCharged { .. }
            | IdsSkipped
            | TaskSubmitted { .. }
            | TasksSubmitted { .. }
            | TaskHeld { .. }
            | TaskReleased { .. }
            | TaskUnblocked { .. }
            | TaskRetried { .. }
            | TaskDue { .. }
            | TaskEdited { .. }
            | TasksMoved { .. }
            | TaskRemoved { .. }
            | TasksRetired { .. }
            | TaskRecalled { .. }
            | RunLaunched { .. }
            | RunPaused { .. }
            | RunResumed { .. }
            | RunUsedAgain { .. }
            | RunKept { .. }
            | RunStopping { .. }
            | PartEnded { .. }
            | LogDropped { .. }
            | NodeAdded { .. }
            | NodeConnected { .. }
            | NodeHasStrays { .. }
            | NodeUnfit { .. }
            | NodeFit { .. }
            | NodeHasUnknownRuns { .. }
            | UnknownRunsStopping { .. }
            | UnknownRunsEnded { .. }
            | NodeResourcesChanged { .. }
            | NodeLabelsChanged { .. }
            | RunsDeclaredLost { .. }
            | NodeDraining { .. }
            | NodeUndrained { .. }
            | GpusChanged { .. }
            | DecisionRejected { .. }
            | LateMessageIgnored { .. } => Tidings::Nothing,
        }
    }

    /// Whether somebody may be told at once.
    pub(crate) fn are_for_now(self) -> bool {
        match self {
            Tidings::Started { .. }
            | Tidings::Finished { .. }
            | Tidings::Requeued { .. }
            | Tidings::InDoubt { .. }
            | Tidings::Settings
            | Tidings::Quarantined { .. }
            | Tidings::Idle { .. }
            | Tidings::RunEnded { .. } => true,
            Tidings::LimitChanged { .. }
            | Tidings::NodeLost { .. }
            | Tidings::NodeBack { .. }
            | Tidings::Nothing => false,
        }
    }

    /// The task they are about, which may have left memory.
    pub(crate) fn task(self) -> Option<TaskId> {
        match self {
            Tidings::Finished { task, .. }
            | Tidings::Requeued { task, .. }
            | Tidings::InDoubt { task } => Some(task),
            Tidings::Started { .. }
            | Tidings::Settings
            | Tidings::Quarantined { .. }
            | Tidings::RunEnded { .. }
            | Tidings::Idle { .. }
            | Tidings::LimitChanged { .. }
            | Tidings::NodeLost { .. }
            | Tidings::NodeBack { .. }
            | Tidings::Nothing => None,
        }
    }
}
