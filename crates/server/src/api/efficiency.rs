//! What a run has made of what it held: as values for programs, and in words for pages and messages.

use super::Api;
use super::usage::{gpu_name, natural};
use super::view::{ended_at, exit_code, started_at};
use crate::read_model::ReadModel;
use crate::usage::{AskedFor, Card, RunSummary, Usage, card};
use danlu_core::{GpuId, Run, RunId, Span, Task};
use danlu_messages::amounts;
use danlu_messages::efficiency::{self as msg, Advice};
use danlu_wire::api::{AdviceView, Efficiency, GpuEfficiency};

/// Of each run of a task that was measured.
pub(crate) async fn efficiencies(
    api: &Api,
    model: &ReadModel,
    task: &Task,
) -> Vec<(RunId, Efficiency)> {
    let runs: Vec<RunId> = model.runs_of(task.id).map(|run| run.id).collect();
    let summaries = move |usage: &Usage| {
        let found = runs.into_iter().filter_map(|run| Some((run, usage.summary(run)?)));
        found.collect::<Vec<(RunId, RunSummary)>>()
    };
    let found = api.usage.ask(summaries).await.unwrap_or_default();
    let view = |(id, summary): (RunId, RunSummary)| {
        let run = model.runs.get(&id)?;
        let card = card(&summary, &asked(model, task, run));
        Some((id, efficiency(model, &summary, &card)))
    };
    found.into_iter().filter_map(view).collect()
}

fn asked(model: &ReadModel, task: &Task, run: &Run) -> AskedFor {
    let request = &task.spec.request;
    let held = run.parts.iter().flat_map(|part| &part.gpus);
    let memory = |gpu: &GpuId| gpu_name(model, gpu).1.map_or(0, |mebibytes| mebibytes << 20);
    let succeeded = run.is_ended() && exit_code(run) == Some(0);
    let took = started_at(run).zip(ended_at(run)).filter(|_| succeeded);
    AskedFor {
        gpus: held.map(|gpu| (gpu.clone(), memory(gpu))).collect(),
        shared: request.is_shared(),
        cpus: request.cpus,
        memory: request.memory,
        time_limit: task.spec.time_limit,
        took: took.map(|(from, to)| Span(u64::try_from(to.0 - from.0).unwrap_or(0))),
    }
}

fn efficiency(model: &ReadModel, summary: &RunSummary, card: &Card) -> Efficiency {
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    let percent = |number: i64| u32::try_from(number).unwrap_or(0);
    let gpus = summary.gpus.iter().map(|(gpu, seen)| GpuEfficiency {
        gpu: gpu_name(model, gpu).0,
        utilization: seen.utilization.mean().map(percent),
        utilization_peak: seen.utilization.mean().map(|_| percent(seen.utilization.peak)),
        memory_peak: seen.memory.mean().map(|_| whole(seen.memory.peak) << 20),
        idle_seconds: whole(seen.idle()) / 1_000,
    });
    let mut gpus: Vec<GpuEfficiency> = gpus.collect();
    gpus.sort_by_key(|one| natural(&one.gpu));
    let advice = |advice: &Advice| AdviceView {
        kind: advice.name().to_owned(),
        option: Some(advice.option()),
        text: advice.words(),
    };
    Efficiency {
        measured_seconds: whole(card.measured) / 1_000,
        gpu_utilization: card.utilization.map(|(mean, _)| percent(mean)),
        gpu_utilization_peak: card.utilization.map(|(_, peak)| percent(peak)),
        gpu_memory_peak: card.gpu_memory.map(|mebibytes| whole(mebibytes) << 20),
        gpu_seconds: whole(card.held) / 1_000,
        gpu_idle_seconds: whole(card.idle) / 1_000,
        cpu_millicores: card.cores.map(|(mean, _)| whole(mean)),
        cpu_millicores_peak: card.cores.map(|(_, peak)| whole(peak)),
        memory_peak: card.memory.map(|mebibytes| whole(mebibytes) << 20),
        energy_joules: card.energy.map(|millijoules| whole(millijoules) / 1_000),
        gpus,
        advice: card.advice.iter().map(advice).collect(),
    }
}

/// The efficiency card: names and values, and what to ask for next time.
pub(crate) struct EfficiencyCard {
    pub(crate) facts: Vec<(&'static str, String)>,
    pub(crate) advice: Vec<String>,
}

impl EfficiencyCard {
    pub(crate) fn of(seen: &Efficiency) -> EfficiencyCard {
        let use_ = seen.gpu_utilization.zip(seen.gpu_utilization_peak);
        let use_ = use_.map(|(mean, peak)| msg::percent_and_peak(&mean, &peak));
        let idle = (seen.gpu_seconds > 0 && seen.gpu_utilization.is_some())
            .then(|| msg::idle_line(seen.gpu_idle_seconds, seen.gpu_seconds));
        let cores = seen.cpu_millicores.zip(seen.cpu_millicores_peak);
        let cores =
            cores.map(|(mean, peak)| msg::number_and_peak(&msg::cores(mean), &msg::cores(peak)));
        let size = |bytes: Option<u64>| bytes.map(amounts::rounded_bytes);
        let facts = [
            (msg::gpu_use(), use_),
            (msg::gpu_memory_peak(), size(seen.gpu_memory_peak)),
            (msg::gpu_idle(), idle),
            (msg::cpu(), cores),
            (msg::memory_peak(), size(seen.memory_peak)),
            (msg::energy_used(), seen.energy_joules.map(msg::energy)),
        ];
        EfficiencyCard {
            facts: facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            advice: seen.advice.iter().map(|advice| advice.text.clone()).collect(),
        }
    }
}
