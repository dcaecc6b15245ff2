//! Which samples of a machine are believed: those of its own GPUs, of runs that it has, and of metrics that are configured.

use crate::daemon::config::Sampling;
use crate::read_model::ReadModel;
use danlu_core::{GpuId, NodeId, RunId, UserId};
use danlu_wire::samples::Samples;

/// `user`: of that person's own agent, who has nothing to say about the rest of the machine.
pub(super) fn admit(
    mut samples: Samples,
    model: &ReadModel,
    settings: &Sampling,
    node: NodeId,
    user: Option<UserId>,
) -> Samples {
    let Some(known) = model.nodes.get(&node) else { return Samples::default() };
    let has = |gpu: &GpuId| known.gpus.iter().any(|one| one.id == *gpu);
    let is_configured =
        |name: &str| settings.metrics.iter().any(|metric| metric.probe.name == name);
    let is_there = |run: RunId| {
        let found = model.runs.get(&run).filter(|run| run.part_on(node).is_some());
        let task = found.and_then(|run| model.tasks.get(&run.task));
        task.is_some_and(|task| user.is_none_or(|user| task.owner == user))
    };
    samples.gpus.retain(|reading| has(&reading.gpu));
    samples.runs.retain(|reading| is_there(reading.run));
    samples.runs.iter_mut().for_each(|reading| reading.gpus.retain(|one| has(&one.gpu)));
    samples.custom.retain(|one| is_configured(&one.metric) && one.gpu.as_ref().is_none_or(has));
    samples.failed_probes.retain(|one| is_configured(&one.metric));
    if user.is_some() {
        samples = Samples { at: samples.at, runs: samples.runs, ..Samples::default() };
    }
    samples
}
