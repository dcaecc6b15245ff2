//! A task: its description, its state and its history.

use crate::model::failure::FailureClass;
use crate::model::ids::{RunId, SpecId, TaskId, UserId};
use crate::model::notify_rule::NotifyRule;
use crate::model::resources::Request;
use crate::model::run::Exit;
use crate::model::shared::Shared;
use crate::model::time::{Span, Time};
use crate::model::trail::Trail;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// There may be a million of them: a test bounds its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub owner: UserId,
    /// Elements of an array share one. A store keeps it apart, in a row of its own.
    pub spec: Arc<TaskSpec>,
    pub spec_id: SpecId,
    pub submitted_at: Time,
    /// Makes a repeated submit answer with the same task.
    pub key: Option<Arc<str>>,
    /// Its description is no longer the one it was submitted with.
    pub edited: bool,
    pub array: Option<ArrayElement>,
    /// Its position among tasks of equal rank; its id unless it was moved.
    pub place: u64,
    /// Its urgency and priority were set by its owner: they count among the owner's tasks only.
    pub own_claims: bool,
    pub state: TaskState,
    /// Its run time as predicted from ended tasks when it was queued.
    pub predicted: Option<Span>,
    /// Absent until there is something to say.
    pub(crate) trail: Option<Box<Trail>>,
}

/// What the submitter asked for. Replaced as a whole when a waiting task is edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSpec {
    pub name: String,
    pub description: String,
    pub project: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub command: Vec<String>,
    /// Equal to those of many others, as the next: kept once ([`crate::state`]).
    pub launch: Shared<LaunchSpec>,
    pub request: Shared<Request>,
    pub time_limit: Option<Span>,
    /// The submitter's estimate of its run time, if better than the time limit.
    pub expected: Option<Span>,
    pub retries: u32,
    /// After these failures only; empty: as the settings say.
    pub retry_on: BTreeSet<FailureClass>,
    /// Not to be started before.
    pub begin: Option<Time>,
    pub preemptible: bool,
    pub urgent: bool,
    /// Smaller is earlier.
    pub priority: i32,
    pub after: Vec<Dependency>,
    pub hold: bool,
    /// One task for each index.
    pub array: Option<ArraySpec>,
    /// Who is told of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notify: Vec<NotifyRule>,
}

/// How to start the command. The core passes it on without looking into it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LaunchSpec {
    /// The command is one line for a shell.
    pub shell: bool,
    /// The shell (default: the user's own).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell_program: Option<String>,
    pub directory: String,
    /// The hash of the submitter's environment, which the store keeps.
    pub environment: Option<String>,
    /// Set on top of that.
    pub variables: BTreeMap<String, String>,
    pub output: Output,
    /// Appended to the command with the GPU numbers behind it.
    pub gpu_argument: Option<String>,
    /// `CUDA_VISIBLE_DEVICES` names GPUs by UUID instead of by number.
    pub gpus_by_uuid: bool,
    /// Whose programs and modules come first.
    pub python: Option<PythonEnvironment>,
    /// The umask, as the submitter's (default: the usual one).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PythonEnvironment {
    /// By its name, or by where it is.
    Conda(String),
    /// By where it is; also one of uv.
    Venv(String),
}

/// Where the command's output goes (default: the run directory).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Both streams; a directory gets `<task>.log`.
    pub both: Option<String>,
    pub stdout: Option<Stream>,
    pub stderr: Option<Stream>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    Append { path: String },
    Truncate { path: String },
    Discard,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArraySpec {
    pub indices: Vec<u32>,
    /// At most as many run at the same time.
    pub at_once: Option<u32>,
    /// A sweep: one index for each combination of these values, the last name's changing first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grid: Vec<Axis>,
}

/// A name and what it stands for in the elements of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    pub name: String,
    pub values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayElement {
    /// The id of the array's first task, which names the array.
    pub first: TaskId,
    pub index: u32,
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
    Finished { outcome: Box<Outcome>, at: Time },
}

/// Why it is unknown whether a task has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// The store was lost or restored from a backup: it may have run since.
    Restored,
    /// The record of its run is gone from the machine: it may have run to its end.
    NoRecord,
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
    /// The rule for GPUs that are held and not used.
    IdleRule,
}

