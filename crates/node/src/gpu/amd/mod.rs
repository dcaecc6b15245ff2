//! AMD GPUs through the files of the amdgpu driver under `/sys`.

mod fdinfo;
mod kfd;

use super::Reading;
use super::bounded_read::{PAGE, line, number, start_of};
use super::error::ProbeError;
use super::pci::PciAddress;
use super::sample::{GpuFacts, GpuProcess, GpuSample, Health, Live, Vendor};
use danlu_core::ids::GpuId;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const AMD: &str = "0x1002";
const MOST_CARDS: usize = 256;
/// The graphics of a processor has no serial number and a small share of the machine's memory: not for tasks.
const LEAST_MEMORY_WITHOUT_SERIAL: u64 = 2 << 30;

#[derive(Debug)]
pub struct Amd {
    sysfs: PathBuf,
    proc: PathBuf,
    /// By the directory of the PCI device, which is another one after a card was swapped.
    known: BTreeMap<PathBuf, Arc<GpuFacts>>,
}

impl Amd {
    pub fn new(sysfs: PathBuf, proc: PathBuf) -> Self {
        Amd { sysfs, proc, known: BTreeMap::new() }
    }

    pub fn sample(&mut self) -> Result<Reading, ProbeError> {
        let mut problems = Vec::new();
        let mut cards = Vec::new();
        for device in self.devices()? {
            match self.facts(&device) {
                Ok(Some(facts)) => cards.push((device, facts)),
                Ok(None) => {}
                Err(error) => problems.push(error.to_string()),
            }
        }
        cards.sort_by_key(|(_, facts)| facts.pci);
        let facts: Vec<Arc<GpuFacts>> = cards.iter().map(|(_, facts)| Arc::clone(facts)).collect();
        let mut processes = self.processes(&facts);
        let gpus = (0..).zip(cards).map(|(index, (device, facts))| {
            let live = match &mut processes {
                Err(error) => Err(error.clone()),
                Ok(by_place) => live(&device, by_place.remove(&facts.pci).unwrap_or_default()),
            };
            GpuSample { facts, index, live }
        });
        let gpus: Vec<GpuSample> = gpus.collect();
        self.known.retain(|_, facts| gpus.iter().any(|gpu| gpu.facts.id == facts.id));
        Ok(Reading { gpus, problems })
    }

    /// The PCI devices of all graphics cards of all vendors.
    fn devices(&self) -> Result<Vec<PathBuf>, ProbeError> {
        let directory = self.sysfs.join("class/drm");
        let entries = fs::read_dir(&directory)
            .map_err(|error| ProbeError::file("list", &directory, &error))?;
        let is_card = |name: &str| {
            // `card0-DP-1` is a connector.
            name.strip_prefix("card").is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let cards = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name().to_str().is_some_and(is_card))
            .filter_map(|entry| fs::canonicalize(entry.path().join("device")).ok());
        Ok(cards.take(MOST_CARDS).collect())
    }

    /// `None` for a card that is not for tasks.
    fn facts(&mut self, device: &Path) -> Result<Option<Arc<GpuFacts>>, ProbeError> {
        if let Some(known) = self.known.get(device) {
            return Ok(Some(Arc::clone(known)));
        }
        if line(&device.join("vendor"))? != AMD {
            return Ok(None);
        }
        let pci = pci_address(device)?;
        let memory_total = number(&device.join("mem_info_vram_total"))?;
        let serial = line(&device.join("unique_id")).ok().and_then(|text| serial(&text));
        if serial.is_none() && memory_total < LEAST_MEMORY_WITHOUT_SERIAL {
            return Ok(None);
        }
        // As ROCm writes it, so that it can be given in `ROCR_VISIBLE_DEVICES`.
        let id = serial.map_or_else(|| format!("AMD-{pci}"), |serial| format!("GPU-{serial:016x}"));
        let facts = Arc::new(GpuFacts {
            id: GpuId::from(id.as_str()),
            pci,
            vendor: Vendor::Amd,
            model: model(device),
            memory_total,
            mig: None,
            neighbours: Vec::new(),
        });
        self.known.insert(device.to_owned(), Arc::clone(&facts));
        Ok(Some(facts))
    }

    fn processes(
        &self,
        gpus: &[Arc<GpuFacts>],
    ) -> Result<BTreeMap<PciAddress, Vec<GpuProcess>>, ProbeError> {
        match kfd::processes(&self.sysfs) {
            // Without the compute driver there are no compute processes but those that draw.
            Ok(None) => fdinfo::processes(&self.proc, gpus),
            Ok(Some(processes)) => Ok(processes),
            Err(error) => Err(error),
        }
    }
}

fn live(device: &Path, processes: Vec<GpuProcess>) -> Result<Live, ProbeError> {
    let sensors = sensors(device);
    let sensor = |name: &str| number(&sensors.as_ref()?.join(name)).ok();
    let millidegrees = sensor("temp1_input");
    let microwatts = sensor("power1_average").or_else(|| sensor("power1_input"));
    Ok(Live {
        memory_used: number(&device.join("mem_info_vram_used"))?,
        utilization: number(&device.join("gpu_busy_percent")).ok().map(|all| all.min(100) as u8),
        temperature: millidegrees.and_then(|value| i32::try_from(value / 1000).ok()),
        power: microwatts.map(|value| value as f32 / 1e6),
        processes,
        health: Health { uncorrected_ecc: uncorrected(device), ..Health::default() },
    })
}

fn pci_address(device: &Path) -> Result<PciAddress, ProbeError> {
    let path = device.join("uevent");
    let text = line(&path)?;
    let place = text.lines().find_map(|line| line.strip_prefix("PCI_SLOT_NAME="));
    place.and_then(|place| place.trim().parse().ok()).ok_or_else(|| ProbeError::File {
        action: "find PCI_SLOT_NAME in",
        path,
        reason: "there is no PCI address".to_owned(),
    })
}

fn serial(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u64::from_str_radix(digits, 16).ok().filter(|serial| *serial != 0)
}

fn model(device: &Path) -> String {
    let named = line(&device.join("product_name")).unwrap_or_default();
    if !named.is_empty() {
        return named;
    }
    let number = line(&device.join("device")).unwrap_or_default();
    format!("AMD GPU {}", number.trim_start_matches("0x")).trim_end().to_owned()
}

fn sensors(device: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(device.join("hwmon")).ok()?;
    entries.filter_map(Result::ok).map(|entry| entry.path()).min()
}

/// The line `ue: N` of the memory controller's error counts.
fn uncorrected(device: &Path) -> Option<u64> {
    let bytes = start_of(&device.join("ras/umc_err_count"), PAGE).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.lines().find_map(|line| line.trim().strip_prefix("ue:")?.trim().parse().ok())
}
