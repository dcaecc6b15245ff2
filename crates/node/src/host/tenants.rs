//! Tasks that use simulated GPUs: the memory that they requested with `--vram`, or a load that looks real.

use crate::gpu::SimTenant;
use danlu_core::{GpuId, RunId};
use danlu_wire::LaunchOrder;
use danlu_wire::rundir::ShimState;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shared by the thread that launches runs and the one that samples GPUs. Empty unless the GPUs are simulated.
#[derive(Debug, Clone, Default)]
pub(super) struct Tenants {
    known: Arc<Mutex<BTreeMap<RunId, Tenant>>>,
    /// Also those that have not said how much memory they want.
    all: bool,
}

#[derive(Debug)]
struct Tenant {
    gpus: Vec<GpuId>,
    memory: Option<u64>,
    /// The process, and when it began.
    running: Option<(u32, Instant)>,
}

impl Tenants {
    pub(super) fn new(all: bool) -> Tenants {
        Tenants { all, ..Tenants::default() }
    }

    /// A run that an earlier agent has started; how much memory it wanted is not known any more.
    pub(super) fn adopt(&self, run: RunId, state: ShimState) {
        let ShimState { gpus, leader, started_at, boot_id, .. } = state;
        if self.all && !gpus.is_empty() && leader != 0 && boot_id == crate::boot::boot_id() {
            let age = u64::try_from(crate::clock::now().0 - started_at.0).unwrap_or(0);
            let now = Instant::now();
            let since = now.checked_sub(Duration::from_millis(age)).unwrap_or(now);
            let running = Some((leader, since));
            self.lock().insert(run, Tenant { gpus, memory: None, running });
        }
    }

    pub(super) fn launched(&self, order: &LaunchOrder) {
        let memory = order.gpu_memory;
        if (memory.is_some() || self.all) && !order.gpus.assigned.is_empty() {
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
        let running = known.iter().filter_map(|(run, tenant)| {
            let (pid, since) = tenant.running?;
            let (gpus, memory) = (tenant.gpus.clone(), tenant.memory);
            let seed = run.number ^ u64::from(run.epoch.0) << 48;
            Some(SimTenant { gpus, pid, memory, age: since.elapsed(), seed })
        });
        running.collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Tenant>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
