//! Why a job waits or failed, in Slurm's words: `Priority`, `Resources`, `Dependency`.

use danlu_core::WaitReason;
use danlu_wire::api::{TaskStateName, TaskView};

use crate::state::JobState;

/// `None` where there is nothing to say.
pub fn reason(task: &TaskView) -> &'static str {
    match task.state {
        TaskStateName::Held => "JobHeldUser",
        TaskStateName::Blocked => "Dependency",
        TaskStateName::Queued => task.wait.as_ref().map_or("None", waiting),
        TaskStateName::Failed | TaskStateName::TimedOut => match JobState::of(task) {
            Some(JobState::Timeout) => "TimeLimit",
            Some(JobState::OutOfMemory) => "OutOfMemory",
            Some(JobState::NodeFail) => "NodeDown",
            _ => "NonZeroExitCode",
        },
        TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Succeeded
        | TaskStateName::Cancelled
        | TaskStateName::Unknown => "None",
    }
}

fn waiting(why: &WaitReason) -> &'static str {
    match why {
        WaitReason::Held => "JobHeldUser",
        WaitReason::InDoubt { .. } => "JobHeldAdmin",
        WaitReason::Begins { .. } | WaitReason::RetryAt { .. } => "BeginTime",
        WaitReason::Dependencies { .. } => "Dependency",
        WaitReason::NoNodes
        | WaitReason::NeverFits
        | WaitReason::NodesUnavailable { .. }
        | WaitReason::NodesUnfit { .. } => "ReqNodeNotAvail",
        WaitReason::GpusOnSeveralNodes { .. }
        | WaitReason::GpusUnavailable { .. }
        | WaitReason::GpusDisabled { .. }
        | WaitReason::NodesShortOfMemory { .. }
        | WaitReason::Settling
        | WaitReason::GpusBusy
        | WaitReason::Resources { .. }
        | WaitReason::TooFewNodes { .. } => "Resources",
        WaitReason::NamedResources { .. } => "Licenses",
        WaitReason::QueuePaused => "PartitionDown",
        WaitReason::ArrayLimit { .. } => "JobArrayTaskLimit",
        WaitReason::Behind { .. } | WaitReason::WouldDelay { .. } | WaitReason::Outranked => {
            "Priority"
        }
        WaitReason::Quota(_) => "QOSMaxGRESPerUser",
        WaitReason::AboutToStart => "None",
    }
}
