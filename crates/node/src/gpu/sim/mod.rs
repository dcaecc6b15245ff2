//! Simulated GPUs, and the events that a script makes happen to them.

mod file_watch;
mod load;
mod script;

pub use script::{Script, ScriptGpu, ScriptProcess};

use self::file_watch::FileWatch;
use self::load::Warmth;
use super::Reading;
use super::error::ProbeError;
use super::pci::PciAddress;
use super::process_identity::ProcessIdentity;
use super::sample::{GpuFacts, GpuProcess, GpuSample, Health, Live, ProcessKind, Vendor};
use danlu_core::ids::GpuId;
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

const MOST_GPUS: u32 = 1024;

/// Without a script nothing ever changes, and nothing is watched.
#[derive(Debug)]
pub struct SimGpus {
    count: u32,
    script: Script,
    watch: Option<FileWatch>,
    /// Why the script as it is now was not taken.
    mistake: Option<ProbeError>,
    tenants: Vec<SimTenant>,
    /// Tasks put a load on their GPUs, which get warm by it.
    load: bool,
    warmth: BTreeMap<u32, Warmth>,
    followed: Instant,
    /// Those of two machines are never the same, as with real ones.
    series: u64,
}

/// A run that uses the memory it asked for, or is on the way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimTenant {
    pub gpus: Vec<GpuId>,
    pub pid: u32,
    /// Bytes of each GPU, if it has said so.
    pub memory: Option<u64>,
    /// How long it has run.
    pub age: Duration,
    /// What its load looks like.
    pub seed: u64,
}

/// The period of samples while the memory of a simulated task grows.
const GROWING_PERIOD: Duration = Duration::from_millis(500);
/// While a simulated GPU is used, or cools down.
const LOADED_PERIOD: Duration = Duration::from_secs(1);

impl SimGpus {
    /// A missing script counts as an empty one. Its directory must exist.
    pub fn new(count: u32, script: Option<&Path>) -> Result<Self, ProbeError> {
        let watch = script.map(FileWatch::new).transpose()?;
        let mut sim = SimGpus {
            count: count.min(MOST_GPUS),
            script: Script::default(),
            watch,
            mistake: None,
            tenants: Vec::new(),
            load: false,
            warmth: BTreeMap::new(),
            followed: Instant::now(),
            series: script.map_or(0, series),
        };
        sim.read_script();
        Ok(sim)
    }

    /// The identity of simulated GPU `number` where there is no script.
    pub fn id(number: u32) -> GpuId {
        id_in(0, number)
    }

    /// The same in every life of the agent, unless the script says otherwise.
    fn id_of(&self, number: u32) -> GpuId {
        let scripted = self.script.gpus.get(&number).and_then(|gpu| gpu.id.as_deref());
        scripted.map_or_else(|| id_in(self.series, number), GpuId::from)
    }

    /// Changes the GPUs from within the program. A script file that changes later replaces it all.
    pub fn change(&mut self, change: impl FnOnce(&mut Script)) {
        change(&mut self.script);
    }

    /// From now on tasks put a load on their GPUs.
    pub fn with_load(mut self, load: bool) -> Self {
        self.load = load;
        self
    }

    /// The tasks on the GPUs now, besides the processes of the script.
    pub fn set_tenants(&mut self, tenants: Vec<SimTenant>) {
        self.tenants = tenants;
    }

    /// When a task will use more memory; `None` if none grows.
    pub fn period(&self) -> Option<Duration> {
        let grows = |tenant: &SimTenant| tenant.age.as_secs_f64() < self.script.growth;
        if self.tenants.iter().any(grows) {
            return Some(GROWING_PERIOD);
        }
        let loaded = self.has_load() && !self.tenants.is_empty();
        (loaded || !self.warmth.is_empty()).then_some(LOADED_PERIOD)
    }

    pub fn free_memory(&self) -> Option<u64> {
        self.script.free_memory
    }

    fn has_load(&self) -> bool {
        self.load && self.script.load
    }

