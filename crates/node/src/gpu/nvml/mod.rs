//! NVIDIA GPUs through NVML, the driver's library: one session, kept until the driver is unloaded or a GPU is lost.

mod abi;
mod ask;
pub(crate) mod code;
mod known_gpus;
mod library;
mod process_use;

use self::abi::Handle;
use self::known_gpus::KnownGpus;
use self::library::NvmlLibrary;
use super::Reading;
use super::error::ProbeError;
use super::lost::attribute;
use super::sample::{GpuFacts, GpuProcess, GpuSample, Health, Live, Mig, ProcessKind, Vendor};
use danlu_core::ids::GpuId;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// More than any machine has; a driver that says more is mistaken.
const MOST_GPUS: u32 = 256;
const MOST_PARTS: u32 = 16;
/// A lost GPU comes back only in a new session. Asking for one is not free, so it is done this rarely.
const SAMPLES_UNTIL_NEW_SESSION: u32 = 60;

#[derive(Debug)]
pub struct Nvml {
    library: NvmlLibrary,
    session: Option<KnownGpus>,
    /// The whole GPUs of the last sample: a lost one is known by what it was.
    last: Vec<Arc<GpuFacts>>,
    /// Of earlier sessions: a hardware error is not forgotten with the session that saw it.
    health: BTreeMap<GpuId, Health>,
    samples_with_lost: u32,
    /// A GPU was lost before its UUID was read.
    stranger_lost: bool,
}

/// A GPU that has a place in PCI order, whether it answers or not.
struct Whole {
    facts: Arc<GpuFacts>,
    found: Result<Handle, ProbeError>,
}

/// A GPU, or the MIG instances that it is divided into.
enum DeviceSample {
    Whole(Live),
    Parts(Vec<(GpuFacts, Result<Live, ProbeError>)>),
}

impl Nvml {
    /// Loads the library; the driver is not asked anything yet.
    pub fn load(path: Option<&Path>) -> Result<Self, ProbeError> {
        let library = NvmlLibrary::load(path)?;
        let (last, health) = (Vec::new(), BTreeMap::new());
        Ok(Nvml {
            library,
            session: None,
            last,
            health,
            samples_with_lost: 0,
            stranger_lost: false,
        })
    }

    pub fn sample(&mut self) -> Result<Reading, ProbeError> {
        let mut known = match self.session.take() {
            Some(known) => known,
            None => self.begin()?,
        };
        let reading = self.read(&mut known);
        if self.is_worth_keeping(&reading) {
            self.session = Some(known);
        } else {
            self.health = known.end(&self.library);
        }
        reading
    }

    fn begin(&mut self) -> Result<KnownGpus, ProbeError> {
        self.library.begin()?;
        if let Ok(version) = self.library.driver() {
            self.library.adapt_to_driver(&version);
        }
        Ok(KnownGpus::new(&self.library, std::mem::take(&mut self.health)))
    }

    /// Whether the session can give a better answer later.
    fn is_worth_keeping(&mut self, reading: &Result<Reading, ProbeError>) -> bool {
        let Ok(reading) = reading else { return false };
        let is_lost = |gpu: &GpuSample| matches!(&gpu.live, Err(error) if lost(error));
        if !self.stranger_lost && !reading.gpus.iter().any(is_lost) {
            self.samples_with_lost = 0;
            return true;
        }
        self.samples_with_lost += 1;
        !self.samples_with_lost.is_multiple_of(SAMPLES_UNTIL_NEW_SESSION)
    }

    fn read(&mut self, known: &mut KnownGpus) -> Result<Reading, ProbeError> {
        let (wholes, problems) = self.wholes(known)?;
        self.last = wholes.iter().map(|whole| Arc::clone(&whole.facts)).collect();
        known.refresh_health(&self.library);
        let mut gpus = Vec::with_capacity(wholes.len());
        let mut parts = Vec::new();
        for (index, Whole { facts, found }) in (0..).zip(wholes) {
            let seen = found.and_then(|handle| self.look(known, handle, &facts));
            match one_gpu(seen)? {
                Ok(DeviceSample::Whole(live)) => {
                    gpus.push(GpuSample { facts, index, live: Ok(live) });
                }
                Ok(DeviceSample::Parts(found)) => parts.extend(found),
                Err(error) => gpus.push(GpuSample { facts, index, live: Err(error) }),
            }
        }
        let first = self.last.len() as u32;
        for (index, (facts, live)) in (first..).zip(parts) {
            gpus.push(GpuSample { facts: Arc::new(facts), index, live });
        }
        Ok(Reading { gpus, problems })
    }

