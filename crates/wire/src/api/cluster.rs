//! Machines and GPUs.

use super::{GpuStateName, GpuTotals, MaybeNewer, NodeStateName, Notice, TaskStateName, TaskView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Gpus {
    pub gpus: Vec<GpuView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GpuView {
    pub node: String,
    pub index: u32,
    pub uuid: String,
    pub model: String,
    pub state: GpuStateName,
    pub memory_total: u64,
    pub memory_used: Option<u64>,
    pub utilization: Option<u32>,
    pub temperature: Option<u32>,
    pub power: Option<u32>,
    pub tasks: Vec<u64>,
    pub foreign: Vec<ForeignView>,
    /// How many tasks share it by count.
    pub slots: u32,
    /// It is held and not used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<super::IdleView>,
    /// Why it is not assigned, where the state does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Other machines that report the same GPU: none of them gives it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_on: Vec<String>,
}

/// `POST /gpus/act`: which GPUs are given out, and to how many tasks at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GpuAct {
    /// By name; left out where there is only one.
    pub node: Option<String>,
    /// By their numbers, as all here.
    pub enable: BTreeSet<u32>,
    pub disable: BTreeSet<u32>,
    pub slots: BTreeMap<u32, u16>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignView {
    pub pid: u32,
    pub user: String,
    pub command: String,
    pub memory: Option<u64>,
    /// It was stopped (Ctrl-Z) and keeps what it has.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nodes {
    pub nodes: Vec<NodeView>,
    /// What has to be known about the server itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodeView {
    pub name: String,
    pub state: NodeStateName,
    pub schedulable: bool,
    pub cpus: u32,
    pub memory_total: u64,
    pub memory_used: Option<u64>,
    pub gpus: usize,
    pub gpus_free: usize,
    pub tasks: Vec<u64>,
    pub version: Option<String>,
    pub last_contact_at: Option<String>,
    /// How it is reached: `local`, by SSH as whom, or `dials in`.
    #[serde(default)]
    pub route: String,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    #[serde(default)]
    pub host_name: Option<String>,
    /// How far its clock is ahead of the server's, in milliseconds.
    #[serde(default)]
    pub clock_ahead_ms: Option<i64>,
    /// Of the last minute.
    #[serde(default)]
    pub load: Option<f64>,
    #[serde(default)]
    pub disk_free: Option<u64>,
    #[serde(default)]
    pub disk_total: Option<u64>,
    #[serde(default)]
    pub received: Option<u64>,
    #[serde(default)]
    pub sent: Option<u64>,
    /// How it asks about its GPUs, or why it has none.
    #[serde(default)]
    pub probe: Option<String>,
    #[serde(default)]
    pub system: Option<String>,
    /// Why it cannot be reached, or what is odd about it.
    #[serde(default)]
    pub problem: Option<String>,
    #[serde(default)]
    pub hint: Option<String>,
    /// Since when its connection has been as it is.
    #[serde(default)]
    pub since: Option<String>,
    /// Other names under which this machine seems to be listed, by its machine id, boot id or address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same_as: Vec<String>,
    /// Which metrics of the administrator's own cannot be measured there, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_metrics: Vec<String>,
    #[serde(default)]
    pub role: MaybeNewer<NodeRole>,
}

/// `GET /status`: totals, node by node, and what runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    pub nodes: usize,
    /// How many are in each state, and `total`.
    pub gpus: GpuTotals,
    pub tasks: BTreeMap<TaskStateName, usize>,
    pub per_node: Vec<NodeView>,
    pub running: Vec<TaskView>,
    /// What has to be known about the server itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<Notice>,
}

/// `POST /nodes`: a machine that is reached by SSH, or that dials in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewNode {
    pub name: String,
    /// `user@host:port`; user and port may be left out.
    pub ssh: Option<String>,
    /// Its agent connects to the server by itself, with a token that the answer tells this once.
    pub dial_in: bool,
    /// The file of a private key, on the server.
    pub identity: Option<String>,
    pub labels: BTreeMap<String, String>,
    /// Take the host key that it shows the first time.
    pub accept_new_key: bool,
    /// Become root there by `sudo -n`.
    pub sudo: bool,
    /// Where it keeps its runs.
    pub data: Option<String>,
    /// The program to ask about GPUs where there is no library.
    pub probe: Option<String>,
    /// Fewer are worth a warning.
    pub expect_gpus: Option<u32>,
    /// So many simulated GPUs instead of real ones.
    pub sim_gpus: Option<u32>,
    /// What it is for; with `data` it gets no tasks.
    pub role: NodeRole,
    /// A directory that the server and this machine share: logs go there.
    pub logs: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeRole {
    #[default]
    Tasks,
    /// Files only.
    Data,
}

/// `PATCH /nodes/{name}`: what is not given stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NodeChange {
    pub ssh: Option<String>,
    pub identity: Option<String>,
    pub accept_new_key: Option<bool>,
    pub sudo: Option<bool>,
    pub data: Option<String>,
    pub probe: Option<String>,
    pub expect_gpus: Option<u32>,
    pub role: Option<NodeRole>,
    pub logs: Option<String>,
}

/// The answer to `POST /nodes`, and to `POST /nodes/{name}/token`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AddedNode {
    pub node: NodeView,
    /// For its agent, where it dials in. Told this once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// Where the agent finds the server.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<String>,
}

impl std::fmt::Debug for AddedNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AddedNode").field("node", &self.node).finish_non_exhaustive()
    }
}

/// `GET /nodes/{name}`, and the answer to most that is done with one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneNode {
    pub node: NodeView,
}

/// `POST /nodes/{name}/labels`: a value for each, or `null` for one that goes; the others stay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LabelChange {
    pub labels: BTreeMap<String, Option<String>>,
}

/// `POST /nodes/{name}/declare-lost`: what ran there has failed, though it may still be running.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeclareLost {
    /// Also if it has not been away for as long as the setting `lost_after` says.
    pub force: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredLost {
    pub name: String,
    /// Whose runs were there.
    pub tasks: Vec<u64>,
}

/// `POST /nodes/{name}/check`: how far one gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeCheck {
    pub name: String,
    pub steps: Vec<CheckedStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedStep {
    pub step: CheckStep,
    pub ok: bool,
    pub message: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// What is checked about a node, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckStep {
    /// Connecting and logging in.
    Reach,
    /// Copying the program.
    Upload,
    /// Starting the agent.
    Start,
    /// Exchanging versions.
    Greet,
    /// Whom tasks can run as.
    Login,
    Clock,
    Disk,
    Driver,
    Gpus,
    /// Whether the same machine is listed under another name.
    Machine,
    /// A step that only a newer server knows.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl CheckStep {
    pub fn as_str(self) -> &'static str {
        match self {
            CheckStep::Reach => "reach",
            CheckStep::Upload => "upload",
            CheckStep::Start => "start",
            CheckStep::Greet => "greet",
            CheckStep::Login => "login",
            CheckStep::Clock => "clock",
            CheckStep::Disk => "disk",
            CheckStep::Driver => "driver",
            CheckStep::Gpus => "gpus",
            CheckStep::Machine => "machine",
            CheckStep::Unknown => "unknown",
        }
    }
}
