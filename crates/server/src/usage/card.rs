//! The efficiency card of a run: what it made of what it held, and what to ask for next time.

use super::summary::{GpuSummary, RunSummary};
use danlu_core::{GpuId, Span};
use danlu_messages::efficiency::Advice;

/// What a task asked for and got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedFor {
    /// The GPUs of the run, with their memory in bytes.
    pub gpus: Vec<(GpuId, u64)>,
    pub shared: bool,
    /// Cores and bytes on each machine; zero: nothing was said.
    pub cpus: u32,
    pub memory: u64,
    pub time_limit: Option<Span>,
    /// How long it ran, if it has ended as it should.
    pub took: Option<Span>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Card {
    /// Milliseconds.
    pub measured: i64,
    /// Percent: mean and peak.
    pub utilization: Option<(i64, i64)>,
    /// MiB of one GPU.
    pub gpu_memory: Option<i64>,
    /// Milliseconds of all GPUs together.
    pub held: i64,
    pub idle: i64,
    /// Thousandths of a core: mean and peak on the machine with the highest peak.
    pub cores: Option<(i64, i64)>,
    /// MiB.
    pub memory: Option<i64>,
    /// Millijoules.
    pub energy: Option<i64>,
    pub advice: Vec<Advice>,
}

/// Shorter runs tell nothing about longer ones.
const LONG_ENOUGH: i64 = 120_000;
/// A GPU that never gets this busy was not used, in percent.
const USED_FROM: i64 = 5;
/// It may share its GPU when it uses less than this, in percent of the time and of the memory.
const SHARES_BELOW: i64 = 40;
/// What is advised is more than what was used: by a quarter.
const SPARE: (u64, u64) = (5, 4);
/// Advice that would save less than half is not worth a word.
const HALF: u64 = 2;
const SHORTEST_LIMIT: Span = Span::from_secs(600);

pub fn card(summary: &RunSummary, asked: &AskedFor) -> Card {
    let gpus = || summary.gpus.values();
    let measured = summary.last_at - summary.first_at;
    let known: Vec<&GpuSummary> = gpus().filter(|gpu| gpu.utilization.mean().is_some()).collect();
    let weight: i64 = known.iter().map(|gpu| gpu.held.max(1)).sum();
    let mean = known.iter().filter_map(|gpu| Some(gpu.utilization.mean()? * gpu.held.max(1)));
    let mean = mean.sum::<i64>().checked_div(weight);
    let peak = known.iter().map(|gpu| gpu.utilization.peak).max();
    let cores = summary.parts.values().max_by_key(|part| part.cores.peak);
    let energy = gpus().map(|gpu| gpu.energy).sum::<i64>();
    let mut card = Card {
        measured,
        utilization: mean.zip(peak),
        gpu_memory: gpus().filter(|it| it.memory.mean().is_some()).map(|it| it.memory.peak).max(),
        held: gpus().map(|gpu| gpu.held).sum(),
        idle: gpus().map(GpuSummary::idle).sum(),
        cores: cores.and_then(|part| Some((part.cores.mean()?, part.cores.peak))),
        memory: summary
            .parts
            .values()
            .filter_map(|it| it.memory.mean().and(Some(it.memory.peak)))
            .max(),
        energy: (energy > 0).then_some(energy),
        advice: Vec::new(),
    };
    if measured >= LONG_ENOUGH {
        card.advice = advice(&card, summary, asked);
    }
    card
}

fn advice(card: &Card, summary: &RunSummary, asked: &AskedFor) -> Vec<Advice> {
    let gpus = on_gpus(card, summary, asked);
    let cpus = card.cores.and_then(|(_, peak)| {
        let cpus = u32::try_from(with_spare(peak.unsigned_abs()).div_ceil(1_000)).ok()?.max(1);
        (u64::from(cpus) * HALF <= u64::from(asked.cpus)).then_some(Advice::FewerCpus { cpus })
    });
    let memory = card.memory.and_then(|peak| {
        let bytes = whole_gibibytes(peak);
        (asked.memory > 0 && bytes * HALF <= asked.memory).then_some(Advice::LessMemory { bytes })
    });
    let time = asked.took.and_then(|took| {
        let limit = limit_for(took);
        let saves = asked.time_limit.is_none_or(|now| limit.0 * HALF <= now.0);
        saves.then_some(Advice::TimeLimit { limit })
    });
    gpus.into_iter().chain(cpus).chain(memory).chain(time).collect()
}

