//! What a caller sees of other users: everything, or, with `visibility = own`, only that a GPU is in use or a task waits;
//! never whose task it is or what it runs.

use super::ApiError;
use super::caller::Caller;
use crate::daemon::handle::AskError;
use crate::read_model::ReadModel;
use danlu_core::explain::constraint::{Constraint, GpuObstacle};
use danlu_core::explain::why::Why;
use danlu_core::settings::Visibility;
use danlu_core::{Event, Refusal, RunId, TaskId, UserId, WaitReason};
use danlu_messages::errors;
use danlu_wire::api::{ForeignView, GpuView, NodeView};

#[derive(Clone, Copy)]
pub(crate) struct Visible<'a> {
    model: &'a ReadModel,
    /// `None`: everything.
    only: Option<UserId>,
}

impl Caller {
    pub(crate) fn visibility<'a>(&self, model: &'a ReadModel) -> Visible<'a> {
        let all = self.admin || model.ledger.settings.visibility == Visibility::All;
        Visible { model, only: (!all).then_some(self.id) }
    }
}

impl Caller {
    /// A task that the caller may not see is answered as one that does not exist.
    pub(crate) fn look_for(&self, model: &ReadModel, id: TaskId) -> Result<(), ApiError> {
        if self.visibility(model).task(id) { Ok(()) } else { Err(Refusal::NoSuchTask(id).into()) }
    }

    /// The same of a refusal that names a task.
    pub(crate) fn refusal(&self, model: &ReadModel, error: AskError) -> ApiError {
        match error {
            AskError::Refused(Refusal::StillNeeded { by, .. })
                if !self.visibility(model).task(by) =>
            {
                ApiError::refused(
                    errors::needed_by_hidden_task(),
                    errors::keep_it_until_that_has_ended(),
                )
            }
            error @ (AskError::Refused(_) | AskError::NotNow(_)) => error.into(),
        }
    }
}