    /// `None`: it uses nothing.
    fn use_of(&self, tenant: &SimTenant, total: u64) -> Option<u64> {
        if self.has_load() && self.script.growth == 0.0 {
            return Some(load::memory(tenant.seed, tenant.age, tenant.memory, total));
        }
        let memory = tenant.memory?;
        let grown = if self.script.growth > 0.0 {
            (tenant.age.as_secs_f64() / self.script.growth).min(1.0)
        } else {
            1.0
        };
        Some((memory as f64 * grown) as u64)
    }

    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.watch.as_ref().map(FileWatch::fd)
    }

    pub fn sample(&mut self) -> Result<Reading, ProbeError> {
        if self.watch.as_ref().is_some_and(FileWatch::has_changed) {
            self.read_script();
        }
        if let Some(error) = &self.script.error {
            return Err(ProbeError::Simulated(error.clone()));
        }
        self.follow(Instant::now());
        let problems = self.mistake.iter().map(ToString::to_string).collect();
        Ok(Reading { gpus: self.gpus(), problems })
    }

    /// Percent of each GPU that its tasks use; more than it has is shared out.
    fn loads(&self, number: u32) -> Vec<(u32, f64)> {
        if !self.has_load() {
            return Vec::new();
        }
        let id = self.id_of(number);
        let here = self.tenants.iter().filter(|tenant| tenant.gpus.contains(&id));
        let mut loads: Vec<(u32, f64)> =
            here.map(|it| (it.pid, load::utilization(it.seed, it.age))).collect();
        let sum: f64 = loads.iter().map(|(_, percent)| percent).sum();
        if sum > 100.0 {
            loads.iter_mut().for_each(|(_, percent)| *percent *= 100.0 / sum);
        }
        loads
    }

    fn follow(&mut self, now: Instant) {
        let elapsed = now.duration_since(self.followed);
        self.followed = now;
        let last = self.script.gpus.keys().next_back().map_or(0, |last| last + 1);
        for number in 0..self.count.max(last).min(MOST_GPUS) {
            let load: f64 = self.loads(number).iter().map(|(_, percent)| percent).sum();
            let mut warmth = self.warmth.remove(&number).unwrap_or_default();
            warmth.follow(load, elapsed);
            if load > 0.0 || !warmth.is_at_rest() {
                self.warmth.insert(number, warmth);
            }
        }
    }

    /// A script with a mistake leaves everything as it was.
    fn read_script(&mut self) {
        let Some(watch) = &self.watch else { return };
        match Script::load(watch.path()) {
            Ok(script) => {
                self.script = script;
                self.mistake = None;
            }
            Err(mistake) => self.mistake = Some(mistake),
        }
    }

    fn gpus(&self) -> Vec<GpuSample> {
        let last = self.script.gpus.keys().next_back().map_or(0, |last| last + 1);
        let mut gpus: Vec<GpuSample> = (0..self.count.max(last).min(MOST_GPUS))
            .filter_map(|number| {
                let scripted = self.script.gpus.get(&number);
                // Beyond the count there are only those that the script adds.
                let gpu = match scripted {
                    Some(gpu) => gpu.clone(),
                    None if number < self.count => ScriptGpu::default(),
                    None => return None,
                };
                (!gpu.absent).then(|| self.one(number, gpu))
            })
            .collect();
        gpus.sort_by_key(|sample| sample.facts.pci);
        for (index, sample) in (0..).zip(&mut gpus) {
            sample.index = index;
        }
        gpus
    }

    fn one(&self, number: u32, mut gpu: ScriptGpu) -> GpuSample {
        let id = self.id_of(number);
        let here = self.tenants.iter().filter(|tenant| tenant.gpus.contains(&id));
        let here = here.filter_map(|tenant| {
            Some(ScriptProcess::real(tenant.pid, self.use_of(tenant, gpu.memory)?))
        });
        let here: Vec<ScriptProcess> = here.collect();
        gpu.processes.extend(here);
        let loads = self.loads(number);
        let usual = ScriptGpu::default();
        // What the script says counts.
        if gpu.utilization == usual.utilization {
            let sum: f64 = loads.iter().map(|(_, percent)| percent).sum();
            gpu.utilization = sum.round() as u8;
        }
        if let Some(warmth) = self.warmth.get(&number) {
            if gpu.temperature == usual.temperature {
                gpu.temperature = warmth.temperature();
            }
            if gpu.power.to_bits() == usual.power.to_bits() {
                gpu.power = warmth.watts();
            }
        }
        let of =
            |pid: u32| loads.iter().find(|(one, _)| *one == pid).map(|(_, it)| it.round() as u8);
        let facts = Arc::new(GpuFacts {
            id,
            pci: PciAddress {
                domain: 0,
                bus: gpu.bus.unwrap_or((number % 256) as u8),
                device: (number / 256) as u8,
                function: 0,
            },
            vendor: Vendor::Simulated,
            model: gpu.model,
            memory_total: gpu.memory,
            mig: None,
            neighbours: self.script.neighbours(number).map(|other| self.id_of(other)).collect(),
        });
        let live = match gpu.error {
            Some(error) => Err(ProbeError::Simulated(error)),
            None => Ok(Live {
                memory_used: gpu.memory_used
                    + gpu.processes.iter().filter_map(|process| process.memory).sum::<u64>(),
                utilization: Some(gpu.utilization.min(100)),
                temperature: Some(gpu.temperature),
                power: Some(gpu.power),
                processes: gpu
                    .processes
                    .into_iter()
                    .map(|one| GpuProcess { utilization: of(one.pid), ..process(one) })
                    .collect(),
                health: health(gpu.xid),
            }),
        };
        GpuSample { facts, index: 0, live }
    }
}

fn id_in(series: u64, number: u32) -> GpuId {
    let (a, b, c) = (series >> 32 & 0xf_ffff, series >> 16 & 0xffff, series & 0xfff);
    GpuId::from(format!("GPU-513{a:05x}-{b:04x}-4{c:03x}-8000-{number:012x}").as_str())
}

/// Of this machine and this script, wherever else there is one (FNV-1a).
fn series(script: &Path) -> u64 {
    let told = |path: &str| fs::read(path).unwrap_or_default();
    let words = [told("/etc/machine-id"), told("/proc/sys/kernel/hostname")];
    let path = script.as_os_str().as_encoded_bytes();
    let bytes = words.iter().flatten().chain(path).copied();
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Without a user it is a real process, which `/proc` knows.
fn process(scripted: ScriptProcess) -> GpuProcess {
    let ScriptProcess { pid, memory, user, command, container, stopped } = scripted;
    let told = user.map(|user| ProcessIdentity { user, command, container, stopped });
    GpuProcess { pid, memory, kind: ProcessKind::Compute, told, utilization: None }
}

fn health(xid: Option<u64>) -> Health {
    let mut health = Health::default();
    if let Some(xid) = xid {
        health.note_xid(xid);
    }
    health
}
