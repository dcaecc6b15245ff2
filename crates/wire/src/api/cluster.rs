//! Machines and GPUs.

use super::{TaskStateName, TaskView};
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
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nodes {
    pub nodes: Vec<NodeView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// `GET /status`: totals, node by node, and what runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    pub nodes: usize,
    /// How many are in each state, and `total`.
    pub gpus: BTreeMap<String, usize>,
    pub tasks: BTreeMap<TaskStateName, usize>,
    pub per_node: Vec<NodeView>,
    pub running: Vec<TaskView>,
}