impl Visible<'_> {
    /// Whether the caller sees everything.
    pub(crate) fn is_whole(&self) -> bool {
        self.only.is_none()
    }

    pub(crate) fn user(&self, user: UserId) -> bool {
        self.only.is_none_or(|me| me == user)
    }

    /// A removed task has no owner.
    pub(crate) fn task(&self, id: TaskId) -> bool {
        let owner = self.model.briefs.get(&id).map(|brief| brief.owner);
        self.only.is_none_or(|me| owner == Some(me))
    }

    fn run(&self, id: RunId) -> bool {
        let task = self.model.runs.get(&id).map(|run| run.task);
        self.only.is_none() || task.is_some_and(|task| self.task(task))
    }

    pub(crate) fn gpu(&self, mut gpu: GpuView) -> GpuView {
        gpu.tasks.retain(|id| self.task(TaskId(*id)));
        gpu.foreign = gpu.foreign.into_iter().map(|process| self.process(process)).collect();
        gpu
    }

    fn process(&self, process: ForeignView) -> ForeignView {
        let me = self.only.and_then(|me| self.model.users.get(&me));
        match me {
            Some(me) if me.os_name() != process.user => {
                ForeignView { user: String::new(), command: String::new(), ..process }
            }
            _ => process,
        }
    }

    pub(crate) fn node(&self, mut node: NodeView) -> NodeView {
        node.tasks.retain(|id| self.task(TaskId(*id)));
        node
    }

    pub(crate) fn wait(&self, wait: WaitReason) -> WaitReason {
        match wait {
            WaitReason::Resources { held_by } => {
                WaitReason::Resources { held_by: self.runs(held_by) }
            }
            WaitReason::TooFewNodes { wanted, with_room, held_by } => {
                let held_by = self.runs(held_by);
                WaitReason::TooFewNodes { wanted, with_room, held_by }
            }
            WaitReason::NamedResources { wanted, held_by } if !held_by.is_empty() => {
                match self.runs(held_by) {
                    // An empty list would mean that no node has as many.
                    held_by if held_by.is_empty() => WaitReason::Resources { held_by },
                    held_by => WaitReason::NamedResources { wanted, held_by },
                }
            }
            WaitReason::Behind { first } if !self.task(first) => WaitReason::Outranked,
            WaitReason::WouldDelay { first, .. } if !self.task(first) => WaitReason::Outranked,
            wait @ (WaitReason::Held
            | WaitReason::Begins { .. }
            | WaitReason::RetryAt { .. }
            | WaitReason::Dependencies { .. }
            | WaitReason::NoNodes
            | WaitReason::NeverFits
            | WaitReason::NodesUnavailable { .. }
            | WaitReason::NodesUnfit { .. }
            | WaitReason::GpusOnSeveralNodes { .. }
            | WaitReason::InDoubt { .. }
            | WaitReason::GpusUnavailable { .. }
            | WaitReason::GpusDisabled { .. }
            | WaitReason::NodesShortOfMemory { .. }
            | WaitReason::Settling
            | WaitReason::GpusBusy
            | WaitReason::NamedResources { .. }
            | WaitReason::QueuePaused
            | WaitReason::ArrayLimit { .. }
            | WaitReason::Behind { .. }
            | WaitReason::WouldDelay { .. }
            | WaitReason::Quota(_)
            | WaitReason::Outranked
            | WaitReason::AboutToStart) => wait,
        }
    }

    /// Other people's tasks, and who uses GPUs outside of Danlu, are not named.
    pub(crate) fn why(&self, mut why: Why) -> Why {
        if self.is_whole() {
            return why;
        }
        for constraint in &mut why.constraints {
            match constraint {
                Constraint::RunEnds(holder) | Constraint::Settling(holder) => {
                    if !holder.task.is_some_and(|task| self.task(task)) {
                        (holder.task, holder.user) = (None, None);
                        holder.gpu_ids.clear();
                    }
                }
                Constraint::Turn { tasks, .. } => tasks.retain(|task| self.task(*task)),
                Constraint::Dependencies { on } => on.retain(|task| self.task(*task)),
                Constraint::Gpu { why: GpuObstacle::Foreign { processes }, .. } => {
                    let me = self.only.and_then(|me| self.model.users.get(&me));
                    processes.retain(|process| me.is_some_and(|me| me.os_name() == process.user));
                }
                Constraint::Gpu { .. }
                | Constraint::Held
                | Constraint::InDoubt { .. }
                | Constraint::Begins { .. }
                | Constraint::RetryAt { .. }
                | Constraint::QueuePaused
                | Constraint::ArrayLimit { .. }
                | Constraint::Quota(_)
                | Constraint::Node { .. }
                | Constraint::KeepGpuMemory { .. }
                | Constraint::TasksPerGpu { .. }
                | Constraint::Asks(_)
                | Constraint::NoNodes => {}
            }
        }
        why
    }

    fn runs(&self, runs: Vec<RunId>) -> Vec<RunId> {
        runs.into_iter().filter(|run| self.run(*run)).collect()
    }

    /// `None` if the caller may not see the event.
    pub(crate) fn event(&self, event: Event) -> Option<Event> {
        use Event::*;
        if self.only.is_none() {
            return Some(event);
        }
        match event {
            GpuQuarantined { node, gpu, why, owners: _ } => {
                Some(GpuQuarantined { node, gpu, why, owners: Vec::new() })
            }
            TasksMoved { mut tasks } => {
                tasks.retain(|id| self.task(*id));
                (!tasks.is_empty()).then_some(TasksMoved { tasks })
            }
            Booted { .. }
            | SettingsChanged
            | NodeAdded { .. }
            | NodeRemoved { .. }
            | NodeConnected { .. }
            | NodeReady { .. }
            | NodeLost { .. }
            | NodeResourcesChanged { .. }
            | NodeDraining { .. }
            | NodeLabelsChanged { .. }
            | NodeUnfit { .. }
            | NodeFit { .. }
            | NodeUndrained { .. }
            | GpusChanged { .. } => Some(event),
            NodeHasStrays { .. }
            | RunsDeclaredLost { .. }
            | IdsSkipped
            | NodeHasUnknownRuns { .. }
            | UnknownRunsStopping { .. }
            | UnknownRunsEnded { .. }
            | LateMessageIgnored { .. }
            | ProjectCharged { .. }
            | TasksRetired { .. }
            | TaskRecalled { .. }
            | LogDropped { .. } => None,
            UserAdded { user } | UserChanged { user } => self.user(user).then_some(event),
            TaskSubmitted { task, .. }
            | TasksSubmitted { first: task, .. }
            | TaskHeld { task }
            | TaskInDoubt { task, .. }
            | TaskReleased { task }
            | TaskUnblocked { task }
            | TaskRequeued { task, .. }
            | TaskRetried { task }
            | TaskDue { task }
            | TaskEdited { task, .. }
            | TaskExtended { task, .. }
            | RunKept { task, .. }
            | TaskFinished { task, .. }
            | TaskRemoved { task, .. }
            | RunLaunched { task, .. }
            | RunEnded { task, .. }
            | DecisionRejected { task, .. } => self.task(task).then_some(event),
            PartStarted { run, .. }
            | RunPaused { run }
            | RunResumed { run }
            | RunIdle { run, .. }
            | RunUsedAgain { run }
            | RunStopping { run, .. }
            | PartEnded { run, .. } => self.run(run).then_some(event),
        }
    }
}
