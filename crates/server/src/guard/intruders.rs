//! Which processes are on GPUs that are not theirs. Pure.

use crate::read_model::ReadModel;
use danlu_core::gpu::GpuCondition;
use danlu_core::{GpuId, NodeId, RunId};
use std::collections::BTreeSet;

/// A process that Danlu did not start, on a GPU that one run has for itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Intruder {
    pub(crate) node: NodeId,
    pub(crate) pid: u32,
    pub(crate) gpu: GpuId,
    pub(crate) run: RunId,
    /// Of the operating system; empty where it is not known.
    pub(crate) user: String,
}

/// Of GPUs that tasks share others may use a part.
pub(crate) fn intruders(model: &ReadModel) -> BTreeSet<Intruder> {
    let mut found = BTreeSet::new();
    for run in model.active_runs() {
        let task = model.tasks.get(&run.task);
        if task.is_none_or(|task| task.spec.request.is_shared()) {
            continue;
        }
        for part in run.parts.iter().filter(|part| !part.is_ended()) {
            let Some(node) = model.nodes.get(&part.node).filter(|node| node.is_ready()) else {
                continue;
            };
            for gpu in node.gpus.iter().filter(|gpu| part.gpus.contains(&gpu.id)) {
                let GpuCondition::Foreign { processes } = &gpu.condition else { continue };
                if node.rule_of(gpu).slots() > 1 {
                    continue;
                }
                found.extend(processes.iter().map(|process| Intruder {
                    node: node.id,
                    pid: process.pid,
                    gpu: gpu.id.clone(),
                    run: run.id,
                    user: process.user.clone(),
                }));
            }
        }
    }
    found
}
