//! Processes that use AMD GPUs, from `/proc/*/fdinfo`, where the compute driver (KFD) is missing.

use crate::gpu::bounded_read::{PAGE, start_of};
use crate::gpu::error::ProbeError;
use crate::gpu::pci::PciAddress;
use crate::gpu::sample::{GpuFacts, GpuProcess, ProcessKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

const MOST_PROCESSES: usize = 65_536;
const MOST_FILES: usize = 4096;

/// A process counts as computing where it has used a compute engine.
pub(super) fn processes(
    proc: &Path,
    gpus: &[Arc<GpuFacts>],
) -> Result<BTreeMap<PciAddress, Vec<GpuProcess>>, ProbeError> {
    let mut found: BTreeMap<PciAddress, Vec<GpuProcess>> = BTreeMap::new();
    if gpus.is_empty() {
        return Ok(found);
    }
    let entries = fs::read_dir(proc).map_err(|error| ProbeError::file("list", proc, &error))?;
    for entry in entries.take(MOST_PROCESSES).filter_map(Result::ok) {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process that has just ended, or one of another user when the daemon is not root.
        for (place, client) in clients(&entry.path()) {
            if gpus.iter().any(|gpu| gpu.pci == place) {
                let kind =
                    if client.computes { ProcessKind::Compute } else { ProcessKind::Graphics };
                let memory = Some(client.memory);
                found.entry(place).or_default().push(GpuProcess {
                    pid,
                    memory,
                    kind,
                    told: None,
                    utilization: None,
                });
            }
        }
    }
    Ok(found)
}

#[derive(Default)]
struct Client {
    memory: u64,
    computes: bool,
    /// One client can be open through several file descriptors.
    counted: BTreeSet<u64>,
}

fn clients(process: &Path) -> BTreeMap<PciAddress, Client> {
    let mut clients: BTreeMap<PciAddress, Client> = BTreeMap::new();
    // The link in `fd` tells cheaply which files can be of a GPU.
    let Ok(files) = fs::read_dir(process.join("fd")) else { return clients };
    for file in files.take(MOST_FILES).filter_map(Result::ok) {
        let is_gpu = fs::read_link(file.path()).is_ok_and(|to| to.starts_with("/dev/dri"));
        if !is_gpu {
            continue;
        }
        let Ok(text) = start_of(&process.join("fdinfo").join(file.file_name()), PAGE) else {
            continue;
        };
        read_client(&String::from_utf8_lossy(&text), &mut clients);
    }
    clients
}

fn read_client(text: &str, clients: &mut BTreeMap<PciAddress, Client>) {
    let value = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
    };
    let Some(place) = value("drm-pdev").and_then(|place| place.parse().ok()) else { return };
    let client = clients.entry(place).or_default();
    let id = value("drm-client-id").and_then(|id| id.parse().ok()).unwrap_or(u64::MAX);
    if client.counted.insert(id) {
        let first =
            |value: &str| value.split_whitespace().next().and_then(|n| n.parse::<u64>().ok());
        client.memory += value("drm-memory-vram").and_then(first).unwrap_or(0) << 10;
        client.computes |= value("drm-engine-compute").and_then(first).is_some_and(|used| used > 0);
    }
}