pub const DEFAULT_PRIORITY: i32 = 5;

impl Default for TaskSpec {
    fn default() -> Self {
        TaskSpec {
            name: String::new(),
            description: String::new(),
            project: None,
            labels: BTreeMap::new(),
            command: Vec::new(),
            launch: Shared::default(),
            request: Shared::default(),
            time_limit: None,
            expected: None,
            retries: 0,
            retry_on: BTreeSet::new(),
            begin: None,
            preemptible: false,
            urgent: false,
            priority: DEFAULT_PRIORITY,
            after: Vec::new(),
            hold: false,
            array: None,
            notify: Vec::new(),
        }
    }
}

impl Task {
    pub fn is_queued(&self) -> bool {
        matches!(self.state, TaskState::Queued { .. })
    }

    /// Queued, and its time has come.
    pub fn is_due(&self) -> bool {
        self.is_queued() && self.trail().not_before.is_none()
    }

    pub fn is_finished(&self) -> bool {
        matches!(self.state, TaskState::Finished { .. })
    }

    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.state {
            TaskState::Finished { outcome, .. } => Some(outcome),
            TaskState::Held
            | TaskState::Blocked { .. }
            | TaskState::Queued { .. }
            | TaskState::Active { .. } => None,
        }
    }

    /// What the names of its sweep stand for in it.
    pub fn values(&self) -> Vec<(&str, &str)> {
        let array = self.spec.array.as_ref().zip(self.array);
        array.map_or_else(Vec::new, |(spec, element)| spec.values(element.index))
    }

    /// The array it belongs to and how many of that may run at once, where there is such a limit.
    pub(crate) fn throttle(&self) -> Option<(TaskId, usize)> {
        let at_once = self.spec.array.as_ref()?.at_once?;
        Some((self.array?.first, at_once as usize))
    }

    /// With what was added to it.
    pub fn time_limit(&self) -> Option<Span> {
        self.spec.time_limit.map(|limit| limit + self.trail().extra_time)
    }

    pub fn ended_at(&self) -> Option<Time> {
        match self.state {
            TaskState::Finished { at, .. } => Some(at),
            TaskState::Held
            | TaskState::Blocked { .. }
            | TaskState::Queued { .. }
            | TaskState::Active { .. } => None,
        }
    }

    /// How long it is expected to run from its next start; `None` if unknown.
    pub fn expected_remaining(&self) -> Option<Span> {
        let total = self.spec.expected.or(self.time_limit()).or(self.predicted)?;
        Some(self.remaining(total))
    }

    /// It has no stated run time: the estimate is a guess and may be far too short.
    pub(crate) fn is_guessed(&self) -> bool {
        self.spec.expected.is_none() && self.spec.time_limit.is_none()
    }

    /// What is left of so much work.
    pub(crate) fn remaining(&self, total: Span) -> Span {
        (total + self.trail().restart_cost).saturating_sub(self.trail().progress)
    }
}

impl ArraySpec {
    /// The number of combinations of values; `None` on overflow.
    pub fn combinations(grid: &[Axis]) -> Option<usize> {
        grid.iter().try_fold(1_usize, |product, axis| product.checked_mul(axis.values.len()))
    }

    /// What each name stands for in one element; nothing where there is no sweep.
    pub fn values(&self, index: u32) -> Vec<(&str, &str)> {
        let mut rest = index as usize;
        let mut values = Vec::with_capacity(self.grid.len());
        for Axis { name, values: all } in self.grid.iter().rev() {
            let value = all.get(rest % all.len().max(1)).map_or("", String::as_str);
            rest /= all.len().max(1);
            values.push((name.as_str(), value));
        }
        values.reverse();
        values
    }
}

impl Dependency {
    /// Whether an outcome releases the waiting task, or ends it.
    pub fn allows(self, outcome: &Outcome) -> bool {
        let ok = matches!(outcome, Outcome::Succeeded);
        match self.kind {
            DependencyKind::AfterOk => ok,
            DependencyKind::AfterAny => true,
            DependencyKind::AfterNotOk => !ok,
        }
    }
}
