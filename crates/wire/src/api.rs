//! The bodies of `/api/v1`: what the server answers and what clients send.
//!
//! Times are RFC 3339, lengths of time seconds, sizes bytes. Every document has `"v": 1`; fields may be
//! added, none changes or goes away within a version.

use danlu_core::task::{Dependency, Output};
use danlu_core::{FailureClass, Request, WaitReason};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub const VERSION: u32 = 1;

/// The socket and the TCP listener refuse larger bodies.
pub const MOST_BODY_BYTES: usize = 8 << 20;
/// Rows of a list in one answer, unless less is asked for.
pub const MOST_ROWS: usize = 1_000;

/// Instead of a user's name: who asks.
pub const ME: &str = "@me";

/// A document with its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document<T> {
    pub v: u32,
    #[serde(flatten)]
    pub content: T,
}

impl<T> Document<T> {
    pub fn new(content: T) -> Document<T> {
        Document { v: VERSION, content }
    }
}

/// `POST /tasks`. What is left out takes its default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Submit {
    pub name: String,
    pub description: String,
    pub project: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// One word each; with `shell` exactly one, the line.
    pub command: Vec<String>,
    pub shell: bool,
    pub directory: String,
    /// The whole environment of the submitter, `NAME=value` each.
    pub environment: Vec<String>,
    /// Set on top of it.
    pub variables: BTreeMap<String, String>,
    /// `gpus` left out: 1 where some node has GPUs, else 0.
    pub gpus: Option<u32>,
    #[serde(flatten)]
    pub request: Needs,
    pub time_limit: Option<u64>,
    /// Left out: as the setting `default_retries` says.
    pub retries: Option<u32>,
    /// After these failures only; empty: as the setting `retry_on` says.
    pub retry_on: BTreeSet<FailureClass>,
    /// Not before this time.
    pub begin: Option<String>,
    pub preemptible: bool,
    pub urgent: bool,
    pub priority: Option<i32>,
    pub after: Vec<Dependency>,
    pub hold: bool,
    pub array: Option<Array>,
    pub output: Output,
    pub gpu_argument: Option<String>,
    pub gpus_by_uuid: bool,
    /// Say where and when it would start instead of queueing it.
    pub dry_run: bool,
}

/// What a task needs besides the number of GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Needs {
    pub cpus: Option<u32>,
    pub memory: u64,
    pub gpu_memory: u64,
    /// With others on the same GPUs, each with `gpu_memory` of it.
    pub shared: bool,
    /// Percent that must have been idle of late on a GPU that it shares.
    pub idle_util: u8,
    /// The whole GPU, also where several tasks share one by count.
    pub exclusive: bool,
    pub gpu_model: Option<String>,
    pub node: Option<danlu_core::resources::NodeSelector>,
    /// These GPUs by their numbers; if there are more of them than `gpus`, that is raised.
    pub gpu_ids: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Array {
    pub indices: Vec<u32>,
    pub at_once: Option<u32>,
}

/// The answer to `POST /tasks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The first one's of an array.
    pub id: u64,
    /// How many tasks there are; their ids follow each other.
    pub count: u64,
}

