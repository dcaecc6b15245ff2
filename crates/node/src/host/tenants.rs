//! Tasks that use memory of simulated GPUs, as they requested with `--vram`.

use crate::gpu::SimTenant;
use danlu_core::{GpuId, RunId};
use danlu_wire::LaunchOrder;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Shared by the thread that launches runs and the one that samples GPUs. Empty unless the GPUs are simulated.
#[derive(Debug, Clone, Default)]
pub(super) struct Tenants {
    known: Arc<Mutex<BTreeMap<RunId, Tenant>>>,
}

#[derive(Debug)]
struct Tenant {
    gpus: Vec<GpuId>,
    memory: u64,
    /// The process, and when it began.
    running: Option<(u32, Instant)>,
}

impl Tenants {
    pub(super) fn launched(&self, order: &LaunchOrder) {
        if let Some(memory) = order.gpu_memory.filter(|_| !order.gpus.assigned.is_empty()) {
            let gpus = order.gpus.assigned.iter().map(|gpu| gpu.uuid.clone()).collect();
            self.lock().insert(order.run, Tenant { gpus, memory, running: None });
        }
    }

    /// Answers whether that changes anything.
    pub(super) fn started(&self, run: RunId, leader: u32) -> bool {
        let mut known = self.lock();
        let Some(tenant) = known.get_mut(&run) else { return false };
        tenant.running = Some((leader, Instant::now()));
        true
    }

    pub(super) fn ended(&self, run: RunId) -> bool {
        self.lock().remove(&run).is_some()
    }

    pub(super) fn now(&self) -> Vec<SimTenant> {
        let known = self.lock();
        let running = known.values().filter_map(|tenant| {
            let (pid, since) = tenant.running?;
            let (gpus, memory) = (tenant.gpus.clone(), tenant.memory);
            Some(SimTenant { gpus, pid, memory, age: since.elapsed() })
        });
        running.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Tenant>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
