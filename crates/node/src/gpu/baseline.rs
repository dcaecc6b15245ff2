//! The memory that a GPU uses while idle, so that memory which a run has not released is noticed.

use super::sample::{Live, ProcessKind};
use danlu_core::ids::GpuId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const MOST_GPUS: usize = 1024;

/// Bytes per GPU. The lowest value that was seen while no process computed: what leaks can only be above it.
///
/// It can be stored: after a restart in the middle of a run there is no other way to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Baselines(BTreeMap<GpuId, u64>);

impl Baselines {
    pub(crate) fn learn(&mut self, gpu: &GpuId, live: &Live) {
        let Some(rest) = unexplained(live).filter(|_| is_unused(live)) else { return };
        let known = self.0.entry(gpu.clone()).or_insert(rest);
        *known = rest.min(*known);
    }

    /// Takes the current value as the new baseline.
    pub(crate) fn accept(&mut self, gpu: &GpuId, live: &Live) {
        self.0.remove(gpu);
        self.learn(gpu, live);
    }

    /// New MIG instances have new names: in the end those of old ones go.
    pub(crate) fn limit(&mut self, is_there: impl Fn(&GpuId) -> bool) {
        if self.0.len() > MOST_GPUS {
            self.0.retain(|gpu, _| is_there(gpu));
        }
    }

    /// Bytes that no listed process explains, above the baseline; `None` where it is unknown.
    pub(crate) fn above(&self, gpu: &GpuId, live: &Live) -> Option<u64> {
        Some(unexplained(live)?.saturating_sub(*self.0.get(gpu)?))
    }
}

fn is_unused(live: &Live) -> bool {
    live.processes.iter().all(|process| process.kind == ProcessKind::Graphics)
}

/// Memory in use that no listed process accounts for.
fn unexplained(live: &Live) -> Option<u64> {
    let mut explained = 0_u64;
    for process in &live.processes {
        explained = explained.saturating_add(process.memory?);
    }
    Some(live.memory_used.saturating_sub(explained))
}
