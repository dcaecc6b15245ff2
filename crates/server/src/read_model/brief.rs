//! The few bytes of a task that most lists need.

use danlu_core::task::{Outcome, TaskState};
use danlu_core::{Task, UserId};
use danlu_wire::api::TaskStateName;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brief {
    pub owner: UserId,
    pub state: BriefState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BriefState {
    Waiting(TaskStateName),
    /// Its run tells more.
    Active,
    Ended(TaskStateName),
}

/// The state of a task that has ended so.
pub(crate) fn outcome_name(outcome: &Outcome) -> TaskStateName {
    match outcome {
        Outcome::Succeeded => TaskStateName::Succeeded,
        Outcome::Failed { .. } | Outcome::GaveUp { .. } | Outcome::LaunchError { .. } => {
            TaskStateName::Failed
        }
        Outcome::Cancelled { .. } | Outcome::DependencyFailed { .. } => TaskStateName::Cancelled,
        Outcome::TimedOut => TaskStateName::TimedOut,
    }
}

impl Brief {
    pub(super) fn of(task: &Task) -> Brief {
        let state = match &task.state {
            TaskState::Held => BriefState::Waiting(TaskStateName::Held),
            TaskState::Blocked { .. } => BriefState::Waiting(TaskStateName::Blocked),
            TaskState::Queued { .. } => BriefState::Waiting(TaskStateName::Queued),
            TaskState::Active { .. } => BriefState::Active,
            TaskState::Finished { outcome, .. } => BriefState::Ended(outcome_name(outcome)),
        };
        Brief { owner: task.owner, state }
    }

    pub fn is_over(&self) -> bool {
        matches!(self.state, BriefState::Ended(_))
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self.state, BriefState::Waiting(_))
    }
}