/// Only where every GPU of the run was measured: of one that was not, nothing is known.
fn on_gpus(card: &Card, summary: &RunSummary, asked: &AskedFor) -> Option<Advice> {
    let of = |gpu: &GpuId| summary.gpus.get(gpu).filter(|it| it.utilization.mean().is_some());
    let seen: Vec<&GpuSummary> = asked.gpus.iter().filter_map(|(gpu, _)| of(gpu)).collect();
    if seen.is_empty() || seen.len() != asked.gpus.len() {
        return None;
    }
    let held = u32::try_from(seen.len()).ok()?;
    let used = seen.iter().filter(|gpu| gpu.utilization.peak >= USED_FROM).count();
    let used = u32::try_from(used).ok()?;
    if used == 0 {
        return Some(Advice::NoGpu);
    }
    if used < held {
        return Some(Advice::FewerGpus { used, held });
    }
    let (mean, _) = card.utilization?;
    let least = asked.gpus.iter().map(|(_, bytes)| *bytes).min().filter(|bytes| *bytes > 0)?;
    let vram = whole_gibibytes(card.gpu_memory?);
    let fits = vram.saturating_mul(100) <= least.saturating_mul(SHARES_BELOW.unsigned_abs());
    (!asked.shared && held == 1 && mean < SHARES_BELOW && fits).then_some(Advice::ShareGpu { vram })
}

fn with_spare(number: u64) -> u64 {
    (number.saturating_mul(SPARE.0)).div_ceil(SPARE.1)
}

/// Of MiB, as bytes.
fn whole_gibibytes(mebibytes: i64) -> u64 {
    with_spare(mebibytes.unsigned_abs()).div_ceil(1_024).max(1) << 30
}

/// Half as long again, in round numbers.
fn limit_for(took: Span) -> Span {
    let seconds = took.0 / 1_000 * 3 / 2;
    let round = match seconds {
        0..3_600 => 600,
        3_600..36_000 => 1_800,
        _ => 3_600,
    };
    Span::from_secs(seconds.div_ceil(round) * round).max(SHORTEST_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::{NodeId, RunId};
    use danlu_wire::samples::{GpuLoad, RunGpuReading, RunReading};

    /// A run of `seconds` with GPUs of these utilisations, and 2000 MiB on each.
    fn run(seconds: i64, use_: &[Option<u8>]) -> RunSummary {
        let mut summary = RunSummary::default();
        let name = |place: usize| GpuId::from(format!("GPU-{place}").as_str());
        for second in (2..=seconds + 2).step_by(2) {
            let gpus = use_.iter().enumerate().map(|(place, utilization)| RunGpuReading {
                gpu: name(place),
                load: GpuLoad { utilization: *utilization, memory: Some(2_000), power: Some(100) },
            });
            let reading = RunReading {
                run: RunId::FIRST,
                cpu: Some(1_500),
                memory: Some(3_000),
                gpus: gpus.collect(),
            };
            summary.add(NodeId(1), &reading, second * 1_000, 2_000);
        }
        summary
    }

    fn asked(gpus: usize) -> AskedFor {
        let gpu = |place: usize| (GpuId::from(format!("GPU-{place}").as_str()), 24_u64 << 30);
        AskedFor { gpus: (0..gpus).map(gpu).collect(), ..AskedFor::default() }
    }

    #[test]
    fn gpus_that_were_never_used_are_too_many() {
        let card = card(&run(600, &[Some(90), Some(0), Some(4), Some(0)]), &asked(4));
        assert_eq!(card.advice, [Advice::FewerGpus { used: 1, held: 4 }]);
        assert_eq!(card.utilization, Some((23, 90)));
        assert_eq!(card.idle, 3 * 602_000);
        assert_eq!(card.energy, Some(4 * 100 * 602_000));
    }

    #[test]
    fn a_small_run_could_share() {
        let summary = run(600, &[Some(20)]);
        assert_eq!(card(&summary, &asked(1)).advice, [Advice::ShareGpu { vram: 3 << 30 }]);
        let shared = AskedFor { shared: true, ..asked(1) };
        assert!(card(&summary, &shared).advice.is_empty());
        let busy = run(600, &[Some(60)]);
        assert!(card(&busy, &asked(1)).advice.is_empty());
    }

    #[test]
    fn what_was_not_measured_gets_no_advice() {
        assert!(card(&run(60, &[Some(0)]), &asked(1)).advice.is_empty(), "it was too short");
        let unknown = card(&run(600, &[None]), &asked(1));
        assert!(unknown.advice.is_empty());
        assert_eq!(unknown.utilization, None);
        assert!(card(&run(600, &[Some(0)]), &asked(2)).advice.is_empty(), "one was not measured");
        assert_eq!(card(&RunSummary::default(), &asked(1)), Card::default());
    }

    #[test]
    fn cores_memory_and_time_are_advised_where_they_save_half() {
        let much = AskedFor {
            cpus: 16,
            memory: 64 << 30,
            time_limit: Some(Span::from_secs(86_400)),
            took: Some(Span::from_secs(600)),
            ..asked(0)
        };
        let limit = Advice::TimeLimit { limit: Span::from_secs(1_200) };
        let expect = [Advice::FewerCpus { cpus: 2 }, Advice::LessMemory { bytes: 4 << 30 }, limit];
        assert_eq!(card(&run(600, &[]), &much).advice, expect);
        let right = AskedFor {
            cpus: 2,
            memory: 6 << 30,
            time_limit: Some(Span::from_secs(1_800)),
            took: Some(Span::from_secs(600)),
            ..asked(0)
        };
        assert!(card(&run(600, &[]), &right).advice.is_empty());
    }
}