    /// All GPUs in PCI order, with what could not be attributed to any.
    fn wholes(&mut self, known: &mut KnownGpus) -> Result<(Vec<Whole>, Vec<String>), ProbeError> {
        let mut handles = Vec::new();
        let mut silent = Vec::new();
        for number in 0..self.library.gpu_count()?.min(MOST_GPUS) {
            let handle = self.library.handle(number).and_then(|handle| {
                known.meet(&self.library, handle)?;
                Ok(handle)
            });
            match one_gpu(handle)? {
                Ok(handle) => handles.push(handle),
                Err(error) => silent.push((format!("GPU number {number}"), error)),
            }
        }
        self.stranger_lost = silent.iter().any(|(_, error)| lost(error));
        known.find_neighbours(&self.library);
        let found = handles
            .into_iter()
            .filter_map(|handle| Some(Whole { facts: known.facts(handle)?, found: Ok(handle) }));
        let mut wholes: Vec<Whole> = found.collect();
        let is_there = |facts: &GpuFacts| wholes.iter().any(|whole| whole.facts.id == facts.id);
        let (missing, problems) = attribute(&silent, &self.last, is_there);
        wholes.extend(missing.into_iter().map(|(facts, error)| Whole { facts, found: Err(error) }));
        wholes.sort_by_key(|whole| whole.facts.pci);
        Ok((wholes, problems))
    }

    fn look(
        &self,
        known: &mut KnownGpus,
        gpu: Handle,
        facts: &GpuFacts,
    ) -> Result<DeviceSample, ProbeError> {
        let health = known.health(gpu);
        if !known.is_divided(&self.library, gpu)? {
            return Ok(DeviceSample::Whole(self.live(known, gpu, health)?));
        }
        let mut parts = Vec::new();
        for number in 0..self.library.most_parts(gpu)?.min(MOST_PARTS) {
            let Some(part) = self.library.part(gpu, number)? else { continue };
            let live = one_gpu(self.live(known, part, health.clone()))?;
            parts.push((self.part_facts(part, facts)?, live));
        }
        if parts.is_empty() { Err(ProbeError::EmptyMig) } else { Ok(DeviceSample::Parts(parts)) }
    }

    fn part_facts(&self, part: Handle, whole: &GpuFacts) -> Result<GpuFacts, ProbeError> {
        let (gpu_instance, compute_instance) = self.library.instances(part)?;
        Ok(GpuFacts {
            id: GpuId::from(self.library.gpu_uuid(part)?.as_str()),
            pci: whole.pci,
            vendor: Vendor::Nvidia,
            model: self.library.gpu_name(part)?,
            memory_total: self.library.memory_use(part)?.total,
            mig: Some(Mig { parent: whole.id.clone(), gpu_instance, compute_instance }),
            neighbours: Vec::new(),
        })
    }

    fn live(&self, known: &mut KnownGpus, gpu: Handle, health: Health) -> Result<Live, ProbeError> {
        Ok(Live {
            memory_used: self.library.memory_use(gpu)?.used,
            utilization: optional(self.library.utilization_now(gpu))?,
            temperature: optional(self.library.temperature_now(gpu))?,
            power: optional(self.library.power_now(gpu))?,
            processes: self.processes(known, gpu)?,
            health,
        })
    }

    fn processes(&self, known: &mut KnownGpus, gpu: Handle) -> Result<Vec<GpuProcess>, ProbeError> {
        let computing = self.library.computing(gpu)?;
        let mut drawing = optional(self.library.drawing(gpu))?.unwrap_or_default();
        // A process that does both is in both lists.
        drawing.retain(|(pid, _)| computing.iter().all(|(other, _)| other != pid));
        // What a single process uses is what the GPU is used.
        let uses = known.process_use(gpu);
        let told = match computing.len() {
            0 | 1 => None,
            _ => optional(self.library.use_by_process(gpu, uses.seen()))?,
        };
        if let Some(samples) = &told {
            uses.take(samples);
        }
        let process = |(pid, memory), kind| {
            let utilization = told.as_ref().map(|_| uses.of(pid));
            GpuProcess { pid, memory, kind, told: None, utilization }
        };
        let computing = computing.into_iter().map(|one| process(one, ProcessKind::Compute));
        let drawing = drawing.into_iter().map(|one| process(one, ProcessKind::Graphics));
        Ok(computing.chain(drawing).collect())
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        if let Some(known) = self.session.take() {
            known.end(&self.library);
        }
    }
}

/// What some GPUs or drivers cannot tell; that the GPU or the driver is gone is an error all the same.
fn optional<T>(answer: Result<T, ProbeError>) -> Result<Option<T>, ProbeError> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(error) if lost(&error) || session_over(&error) => Err(error),
        Err(_) => Ok(None),
    }
}

/// An error that ends the session concerns all GPUs; others only the one that was asked.
fn one_gpu<T>(answer: Result<T, ProbeError>) -> Result<Result<T, ProbeError>, ProbeError> {
    match answer {
        Err(error) if session_over(&error) => Err(error),
        answer => Ok(answer),
    }
}

fn lost(error: &ProbeError) -> bool {
    matches!(error, ProbeError::Nvml { code, .. } if code::is_lost(*code))
}

fn session_over(error: &ProbeError) -> bool {
    matches!(error, ProbeError::Nvml { code, .. } if code::ends_session(*code))
}
