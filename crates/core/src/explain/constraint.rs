//! The constraints that can keep a task from starting, as data.
//!
//! Each constraint names what would have to change; `lift.rs` makes exactly that change to a copy of the state.

use crate::model::gpu::ForeignProcess;
use crate::model::ids::{GpuId, NodeId, RunId, TaskId};
use crate::model::number::fraction::Fraction;
use crate::model::resources::NodeSelector;
use crate::model::task::Doubt;
use crate::model::time::Time;
use crate::model::trouble::Trouble;
use crate::schedule::quota::Excess;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "constraint")]
pub enum Constraint {
    /// Held until it is released.
    Held,
    /// Held because it may already have run.
    InDoubt {
        why: Doubt,
    },
    /// These have not ended, or not as needed.
    Dependencies {
        on: Vec<TaskId>,
    },
    Begins {
        at: Time,
    },
    RetryAt {
        at: Time,
    },
    QueuePaused,
    /// The array's limit of running elements is reached.
    ArrayLimit {
        at_once: u32,
    },
    Quota(Excess),
    /// The memory that this run takes of a shared GPU is not known yet.
    Settling(Holder),
    /// This run holds what the task needs.
    RunEnds(Holder),
    Gpu {
        node: NodeName,
        gpu: GpuName,
        why: GpuObstacle,
    },
    Node {
        node: NodeName,
        why: NodeObstacle,
    },
    /// The fraction of a shared GPU's memory that stays free.
    KeepGpuMemory {
        share: Fraction,
    },
    TasksPerGpu {
        most: u32,
    },
    /// It requests more than exists, even if all runs ended and all nodes came back.
    Asks(Attribute),
    /// Other tasks come first.
    Turn {
        ahead: usize,
        /// The first of them.
        tasks: Vec<TaskId>,
    },
    /// No nodes are registered.
    NoNodes,
}

/// A run that has not ended, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub run: RunId,
    /// `None` if the reader may not see it.
    pub task: Option<TaskId>,
    pub user: Option<String>,
    pub nodes: Vec<NodeName>,
    /// Their numbers.
    pub gpu_ids: Vec<u32>,
    /// `None` if unknown.
    pub ends_at: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NodeName {
    pub id: NodeId,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuName {
    pub id: GpuId,
    pub index: u32,
}

/// Why a GPU is unavailable, apart from runs of Danlu that hold it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum GpuObstacle {
    JustLeft,
    /// Utilisation in percent, of those that share it.
    Busy {
        percent: u8,
    },
    /// Bytes that no run of Danlu's uses.
    OtherMemory {
        bytes: u64,
    },
    Foreign {
        processes: Vec<ForeignProcess>,
    },
    Dirty,
    Unknown,
    UnknownRun,
    Quarantined {
        error: String,
    },
    Disabled,
    OnSeveralNodes {
        nodes: Vec<NodeName>,
    },
}

/// Why a node gets no new work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "why")]
pub enum NodeObstacle {
    ShortOfMemory { free: u64, keeps: u64 },
    Unfit { trouble: Trouble },
    Draining,
    Unverified,
    Away,
}

/// One requested attribute; `most` is the largest amount on one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "asks")]
pub enum Attribute {
    Resource {
        name: String,
        wanted: u32,
        most: u32,
    },
    Cpus {
        wanted: u32,
        most: u32,
    },
    /// Bytes of host memory.
    Memory {
        wanted: u64,
        most: u64,
    },
    /// Bytes of each GPU.
    GpuMemory {
        wanted: u64,
        most: u64,
    },
    /// Percent.
    IdleUtilization {
        wanted: u8,
    },
    GpuIds {
        ids: Vec<u32>,
    },
    Exclusive,
    Model {
        model: String,
    },
    Node {
        node: NodeSelector,
    },
    Nodes {
        wanted: u32,
        most: u32,
    },
    Gpus {
        wanted: u32,
        most: u32,
    },
}
