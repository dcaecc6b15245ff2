//! GPU probes: which GPUs this machine has, how busy they are, and which processes use them.

mod amd;
mod baseline;
mod bounded_read;
mod container;
mod detect;
mod error;
mod history;
mod lost;
mod monitor;
mod nvml;
mod pci;
mod process_identity;
mod sample;
mod sim;
mod smi;

pub use amd::Amd;
pub use baseline::Baselines;
pub use danlu_wire::gpu::{
    DIRTY_ABOVE, ForeignDetails, GpuDetails, Health, Mig, OwnProcess, Vendor,
};
pub use detect::{ProbeConfig, ProbeKind, sim_load_wanted};
pub use error::ProbeError;
pub use history::SAMPLES;
pub use monitor::{BUSY_PERIOD, IDLE_PERIOD, Monitor, RunShare, Sampled};
pub use nvml::Nvml;
pub use pci::PciAddress;
pub use process_identity::{LONGEST_COMMAND, ProcessIdentity};
pub use sample::{GpuFacts, GpuProcess, GpuSample, Live, ProcessKind};
pub use sim::{Script, ScriptGpu, ScriptProcess, SimGpus, SimTenant};
pub use smi::Smi;

use std::os::fd::BorrowedFd;
use std::time::Duration;

/// A way to ask about GPUs. One new vendor is one new file and one line here.
#[derive(Debug)]
pub enum Probe {
    Nvml(Box<Nvml>),
    Smi(Smi),
    Amd(Amd),
    Sim(SimGpus),
}

/// The answer to one look at all GPUs.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    pub gpus: Vec<GpuSample>,
    /// What went wrong and concerns no GPU that is known.
    pub problems: Vec<String>,
}

impl Probe {
    /// `None`: the answer is on its way and [`Probe::fd`] tells when; what was read last still holds.
    pub fn sample(&mut self) -> Result<Option<Reading>, ProbeError> {
        match self {
            Probe::Nvml(nvml) => nvml.sample().map(Some),
            Probe::Smi(smi) => smi.sample(),
            Probe::Amd(amd) => amd.sample().map(Some),
            Probe::Sim(sim) => sim.sample().map(Some),
        }
    }

    /// Readable when a sample would tell something new.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Probe::Smi(smi) => smi.fd(),
            Probe::Sim(sim) => sim.fd(),
            Probe::Nvml(_) | Probe::Amd(_) => None,
        }
    }

    /// Real GPUs have to be polled; simulated ones only while the memory of a task grows.
    pub fn period(&self, usual: Duration) -> Option<Duration> {
        match self {
            Probe::Sim(sim) => sim.period(),
            Probe::Nvml(_) | Probe::Smi(_) | Probe::Amd(_) => Some(usual),
        }
    }

    pub fn kind(&self) -> ProbeKind {
        match self {
            Probe::Nvml(_) => ProbeKind::Nvml,
            Probe::Smi(_) => ProbeKind::Smi,
            Probe::Amd(_) => ProbeKind::Amd,
            Probe::Sim(_) => ProbeKind::Sim,
        }
    }
}
