//! What a node can tell people about a GPU, beyond what the scheduler needs.

use super::identity::Identity;
use super::sample::{Health, Mig, Vendor};
use danlu_core::ids::{GpuId, RunId};
use serde::{Deserialize, Serialize};

/// Less than this is noise of the driver, and hurts nobody.
pub const DIRTY_ABOVE: u64 = 256 << 20;

/// One GPU as `danlu gpus --json` shows it; the fields of the same name mean the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuDetails {
    pub uuid: GpuId,
    pub index: u32,
    pub pci_bus_id: String,
    pub vendor: Vendor,
    pub model: String,
    /// Bytes, as all memory here.
    pub memory_total: u64,
    pub memory_used: Option<u64>,
    /// What no listed process explains, above what is in use when nobody uses the GPU.
    pub used_above_baseline: Option<u64>,
    /// Percent; now, and at the last samples, oldest first.
    pub utilization: Option<u8>,
    pub utilization_history: Vec<u8>,
    /// °C.
    pub temperature: Option<i32>,
    /// Watts.
    pub power: Option<u32>,
    pub foreign: Vec<ForeignDetails>,
    /// Processes of runs.
    pub own: Vec<OwnProcess>,
    pub health: Health,
    /// A part of a GPU: `CUDA_VISIBLE_DEVICES` must name it by its UUID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mig: Option<Mig>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<GpuId>,
    /// The driver has lost it.
    #[serde(default)]
    pub lost: bool,
    /// Why the probe could not read it: then its condition is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

/// A process that computes on a GPU and that Danlu did not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignDetails {
    pub pid: u32,
    pub user: String,
    pub command: String,
    pub memory: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Held with Ctrl-Z: it keeps its memory and does nothing.
    #[serde(default)]
    pub stopped: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnProcess {
    pub run: RunId,
    pub pid: u32,
    pub memory: Option<u64>,
}

impl ForeignDetails {
    pub(crate) fn new(pid: u32, memory: Option<u64>, who: Identity) -> Self {
        let Identity { user, command, container, stopped } = who;
        ForeignDetails { pid, user, command, memory, container, stopped }
    }
}

impl GpuDetails {
    /// Memory was not given back. Only means something while no run holds the GPU.
    pub fn is_dirty(&self) -> bool {
        self.used_above_baseline.is_some_and(|bytes| bytes > DIRTY_ABOVE)
    }

    /// Bytes in use by no process of a run; `None` where it cannot be told.
    pub fn other_memory(&self) -> Option<u64> {
        self.memory_used.map(|used| used.saturating_sub(self.own_memory()))
    }

    /// Percent, the most of the last samples.
    pub fn busiest(&self) -> u8 {
        self.utilization_history.iter().copied().max().or(self.utilization).unwrap_or(0).min(100)
    }

    /// What the processes of runs use, where the driver tells.
    pub fn own_memory(&self) -> u64 {
        self.own.iter().filter_map(|process| process.memory).sum()
    }
}
