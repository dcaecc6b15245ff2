//! One piece of work that somebody asked for.

use crate::ids::{RunId, TaskId, UserId};
use crate::resources::Request;
use crate::run::Exit;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub owner: UserId,
    pub spec: Arc<TaskSpec>,
    pub submitted_at: Time,
    /// Makes a repeated submit answer with the same task.
    pub key: Option<String>,
    pub state: TaskState,
    /// Runs that really started, or may have.
    pub attempts: u32,
    /// Runs that ended in failure since the task was submitted or last retried by hand.
    pub failures: u32,
    /// Runs that vanished with their machine since then.
    pub losses: u32,
    /// How long earlier runs ran, for policies that ask for attained service.
    pub attained: Span,
    /// How much of that preempted runs have left for the next to go on from.
    pub progress: Span,
    /// Work that stopping and starting again has added.
    pub restart_cost: Span,
    pub last_run: Option<RunId>,
}

/// What the submitter asked for. Never changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSpec {
    pub name: String,
    pub command: Vec<String>,
    pub request: Request,
    pub time_limit: Option<Span>,
    /// How long it is believed to run, where somebody knows better than the time limit.
    pub expected: Option<Span>,
    pub retries: u32,
    pub preemptible: bool,
    pub urgent: bool,
    /// Smaller is earlier.
    pub priority: i32,
    pub after: Vec<Dependency>,
    pub hold: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dependency {
    pub task: TaskId,
    pub kind: DependencyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DependencyKind {
    AfterOk,
    AfterAny,
    AfterNotOk,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Held,
    Blocked { on: BTreeSet<TaskId> },
    Queued { since: Time },
    Active { run: RunId },
    Finished { outcome: Outcome, at: Time },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Succeeded,
    Failed {
        exit: Exit,
    },
    Cancelled {
        by: Canceller,
    },
    TimedOut,
    DependencyFailed {
        on: TaskId,
    },
    /// Its machine was lost again and again.
    GaveUp {
        attempts: u32,
    },
    LaunchError {
        message: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Canceller {
    User(UserId),
    Daemon,
}

pub const DEFAULT_PRIORITY: i32 = 5;

impl Default for TaskSpec {
    fn default() -> Self {
        TaskSpec {
            name: String::new(),
            command: Vec::new(),
            request: Request::default(),
            time_limit: None,
            expected: None,
            retries: 0,
            preemptible: false,
            urgent: false,
            priority: DEFAULT_PRIORITY,
            after: Vec::new(),
            hold: false,
        }
    }
}

impl Task {
    pub fn is_queued(&self) -> bool {
        matches!(self.state, TaskState::Queued { .. })
    }

    pub fn is_finished(&self) -> bool {
        matches!(self.state, TaskState::Finished { .. })
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            TaskState::Finished { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    /// How much longer it is believed to run from its next start; `None` when nobody knows.
    pub fn expected_remaining(&self) -> Option<Span> {
        let total = self.spec.expected.or(self.spec.time_limit)? + self.restart_cost;
        Some(total.saturating_sub(self.progress))
    }
}

impl Dependency {
    /// Whether an outcome releases the waiting task (`Some(true)`) or ends it (`Some(false)`).
    pub(crate) fn allows(self, outcome: &Outcome) -> bool {
        let ok = matches!(outcome, Outcome::Succeeded);
        match self.kind {
            DependencyKind::AfterOk => ok,
            DependencyKind::AfterAny => true,
            DependencyKind::AfterNotOk => !ok,
        }
    }
}
