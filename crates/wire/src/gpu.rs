//! Details of a GPU for people, beyond what the scheduler needs.

use danlu_core::ids::{GpuId, RunId};
use serde::{Deserialize, Serialize};

/// Less than this is overhead of the driver.
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
    /// Memory that no listed process explains, above what the idle GPU uses.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    Nvidia,
    Amd,
    Simulated,
    /// A vendor that only a newer agent knows.
    #[serde(other)]
    Other,
}

/// A part of a GPU that counts as one: CUDA knows it by its UUID only, not by an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mig {
    pub parent: GpuId,
    pub gpu_instance: u32,
    pub compute_instance: u32,
}

/// Hardware errors that the driver has counted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// Uncorrectable memory errors since the driver was loaded.
    pub uncorrected_ecc: Option<u64>,
    /// Bad memory rows will be replaced at the next reset.
    pub remap_pending: bool,
    /// Bad memory rows could not be replaced.
    pub remap_failed: bool,
    /// The last Xid error since the probe began.
    pub last_xid: Option<u64>,
    /// An Xid of the GPU itself, not of the program on it, since the probe began.
    pub hardware_xid: Option<u64>,
}

impl Health {
    /// What is broken, in words, if something is.
    pub fn broken(&self) -> Option<String> {
        if let Some(xid) = self.hardware_xid {
            return Some(format!("Xid {xid}"));
        }
        if self.remap_failed {
            return Some("bad memory rows could not be replaced".to_owned());
        }
        match self.uncorrected_ecc {
            Some(errors @ 1..) => Some(format!("{errors} uncorrectable memory errors")),
            Some(0) | None => None,
        }
    }

    /// The driver has told of it.
    pub fn note_xid(&mut self, xid: u64) {
        self.last_xid = Some(xid);
        if HARDWARE_XIDS.contains(&xid) {
            self.hardware_xid = Some(xid);
        }
    }
}

/// Double-bit errors, failed row replacement, NVLink, fallen off the bus, uncontained memory errors, firmware hangs.
/// Others are mostly mistakes of the program (13, 31, 43, 45) or handled by the driver (63, 94).
const HARDWARE_XIDS: &[u64] = &[48, 62, 64, 74, 79, 95, 119, 120];
