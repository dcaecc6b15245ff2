//! Whether a run as a whole is idle: all GPUs that it holds are. Pure.

use super::cpu::CpuRecord;
use super::verdict::{IdleRecord, Idleness, Look};
use danlu_core::{GpuId, NodeId, Span, Time};
use std::collections::BTreeMap;

/// A GPU that was not looked at for longer is not known.
const STALE: Span = Span::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RunRecord {
    gpus: BTreeMap<GpuId, IdleRecord>,
    cpus: BTreeMap<NodeId, CpuRecord>,
}

/// What can be said of a run at a time.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct RunVerdict {
    /// Those of its GPUs that are idle.
    pub(crate) gpus: BTreeMap<GpuId, Idleness>,
    /// … if all are.
    pub(crate) whole: Option<Idleness>,
    /// Its CPUs are busy.
    pub(crate) cpu_busy: bool,
    /// A GPU has load at the moment, which may turn out to be work.
    pub(crate) stirring: bool,
}

/// How one looks, and from when on somebody is idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    pub(crate) interval: Span,
    pub(crate) least: Span,
}

impl RunRecord {
    pub(crate) fn add_cpu(&mut self, node: NodeId, at: Time, cores: Option<u32>) {
        self.cpus.entry(node).or_default().add(at, cores);
    }

    pub(crate) fn add(&mut self, gpu: &GpuId, look: &Look, pace: Pace) {
        self.gpus.entry(gpu.clone()).or_default().add(look, pace.interval);
    }

    /// `held`: all GPUs of the run, on all machines.
    pub(crate) fn verdict(&self, held: &[GpuId], now: Time, pace: Pace) -> RunVerdict {
        let stale = STALE.max(Span(pace.interval.0 * 5 / 2));
        let judge = |gpu: &GpuId| {
            let record = self.gpus.get(gpu)?;
            record.last_at().filter(|at| now.since(*at) <= stale)?;
            record.verdict(pace.least, pace.interval)
        };
        let all: Vec<Option<Idleness>> = held.iter().map(judge).collect();
        let whole = all.iter().copied().collect::<Option<Vec<Idleness>>>();
        RunVerdict {
            gpus: held
                .iter()
                .zip(&all)
                .filter_map(|(gpu, it)| Some((gpu.clone(), (*it)?)))
                .collect(),
            whole: whole.and_then(|all| all.into_iter().reduce(Idleness::and)),
            cpu_busy: self.cpus.values().any(|cpu| cpu.is_busy(now, pace.least)),
            stirring: self.gpus.values().any(IdleRecord::is_stirring),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::idle::IdleKind;

    const PACE: Pace = Pace { interval: Span::from_secs(2), least: Span::from_secs(1_800) };

    /// Two GPUs over an hour: each with or without a process, and with its utilisation in the last look.
    fn hour(one: (u32, u8), two: (u32, u8)) -> RunVerdict {
        let mut record = RunRecord::default();
        let gpus = [GpuId::from("one"), GpuId::from("two")];
        for second in (0..3_600).step_by(2) {
            let at = Time::from_secs(second);
            record.add_cpu(NodeId(1), at, Some(10));
            for (gpu, (memory, utilization)) in gpus.iter().zip([one, two]) {
                let utilization = if second > 2_000 { utilization } else { 0 };
                let (utilization, memory) = (Some(utilization), Some(memory));
                let look = Look { at, utilization, memory, power: None, power_at_rest: None };
                record.add(gpu, &look, PACE);
            }
        }
        record.verdict(&gpus, Time::from_secs(3_600), PACE)
    }

    #[test]
    fn a_run_is_idle_when_all_its_gpus_are() {
        let verdict = hour((0, 0), (500, 0));
        let whole = verdict.whole.expect("both are idle");
        assert_eq!((whole.since, whole.kind), (Time(0), IdleKind::NeverUsed));
        assert_eq!(verdict.gpus[&GpuId::from("one")].kind, IdleKind::NoProcess);
        let verdict = hour((0, 0), (500, 90));
        assert_eq!(verdict.whole, None);
        assert_eq!(verdict.gpus.len(), 1);
        assert!(verdict.stirring);
    }

    #[test]
    fn what_was_never_seen_or_long_ago_is_not_idle() {
        let record = RunRecord::default();
        assert_eq!(record.verdict(&["one".into()], Time(0), PACE).whole, None);
        // A run without GPUs holds none idle.
        assert_eq!(record.verdict(&[], Time(0), PACE).whole, None);
        let mut record = RunRecord::default();
        for second in (0..3_600).step_by(2) {
            let at = Time::from_secs(second);
            let (utilization, memory) = (Some(0), Some(0));
            let look = Look { at, utilization, memory, power: None, power_at_rest: None };
            record.add(&"one".into(), &look, PACE);
        }
        let at = |seconds| record.verdict(&["one".into()], Time::from_secs(seconds), PACE).whole;
        assert!(at(3_600).is_some());
        assert_eq!(at(3_700), None);
        // One of two machines has not told anything yet.
        assert_eq!(
            record.verdict(&["one".into(), "two".into()], Time::from_secs(3_600), PACE).whole,
            None
        );
    }
}
