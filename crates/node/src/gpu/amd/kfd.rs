//! The compute processes of AMD GPUs, as the kernel's compute driver (KFD) lists them.

use crate::gpu::bounded_read::{line, number};
use crate::gpu::error::ProbeError;
use crate::gpu::pci::PciAddress;
use crate::gpu::sample::{GpuProcess, ProcessKind};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const MOST_PROCESSES: usize = 4096;
const MOST_NODES: usize = 512;

/// `None`: this machine has no compute driver.
pub(super) fn processes(
    sysfs: &Path,
) -> Result<Option<BTreeMap<PciAddress, Vec<GpuProcess>>>, ProbeError> {
    let kfd = sysfs.join("class/kfd/kfd");
    let Some(entries) = list(&kfd.join("proc"), MOST_PROCESSES)? else { return Ok(None) };
    if entries.is_empty() {
        return Ok(Some(BTreeMap::new()));
    }
    let places = places(&kfd)?;
    let mut found: BTreeMap<PciAddress, Vec<GpuProcess>> = BTreeMap::new();
    for directory in entries {
        let name = directory.file_name().and_then(|name| name.to_str());
        let Some(pid) = name.and_then(|name| name.parse::<u32>().ok()) else { continue };
        for (gpu, place) in &places {
            // Every process has such a file for every GPU. One that has just ended has none.
            let memory = number(&directory.join(format!("vram_{gpu}"))).unwrap_or(0);
            if memory > 0 {
                let (memory, kind) = (Some(memory), ProcessKind::Compute);
                found.entry(*place).or_default().push(GpuProcess {
                    pid,
                    memory,
                    kind,
                    told: None,
                    utilization: None,
                });
            }
        }
    }
    Ok(Some(found))
}

/// Where the GPU of each KFD number sits.
fn places(kfd: &Path) -> Result<BTreeMap<u64, PciAddress>, ProbeError> {
    let nodes = list(&kfd.join("topology/nodes"), MOST_NODES)?.unwrap_or_default();
    let mut places = BTreeMap::new();
    for node in nodes {
        let gpu = number(&node.join("gpu_id"))?;
        // A processor is a node too, with number 0.
        if gpu != 0 {
            places.insert(gpu, place(&line(&node.join("properties"))?));
        }
    }
    Ok(places)
}

fn place(properties: &str) -> PciAddress {
    let property = |name: &str| {
        let value =
            properties.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(' '));
        value.and_then(|value| value.trim().parse::<u32>().ok()).unwrap_or(0)
    };
    let location = property("location_id");
    PciAddress {
        domain: property("domain"),
        bus: (location >> 8 & 0xff) as u8,
        device: (location >> 3 & 0x1f) as u8,
        function: (location & 0x7) as u8,
    }
}

fn list(directory: &Path, most: usize) -> Result<Option<Vec<PathBuf>>, ProbeError> {
    match fs::read_dir(directory) {
        Ok(entries) => {
            Ok(Some(entries.take(most).filter_map(Result::ok).map(|entry| entry.path()).collect()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ProbeError::file("list", directory, &error)),
    }
}
