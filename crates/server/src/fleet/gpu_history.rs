//! The last minutes of every GPU, in memory, for charts.

use danlu_core::{GpuId, Time};
use danlu_wire::gpu::GpuDetails;
use imbl::{OrdMap, Vector};

const KEPT_MS: i64 = 10 * 60_000;
/// Samples closer together add nothing.
const APART_MS: i64 = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    pub at: Time,
    /// Percent.
    pub utilization: Option<u8>,
    /// Bytes.
    pub memory_used: Option<u64>,
}

/// Clones share unchanged parts.
#[derive(Debug, Clone, Default)]
pub(super) struct GpuHistory {
    gpus: OrdMap<GpuId, Vector<Sample>>,
}

impl GpuHistory {
    pub(super) fn note(&mut self, gpu: &GpuDetails, now: Time) {
        let fresh = Sample { at: now, utilization: gpu.utilization, memory_used: gpu.memory_used };
        let samples = self.gpus.entry(gpu.uuid.clone()).or_default();
        // The last sample is replaced while it is too close to the one before it.
        let before = samples.len().checked_sub(2).and_then(|place| samples.get(place));
        if before.is_some_and(|before| now.0 - before.at.0 < APART_MS) {
            samples.pop_back();
        }
        samples.push_back(fresh);
        // The oldest sample is the value at the beginning of the ten minutes.
        while samples.get(1).is_some_and(|second| now.0 - second.at.0 > KEPT_MS) {
            samples.pop_front();
        }
    }

    pub(super) fn of(&self, gpu: &GpuId) -> Vec<Sample> {
        self.gpus.get(gpu).into_iter().flatten().copied().collect()
    }
}
