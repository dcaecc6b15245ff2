//! A task on its way in, and what came of it.

use super::shapes;
use danlu_core::FailureClass;
use danlu_core::task::{Axis, Dependency, Output, PythonEnvironment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// `POST /tasks`. What is left out takes its default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Submit {
    pub name: String,
    pub description: String,
    pub project: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// One word each; with `shell` exactly one, the line.
    pub command: Vec<String>,
    pub shell: bool,
    /// The program that runs the line as `PROGRAM -c LINE`; left out: the login shell of the OS user if that is bash or zsh,
    /// else bash, else sh, as the machine has them.
    pub shell_program: Option<String>,
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
    #[schemars(schema_with = "shapes::failure_classes")]
    pub retry_on: BTreeSet<FailureClass>,
    /// Not before this time.
    pub begin: Option<String>,
    pub preemptible: bool,
    pub urgent: bool,
    pub priority: Option<i32>,
    #[schemars(schema_with = "shapes::dependencies")]
    pub after: Vec<Dependency>,
    pub hold: bool,
    pub array: Option<Array>,
    #[schemars(schema_with = "shapes::output")]
    pub output: Output,
    pub gpu_argument: Option<String>,
    pub gpus_by_uuid: bool,
    /// Whose programs and modules come first: `{"conda": "NAME"}` or `{"venv": "PATH"}`.
    #[schemars(schema_with = "shapes::python")]
    pub python: Option<PythonEnvironment>,
    /// The file mode creation mask of the command, as a number (`0o027` is 23); left out: `0o022`.
    pub umask: Option<u32>,
    /// Say where and when it would start instead of queueing it.
    pub dry_run: bool,
}

/// What a task needs besides the number of GPUs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
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
    /// On so many machines at once: all of them or none. `gpus`, `cpus` and `memory` are of each.
    pub nodes: u32,
    #[schemars(schema_with = "shapes::node")]
    pub node: Option<danlu_core::resources::NodeSelector>,
    /// There if there is room, elsewhere if not.
    #[schemars(schema_with = "shapes::node")]
    pub prefer: Option<danlu_core::resources::NodeSelector>,
    /// So many of each named thing that a node has.
    pub resources: BTreeMap<String, u32>,
    /// These GPUs by their numbers; if there are more of them than `gpus`, that is raised.
    pub gpu_ids: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Left out with a `grid`: one for each combination.
    #[serde(default)]
    pub indices: Vec<u32>,
    pub at_once: Option<u32>,
    /// A sweep over all combinations of these values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes::grid")]
    pub grid: Vec<Axis>,
}

/// The answer to `POST /tasks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submitted {
    /// The first one's of an array.
    pub id: u64,
    /// How many tasks there are; their ids follow each other.
    pub count: u64,
    /// The file system of its directory or of an output did not answer in time, so that nobody knows whether they are there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paths_unanswered: bool,
}

/// The answer to `POST /tasks` with `dry_run`: nothing was queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DryRun {
    pub dry_run: WouldStart,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WouldStart {
    /// At once.
    pub now: bool,
    /// At the latest, as far as time limits tell; `None` when nobody knows.
    pub expected_start_at: Option<String>,
    /// Where, if at once.
    pub node: Option<String>,
    pub gpu_ids: Vec<u32>,
    /// The most bytes of a GPU that this command was seen to use, if it has run before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt_gpu_memory: Option<u64>,
}
