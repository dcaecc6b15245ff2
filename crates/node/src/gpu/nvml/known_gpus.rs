//! The GPUs of one NVML session; constant facts are queried once.

use super::abi::{EventSet, Handle};
use super::code;
use super::library::NvmlLibrary;
use super::process_use::ProcessUse;
use crate::gpu::error::ProbeError;
use crate::gpu::sample::{GpuFacts, Health, Vendor};
use danlu_core::ids::GpuId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Error counters change seldom, and are slow to read.
const SAMPLES_BETWEEN_COUNTERS: u32 = 30;
const MOST_XIDS_AT_ONCE: usize = 64;

#[derive(Debug)]
pub(super) struct KnownGpus {
    gpus: BTreeMap<Handle, KnownGpu>,
    neighbours_known: bool,
    events: Option<EventSet>,
    /// What earlier sessions knew of GPUs not met yet.
    earlier: BTreeMap<GpuId, Health>,
    samples: u32,
    /// Also of parts of GPUs.
    process_use: BTreeMap<Handle, ProcessUse>,
}

#[derive(Debug)]
struct KnownGpu {
    facts: Arc<GpuFacts>,
    health: Health,
    can_be_divided: bool,
}

impl KnownGpus {
    pub(super) fn new(library: &NvmlLibrary, earlier: BTreeMap<GpuId, Health>) -> Self {
        let events = library.new_event_set().ok();
        KnownGpus {
            gpus: BTreeMap::new(),
            neighbours_known: true,
            events,
            earlier,
            samples: 0,
            process_use: BTreeMap::new(),
        }
    }

    /// Ends the session; what it saw of the GPUs' health outlives it.
    pub(super) fn end(self, library: &NvmlLibrary) -> BTreeMap<GpuId, Health> {
        if let Some(events) = self.events {
            library.free_event_set(events);
        }
        library.end();
        let met = self.gpus.into_values().map(|known| (known.facts.id.clone(), known.health));
        self.earlier.into_iter().chain(met).collect()
    }

    pub(super) fn process_use(&mut self, gpu: Handle) -> &mut ProcessUse {
        self.process_use.entry(gpu).or_default()
    }

    /// Queries the constant facts of a GPU that is new.
    pub(super) fn meet(&mut self, library: &NvmlLibrary, gpu: Handle) -> Result<(), ProbeError> {
        if self.gpus.contains_key(&gpu) {
            return Ok(());
        }
        let facts = GpuFacts {
            id: GpuId::from(library.gpu_uuid(gpu)?.as_str()),
            pci: library.pci(gpu)?,
            vendor: Vendor::Nvidia,
            model: library.gpu_name(gpu)?,
            memory_total: library.memory_use(gpu)?.total,
            mig: None,
            neighbours: Vec::new(),
        };
        if let Some(events) = self.events {
            // A GPU without such events just tells none.
            let _ = library.watch_xids(events, gpu);
        }
        let health = self.earlier.remove(&facts.id).unwrap_or_default();
        let mut met = KnownGpu { facts: Arc::new(facts), health, can_be_divided: true };
        met.read_counters(library, gpu);
        self.gpus.insert(gpu, met);
        self.neighbours_known = false;
        Ok(())
    }

    pub(super) fn facts(&self, gpu: Handle) -> Option<Arc<GpuFacts>> {
        self.gpus.get(&gpu).map(|known| Arc::clone(&known.facts))
    }

    pub(super) fn health(&self, gpu: Handle) -> Health {
        self.gpus.get(&gpu).map(|known| known.health.clone()).unwrap_or_default()
    }

    pub(super) fn find_neighbours(&mut self, library: &NvmlLibrary) {
        if std::mem::replace(&mut self.neighbours_known, true) {
            return;
        }
        let ids: Vec<(Handle, GpuId)> =
            self.gpus.iter().map(|(handle, known)| (*handle, known.facts.id.clone())).collect();
        for (handle, known) in &mut self.gpus {
            let linked = ids.iter().filter(|(other, _)| {
                other != handle && library.are_linked(*handle, *other).unwrap_or(false)
            });
            let neighbours = linked.map(|(_, id)| id.clone()).collect();
            known.facts = Arc::new(GpuFacts { neighbours, ..(*known.facts).clone() });
        }
    }

    pub(super) fn is_divided(
        &mut self,
        library: &NvmlLibrary,
        gpu: Handle,
    ) -> Result<bool, ProbeError> {
        let Some(known) = self.gpus.get_mut(&gpu).filter(|known| known.can_be_divided) else {
            return Ok(false);
        };
        match library.is_divided(gpu) {
            Err(ProbeError::Nvml { code, .. }) if code::is_absent(code) => {
                known.can_be_divided = false;
                Ok(false)
            }
            answer => answer,
        }
    }

    pub(super) fn refresh_health(&mut self, library: &NvmlLibrary) {
        self.samples += 1;
        if self.samples.is_multiple_of(SAMPLES_BETWEEN_COUNTERS) {
            for (handle, known) in &mut self.gpus {
                known.read_counters(library, *handle);
            }
        }
        let Some(events) = self.events else { return };
        for _ in 0..MOST_XIDS_AT_ONCE {
            let Some((gpu, xid)) = library.next_xid(events) else { return };
            if let Some(known) = self.gpus.get_mut(&gpu) {
                known.health.note_xid(xid);
            }
        }
    }
}

impl KnownGpu {
    /// Counters that cannot be read keep their values.
    fn read_counters(&mut self, library: &NvmlLibrary, gpu: Handle) {
        if let Ok(errors) = library.uncorrected_ecc(gpu) {
            self.health.uncorrected_ecc = Some(errors);
        }
        if let Ok(rows) = library.remapped(gpu) {
            self.health.remap_pending = rows.pending;
            self.health.remap_failed = rows.failed;
        }
    }
}
