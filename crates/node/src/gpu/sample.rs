//! One sample of one GPU.

use super::error::ProbeError;
use super::pci::PciAddress;
use super::process_identity::ProcessIdentity;
use danlu_core::ids::GpuId;
pub(crate) use danlu_wire::gpu::{Health, Mig, Vendor};
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
    /// Set when the probe itself knows the process: then `/proc` is not read.
    pub told: Option<ProcessIdentity>,
    /// Percent of the GPU that this process uses, where the probe can tell one from another.
    pub utilization: Option<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessKind {
    /// Computes, perhaps draws too.
    Compute,
    /// Only draws, as a desktop does: no reason not to use the GPU.
    Graphics,
}
