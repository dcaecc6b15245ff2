//! Tasks and their runs, one or many.

use super::{GpuCounts, MaybeNewer, Notice, PartStateName, RunStateName, TaskStateName};
use danlu_core::idle::IdleKind;
use danlu_core::notify_rule::NotifyRule;
use danlu_core::task::{Dependency, Output, PythonEnvironment};
use danlu_core::{FailureClass, Request, WaitReason};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tasks {
    pub tasks: Vec<TaskView>,
    /// How many there are in all that the filters let through.
    pub total: usize,
    /// There are more than that: so many that counting them would take too long.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_than_total: bool,
    /// The id of the first row that follows.
    pub next: Option<u64>,
    /// To be given as `cursor` for the rows that follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// What a list of tasks is sorted by: the newest, latest or longest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskSort {
    #[default]
    Id,
    /// When they ended; those that have not ended come before the latest.
    Ended,
    /// How long they ran.
    Ran,
}

impl TaskSort {
    pub const ALL: [TaskSort; 3] = [TaskSort::Id, TaskSort::Ended, TaskSort::Ran];

    pub fn as_str(self) -> &'static str {
        match self {
            TaskSort::Id => "id",
            TaskSort::Ended => "ended",
            TaskSort::Ran => "ran",
        }
    }
}

/// `GET /overview`: what runs, what waits and what has ended of late, arrays folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overview {
    /// Who asks.
    pub user: String,
    /// Of who asks, whatever the filters are.
    pub running: usize,
    pub running_gpus: u32,
    pub waiting: usize,
    /// How many GPUs are in each state.
    pub gpus: GpuCounts,
    pub lines: Vec<Line>,
    /// Tasks that run or wait and have no line.
    pub not_shown: usize,
    /// Lines of waiting tasks that come before these.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines_before: usize,
    /// To be given as `cursor` for the lines of waiting tasks that follow. Pages after the first have no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What has to be known about the server itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// A task, or an array as one of its elements and a summary of all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    pub task: TaskView,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayLine>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ArrayLine {
    pub first: u64,
    pub last: u64,
    /// In order, each from the first of a range to its last.
    pub indices: Vec<(u32, u32)>,
    pub counts: BTreeMap<TaskStateName, usize>,
    /// When the longest running one of those that run began.
    pub running_since: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OneTask {
    pub task: TaskView,
}

/// `GET /wait`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Waited {
    #[serde(flatten)]
    pub tasks: Tasks,
    /// Those that have neither been in one of the states nor ended; `None` from servers that wait for ends only.
    pub pending: Option<Vec<u64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    pub id: u64,
    pub name: String,
    pub user: String,
    pub state: TaskStateName,
    /// In words, while it waits, and after an end that needs words.
    pub why: Option<String>,
    /// The same for programs. `None` also for a reason that only a newer server knows.
    #[serde(default, deserialize_with = "if_known")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub wait: Option<WaitReason>,
    pub command: Vec<String>,
    pub shell: bool,
    /// In all.
    pub gpus: u32,
    /// Several with commas between them.
    pub node: Option<String>,
    /// Of a task on several machines, those of one after those of the other; `parts` of its runs tells them apart.
    pub gpu_ids: Vec<u32>,
    pub submitted_at: String,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub exit_code: Option<i32>,
    pub failure: Option<Failure>,
    pub attempt: u32,
    pub array: Option<u64>,
    pub index: Option<u32>,
    /// What the names of its sweep stand for in it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub grid: BTreeMap<String, String>,
    pub priority: i32,
    pub urgent: bool,
    pub project: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub time_limit: Option<u64>,
    /// Its directory and outputs, when a file system among theirs does not answer. Looked at only for a single task that
    /// waits or starts, and for who may see inside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent_paths: Vec<String>,
    /// It holds GPUs and does not use them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleView>,
    /// Until then nothing is done about that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_until: Option<String>,
    /// Only of a single task.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub details: Option<TaskDetails>,
}

/// GPUs that are held and not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleView {
    pub since: String,
    #[schemars(schema_with = "idle_kind")]
    pub kind: MaybeNewer<IdleKind>,
    /// In words.
    pub why: String,
}

/// What lists leave out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskDetails {
    pub description: String,
    pub directory: String,
    /// The shell that was chosen for a shell line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell_program: Option<String>,
    #[schemars(with = "serde_json::Value")]
    pub request: Request,
    #[schemars(with = "Vec<serde_json::Value>")]
    pub after: Vec<Dependency>,
    pub retries: u32,
    #[serde(default)]
    #[schemars(with = "BTreeSet<String>")]
    pub retry_on: BTreeSet<FailureClass>,
    #[serde(default)]
    pub begin: Option<String>,
    pub preemptible: bool,
    /// Who is told of it; the owner and admins see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<serde_json::Value>")]
    pub notify: Vec<NotifyRule>,
    #[schemars(with = "serde_json::Value")]
    pub output: Output,
    pub gpu_argument: Option<String>,
    pub gpus_by_uuid: bool,
    #[serde(default)]
    #[schemars(with = "Option<serde_json::Value>")]
    pub python: Option<PythonEnvironment>,
    /// The file mode creation mask; left out: the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
    pub variables: BTreeMap<String, String>,
    pub runs: Vec<RunView>,
    /// Of the submitter; the owner and admins see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    #[schemars(schema_with = "failure_class")]
    pub class: MaybeNewer<FailureClass>,
    pub evidence: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// As its directory is called.
    pub run: String,
    pub attempt: u32,
    pub state: RunStateName,
    pub nodes: Vec<String>,
    pub gpu_ids: Vec<u32>,
    /// What it does on each machine, if there are several; the first has rank 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartView>,
    pub started_at: Option<String>,
    pub ended_at: Option<String>,
    pub exit_code: Option<i32>,
    pub exit: Option<String>,
    /// Why it failed, or that it was stopped for others.
    #[serde(default)]
    pub failure: Option<Failure>,
    /// The most bytes that it was seen to use of a GPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_gpu_memory: Option<u64>,
    /// The CPU time of all its processes in milliseconds, over all machines; known when it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_time_ms: Option<u64>,
    /// Bytes of host memory at its peak on one machine: of all its processes where the machine has memory control groups, else
    /// of the largest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// Bytes of the log that is kept, over all machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_bytes: Option<u64>,
    /// What it made of what it held, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<super::Efficiency>,
}

/// What a run does on one of several machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartView {
    pub node: String,
    pub gpu_ids: Vec<u32>,
    pub state: PartStateName,
    pub exit_code: Option<i32>,
    pub exit: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

fn idle_kind(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = IdleKind::ALL.iter().map(|kind| kind.as_str()).collect();
    json_schema!({ "type": "string", "enum": names })
}

fn failure_class(_: &mut SchemaGenerator) -> Schema {
    let names: Vec<&str> = FailureClass::ALL.iter().map(|class| class.as_str()).collect();
    json_schema!({ "type": "string", "enum": names })
}

fn if_known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<WaitReason>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| WaitReason::deserialize(value).ok()))
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
            Succeeded, TimedOut, Unknown,
        };
        let order = [
            Running, Starting, Stopping, Lost, Paused, Queued, Blocked, Held, Unknown, Failed,
            TimedOut, Cancelled, Succeeded,
        ];
        order.into_iter().find(|state| self.counts.contains_key(state)).unwrap_or(Succeeded)
    }
}
