//! What a run has used over its whole life, summed up as it goes on.

use danlu_core::{GpuId, NodeId};
use danlu_wire::samples::RunReading;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Below this a GPU does nothing, in percent …
const IDLE_BELOW: u8 = 5;
/// … and only after this long it counts, in milliseconds: all training programs pause now and then.
const IDLE_AFTER: i64 = 60_000;
/// What was not seen for longer is not known, and counts as nothing.
const LONGEST_GAP: i64 = 30_000;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSummary {
    /// Milliseconds, as all times here.
    pub first_at: i64,
    pub last_at: i64,
    pub samples: u32,
    pub parts: BTreeMap<NodeId, PartSummary>,
    pub gpus: BTreeMap<GpuId, GpuSummary>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PartSummary {
    last_at: i64,
    /// Thousandths of a core.
    pub cores: Average,
    /// MiB.
    pub memory: Average,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuSummary {
    last_at: i64,
    /// Percent.
    pub utilization: Average,
    /// MiB.
    pub memory: Average,
    pub held: i64,
    /// In stretches that are over.
    idle: i64,
    /// In the one that goes on.
    idle_now: i64,
    /// Millijoules, while it had the GPU alone.
    pub energy: i64,
}

/// Weighted by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Average {
    sum: i64,
    weight: i64,
    pub peak: i64,
}

impl Average {
    fn add(&mut self, value: i64, weight: i64) {
        self.sum = self.sum.saturating_add(value.saturating_mul(weight));
        self.weight += weight;
        self.peak = self.peak.max(value);
    }

    /// The sum of value times milliseconds, and the milliseconds.
    pub fn total(&self) -> (i64, i64) {
        (self.sum, self.weight)
    }

    /// `None` before anything was seen for any time.
    pub fn mean(&self) -> Option<i64> {
        (self.sum + self.weight / 2).checked_div(self.weight)
    }
}

impl GpuSummary {
    /// Longer than a pause, in milliseconds.
    pub fn idle(&self) -> i64 {
        self.idle + self.idle_stretch()
    }

    fn idle_stretch(&self) -> i64 {
        if self.idle_now >= IDLE_AFTER { self.idle_now } else { 0 }
    }
}

impl RunSummary {
    /// `interval` is how long the first sample stands for.
    pub(super) fn add(&mut self, node: NodeId, reading: &RunReading, at: i64, interval: i64) {
        if self.samples == 0 {
            self.first_at = at;
        }
        self.samples = self.samples.saturating_add(1);
        self.last_at = self.last_at.max(at);
        let weight = |last: i64| match last {
            0 => interval,
            last => (at - last).clamp(0, LONGEST_GAP),
        };
        let part = self.parts.entry(node).or_default();
        let since = weight(std::mem::replace(&mut part.last_at, at));
        reading.cpu.iter().for_each(|cores| part.cores.add(i64::from(*cores), since));
        reading.memory.iter().for_each(|memory| part.memory.add(i64::from(*memory), since));
        for seen in &reading.gpus {
            let gpu = self.gpus.entry(seen.gpu.clone()).or_default();
            let since = weight(std::mem::replace(&mut gpu.last_at, at));
            gpu.held += since;
            if let Some(memory) = seen.load.memory {
                gpu.memory.add(i64::from(memory), since);
            }
            if let Some(watts) = seen.load.power {
                gpu.energy += i64::from(watts) * since;
            }
            if let Some(percent) = seen.load.utilization {
                gpu.utilization.add(i64::from(percent), since);
                if percent < IDLE_BELOW {
                    gpu.idle_now += since;
                } else {
                    gpu.idle += gpu.idle_stretch();
                    gpu.idle_now = 0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::RunId;
    use danlu_wire::samples::{GpuLoad, RunGpuReading};

    fn reading(utilization: u8) -> RunReading {
        let load = GpuLoad { utilization: Some(utilization), memory: Some(1000), power: Some(200) };
        let gpus = vec![RunGpuReading { gpu: "GPU-0".into(), load }];
        RunReading { run: RunId::FIRST, cpu: Some(1500), memory: Some(300), gpus }
    }

    /// Every two seconds, with that utilisation.
    fn life(use_: impl IntoIterator<Item = u8>) -> RunSummary {
        let mut summary = RunSummary::default();
        for (place, utilization) in (1..).zip(use_) {
            summary.add(NodeId(1), &reading(utilization), place * 2_000, 2_000);
        }
        summary
    }

    #[test]
    fn short_pauses_are_not_idle() {
        let summary = life([90; 60].into_iter().chain([0; 29]).chain([90; 60]));
        let gpu = &summary.gpus[&GpuId::from("GPU-0")];
        assert_eq!(gpu.idle(), 0);
        assert_eq!(gpu.held, 149 * 2_000);
        assert_eq!(gpu.energy, 149 * 2_000 * 200);
        assert_eq!(gpu.utilization.peak, 90);
        assert_eq!(gpu.utilization.mean(), Some(72));
    }

    #[test]
    fn long_ones_count_from_their_beginning_also_while_they_go_on() {
        let summary = life([90; 10].into_iter().chain([2; 30]));
        assert_eq!(summary.gpus[&GpuId::from("GPU-0")].idle(), 60_000);
        let summary = life([2; 60].into_iter().chain([90; 1]).chain([0; 10]));
        assert_eq!(summary.gpus[&GpuId::from("GPU-0")].idle(), 120_000);
    }

    #[test]
    fn what_was_not_seen_counts_for_little() {
        let mut summary = life([100; 5]);
        summary.add(NodeId(1), &reading(100), 100_000_000, 2_000);
        assert_eq!(summary.gpus[&GpuId::from("GPU-0")].held, 10_000 + LONGEST_GAP);
        assert_eq!(summary.parts[&NodeId(1)].cores.mean(), Some(1500));
    }

    #[test]
    fn it_survives_being_stored() {
        let summary = life([10; 40]);
        let stored = serde_json::to_string(&summary).unwrap();
        assert_eq!(serde_json::from_str::<RunSummary>(&stored).unwrap(), summary);
    }
}