/// The answer to `GET /reports/predictions`: how good they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Predictions {
    pub predictions: PredictionsView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictionsView {
    /// Of how long tasks run.
    pub durations: AccuracyView,
    /// Of how long they wait.
    pub starts: AccuracyView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccuracyView {
    /// Tasks for which there was a prediction.
    pub compared: u64,
    /// The share of them, from 0 to 1, that was off by at most a quarter; `None` without any.
    pub within_25_percent: Option<f64>,
    /// How much more was predicted than came, in sum: 0.5 is half as much again.
    pub bias: Option<f64>,
}

/// The answer to `POST /tasks` with `dry_run`: nothing was queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DryRun {
    pub dry_run: WouldStart,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WouldStart {
    /// At once.
    pub now: bool,
    /// At the latest, as far as time limits tell; `None` when nobody knows.
    pub expected_start_at: Option<String>,
    /// Where, if at once.
    pub node: Option<String>,
    pub gpu_ids: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tasks {
    pub tasks: Vec<TaskView>,
    /// How many there are in all that the filters let through.
    pub total: usize,
    /// To be given as `cursor` for the rows that follow.
    pub next: Option<u64>,
}

/// `GET /overview`: what runs, what waits and what has ended of late, arrays folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overview {
    /// Who asks.
    pub user: String,
    /// Of who asks, whatever the filters are.
    pub running: usize,
    pub running_gpus: u32,
    pub waiting: usize,
    /// How many GPUs are in each state.
    pub gpus: BTreeMap<String, usize>,
    pub lines: Vec<Line>,
    /// Tasks that run or wait and have no line.
    pub not_shown: usize,
}

/// A task, or an array as one of its elements and a summary of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    pub task: TaskView,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArrayLine {
    pub first: u64,
    pub last: u64,
    /// In order, each from the first of a range to its last.
    pub indices: Vec<(u32, u32)>,
    pub counts: BTreeMap<TaskStateName, usize>,
    /// When the longest running one of those that run began.
    pub running_since: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneTask {
    pub task: TaskView,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskView {
    pub id: u64,
    pub name: String,
    pub user: String,
    pub state: TaskStateName,
    /// In words, while it waits, and after an end that needs words.
    pub why: Option<String>,
    /// The same for programs.
    pub wait: Option<WaitReason>,
    pub command: Vec<String>,
    pub shell: bool,
    pub gpus: u32,
    pub node: Option<String>,
    pub gpu_ids: Vec<u32>,
    pub submitted_at: String,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub exit_code: Option<i32>,
    pub failure: Option<Failure>,
    pub attempt: u32,
    pub array: Option<u64>,
    pub index: Option<u32>,
    pub priority: i32,
    pub urgent: bool,
    pub project: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub time_limit: Option<u64>,
    /// Only of a single task.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<TaskDetails>,
}

/// What lists leave out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskDetails {
    pub description: String,
    pub directory: String,
    pub request: Request,
    pub after: Vec<Dependency>,
    pub retries: u32,
    #[serde(default)]
    pub retry_on: BTreeSet<FailureClass>,
    #[serde(default)]
    pub begin: Option<String>,
    pub preemptible: bool,
    pub output: Output,
    pub gpu_argument: Option<String>,
    pub gpus_by_uuid: bool,
    pub variables: BTreeMap<String, String>,
    pub runs: Vec<RunView>,
    /// Of the submitter; the owner and admins see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Vec<String>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStateName {
    Held,
    Blocked,
    Queued,
    Starting,
    Running,
    Paused,
    Stopping,
    Lost,
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: String,
    pub evidence: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunView {
    /// As its directory is called.
    pub run: String,
    pub attempt: u32,
    pub state: String,
    pub nodes: Vec<String>,
    pub gpu_ids: Vec<u32>,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub exit_code: Option<i32>,
    pub exit: Option<String>,
    /// Why it failed, or that it was stopped for others.
    #[serde(default)]
    pub failure: Option<Failure>,
}

/// `POST /tasks/act`: the same for many tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Act {
    pub act: ActName,
    pub ids: Vec<u64>,
    /// For `move`.
    #[serde(default)]
    pub position: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActName {
    Cancel,
    Hold,
    Release,
    Pause,
    Resume,
    Retry,
    Start,
    Move,
    Remove,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acted {
    pub results: Vec<ActResult>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActResult {
    pub id: u64,
    /// Left out when it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpus {
    pub gpus: Vec<GpuView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuView {
    pub node: String,
    pub index: u32,
    pub uuid: String,
    pub model: String,
    pub state: String,
    pub memory_total: u64,
    pub memory_used: Option<u64>,
    pub utilization: Option<u32>,
    pub temperature: Option<u32>,
    pub power: Option<u32>,
    pub tasks: Vec<u64>,
    pub foreign: Vec<ForeignView>,
    /// How many tasks share it by count.
    pub slots: u32,
    /// Why nobody gets it, where its state does not say it all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// `POST /gpus/act`: which GPUs are given out, and to how many tasks at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpuAct {
    /// By name; left out where there is only one.
    pub node: Option<String>,
    /// By their numbers, as all here.
    pub enable: BTreeSet<u32>,
    pub disable: BTreeSet<u32>,
    pub slots: BTreeMap<u32, u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignView {
    pub pid: u32,
    pub user: String,
    pub command: String,
    pub memory: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nodes {
    pub nodes: Vec<NodeView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeView {
    pub name: String,
    pub state: String,
    pub schedulable: bool,
    pub cpus: u32,
    pub memory_total: u64,
    pub memory_used: Option<u64>,
    pub gpus: usize,
    pub gpus_free: usize,
    pub tasks: Vec<u64>,
    pub version: Option<String>,
    pub last_contact_at: Option<String>,
}

/// An answer that says no: `{"error": {...}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorDocument {
    pub error: ErrorBody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    pub code: ErrorCode,
    pub message: String,
    pub hint: String,
}

/// Each has its HTTP status and its exit status of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself makes no sense.
    BadRequest,
    Unauthenticated,
    NotPermitted,
    NotFound,
    /// Understood, and refused.
    Refused,
    TooLarge,
    /// Not now; later perhaps.
    Unavailable,
    Internal,
}

impl ErrorCode {
    pub fn http_status(self) -> u16 {
        match self {
            ErrorCode::BadRequest => 400,
            ErrorCode::Unauthenticated => 401,
            ErrorCode::NotPermitted => 403,
            ErrorCode::NotFound => 404,
            ErrorCode::Refused => 409,
            ErrorCode::TooLarge => 413,
            ErrorCode::Unavailable => 503,
            ErrorCode::Internal => 500,
        }
    }

    pub fn exit_status(self) -> u8 {
        match self {
            ErrorCode::BadRequest => 2,
            ErrorCode::Unauthenticated | ErrorCode::NotPermitted => 77,
            ErrorCode::NotFound => 69,
            ErrorCode::Refused | ErrorCode::TooLarge => 64,
            ErrorCode::Unavailable => 75,
            ErrorCode::Internal => 70,
        }
    }
}

/// Numbers in any order as ranges, each from its first to its last.
pub fn ranges(numbers: impl IntoIterator<Item = u32>) -> Vec<(u32, u32)> {
    let mut sorted: Vec<u32> = numbers.into_iter().collect();
    sorted.sort_unstable();
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in sorted {
        match ranges.last_mut() {
            Some((_, last)) if last.saturating_add(1) >= number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

impl ArrayLine {
    pub fn len(&self) -> usize {
        self.counts.values().sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where it stands as a whole: what runs comes before what waits, and a failure before a success.
    pub fn state(&self) -> TaskStateName {
        use TaskStateName::{
            Blocked, Cancelled, Failed, Held, Lost, Paused, Queued, Running, Starting, Stopping,
            Succeeded, TimedOut,
        };
        let order = [
            Running, Starting, Stopping, Lost, Paused, Queued, Blocked, Held, Failed, TimedOut,
            Cancelled, Succeeded,
        ];
        order.into_iter().find(|state| self.counts.contains_key(state)).unwrap_or(Succeeded)
    }
}

impl TaskStateName {
    pub const ALL: [TaskStateName; 12] = [
        TaskStateName::Held,
        TaskStateName::Blocked,
        TaskStateName::Queued,
        TaskStateName::Starting,
        TaskStateName::Running,
        TaskStateName::Paused,
        TaskStateName::Stopping,
        TaskStateName::Lost,
        TaskStateName::Succeeded,
        TaskStateName::Failed,
        TaskStateName::Cancelled,
        TaskStateName::TimedOut,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TaskStateName::Held => "held",
            TaskStateName::Blocked => "blocked",
            TaskStateName::Queued => "queued",
            TaskStateName::Starting => "starting",
            TaskStateName::Running => "running",
            TaskStateName::Paused => "paused",
            TaskStateName::Stopping => "stopping",
            TaskStateName::Lost => "lost",
            TaskStateName::Succeeded => "succeeded",
            TaskStateName::Failed => "failed",
            TaskStateName::Cancelled => "cancelled",
            TaskStateName::TimedOut => "timed_out",
        }
    }

    /// Has not run yet, or is to run again.
    pub fn is_waiting(self) -> bool {
        matches!(self, TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued)
    }

    pub fn is_over(self) -> bool {
        matches!(
            self,
            TaskStateName::Succeeded
                | TaskStateName::Failed
                | TaskStateName::Cancelled
                | TaskStateName::TimedOut
        )
    }
}
