//! What a probe saw of one GPU at one moment.

use super::error::ProbeError;
use super::identity::Identity;
use super::pci::PciAddress;
use danlu_core::ids::GpuId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct GpuSample {
    pub facts: Arc<GpuFacts>,
    /// The place in PCI order, as `nvidia-smi` and CUDA count; MIG instances come after all whole GPUs.
    pub index: u32,
    /// An error of one GPU concerns no other.
    pub live: Result<Live, ProbeError>,
}

/// What does not change while the GPU is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuFacts {
    pub id: GpuId,
    pub pci: PciAddress,
    pub vendor: Vendor,
    pub model: String,
    /// Bytes.
    pub memory_total: u64,
    pub mig: Option<Mig>,
    /// GPUs that it reaches by NVLink.
    pub neighbours: Vec<GpuId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Vendor {
    Nvidia,
    Amd,
    Simulated,
}

/// A part of a GPU that counts as one: CUDA knows it by its UUID only, not by an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mig {
    pub parent: GpuId,
    pub gpu_instance: u32,
    pub compute_instance: u32,
}

#[derive(Debug, Clone, Default)]
pub struct Live {
    /// Bytes.
    pub memory_used: u64,
    /// Percent.
    pub utilization: Option<u8>,
    /// °C.
    pub temperature: Option<i32>,
    /// Watts.
    pub power: Option<f32>,
    pub processes: Vec<GpuProcess>,
    pub health: Health,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuProcess {
    pub pid: u32,
    /// Bytes; `None` where the driver does not tell.
    pub memory: Option<u64>,
    pub kind: ProcessKind,
    /// Who it is, when the probe itself knows: then `/proc` is not asked.
    pub told: Option<Identity>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    /// Computes, perhaps draws too.
    Compute,
    /// Only draws, as a desktop does: no reason not to use the GPU.
    Graphics,
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

    pub(crate) fn note_xid(&mut self, xid: u64) {
        self.last_xid = Some(xid);
        if HARDWARE_XIDS.contains(&xid) {
            self.hardware_xid = Some(xid);
        }
    }
}

/// Double-bit errors, failed row replacement, NVLink, fallen off the bus, uncontained memory errors, firmware hangs.
/// Others are mostly mistakes of the program (13, 31, 43, 45) or handled by the driver (63, 94).
const HARDWARE_XIDS: &[u64] = &[48, 62, 64, 74, 79, 95, 119, 120];
