//! Which runs may share a GPU, and which GPUs may be allocated at all.

use super::Oracle;
use crate::chaos::engine_driver::Turn;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::effect::Launch;
use danlu_core::gpu::GpuReport;
use danlu_core::input::GpuChange;
use danlu_core::resources::Sharing;
use danlu_core::{Effect, GpuId, Input, NodeId, RunId};
use std::collections::{BTreeMap, BTreeSet};

/// Rules for GPUs, and the runs they were allocated to.
#[derive(Debug, Clone, Default)]
pub(in crate::chaos) struct GpuFacts {
    slots: BTreeMap<(NodeId, GpuId), u16>,
    disabled: BTreeSet<(NodeId, GpuId)>,
    pub(super) quarantined: BTreeSet<(NodeId, GpuId)>,
    /// Nodes of which somebody has spoken before they said what they have.
    unsure: BTreeSet<NodeId>,
    /// Tasks may count as less than they have asked for.
    pub(super) reclaimed: bool,
    given: BTreeMap<(NodeId, GpuId), BTreeMap<RunId, (Sharing, u64)>>,
}

impl Oracle {
    pub(super) fn gpus_managed(&mut self, node: NodeId, change: &GpuChange) {
        let numbers: Vec<u32> = match change {
            GpuChange::Enable(numbers) | GpuChange::Disable(numbers) => {
                numbers.iter().copied().collect()
            }
            GpuChange::Slots(slots) => slots.keys().copied().collect(),
            GpuChange::Config(_) => Vec::new(),
        };
        let told = self.told.nodes.get(&node).and_then(|told| told.gpus.as_ref());
        let facts = &mut self.record.gpus;
        for number in numbers {
            let gpu = told.into_iter().flatten().find(|gpu| gpu.index == number);
            let Some(gpu) = gpu else {
                facts.unsure.insert(node);
                // It may be any of them.
                if let GpuChange::Slots(slots) = change {
                    let most = slots.values().copied().max().unwrap_or(1);
                    self.truth.most_anywhere = most.max(self.truth.most_anywhere);
                }
                continue;
            };
            let key = (node, gpu.id.clone());
            match change {
                GpuChange::Enable(_) => {
                    facts.disabled.remove(&key);
                    facts.quarantined.remove(&key);
                }
                GpuChange::Disable(_) => drop(facts.disabled.insert(key)),
                GpuChange::Slots(slots) => {
                    let slots = slots.get(&number).copied().unwrap_or(1);
                    let most = self.truth.most_slots.entry(gpu.id.clone()).or_insert(1);
                    *most = slots.max(*most);
                    facts.slots.insert(key, slots);
                }
                GpuChange::Config(_) => {}
            }
        }
    }

    /// From now on the run has these.
    pub(super) fn given(&mut self, effect: &Effect) {
        let Effect::Launch(launch) = effect else { return };
        let request = &launch.spec.request;
        for gpu in &launch.gpus {
            let on = self.record.gpus.given.entry((launch.node, gpu.clone())).or_default();
            on.insert(launch.run, (request.sharing, request.gpu_memory));
        }
    }

    pub(super) fn node_has_memory(&self, node: NodeId, run: RunId) -> Verdict {
        let free = self.told.nodes.get(&node).and_then(|told| told.free_memory);
        // A fifth of what the machines of these worlds have.
        let enough = free.is_none_or(|free| free >= (64 << 30) / 5);
        ensure!(enough, "run {run} is launched on node {node} with {free:?} bytes free");
        Ok(())
    }

    /// Whether the run may be on this GPU, with those that are there already.
    pub(super) fn gpu_is_given_out(&self, launch: &Launch, gpu: Option<&GpuReport>) -> Verdict {
        let Some(gpu) = gpu else { return Ok(()) };
        let Launch { node, run, spec, .. } = launch;
        let facts = &self.record.gpus;
        let key = (*node, gpu.id.clone());
        let id = &gpu.id;
        let sure = !facts.unsure.contains(node);
        ensure!(!sure || !facts.disabled.contains(&key), "run {run} is given disabled GPU {id}");
        ensure!(!sure || !facts.quarantined.contains(&key), "run {run} is given broken GPU {id}");
        let goes_on = |run: &RunId| {
            let fact = self.record.runs.get(run);
            fact.is_some_and(|fact| fact.ended.is_none() && !fact.part_ended(*node))
        };
        let others = facts.given.get(&key).into_iter().flatten();
        let others: Vec<_> = others.filter(|(other, _)| *other != run && goes_on(other)).collect();
        let request = &spec.request;
        match request.sharing {
            Sharing::Exclusive => {
                ensure!(others.is_empty(), "run {run} wants GPU {id} alone: {others:?}");
            }
            Sharing::Slot => {
                let alike = others.iter().all(|(_, (sharing, _))| *sharing == Sharing::Slot);
                ensure!(alike, "run {run} is given GPU {id}, which others share: {others:?}");
                let slots = facts.slots.get(&key).copied().unwrap_or(1);
                let room = others.len() < usize::from(slots) || !sure;
                ensure!(room, "run {run} is given GPU {id} of {slots} slots: {others:?}");
            }
            Sharing::Shared { .. } => {
                let shared = |sharing| matches!(sharing, Sharing::Shared { .. });
                let alike = others.iter().all(|(_, (sharing, _))| shared(*sharing));
                ensure!(alike, "run {run} shares GPU {id}, which others hold: {others:?}");
                let seen = |run: &RunId| gpu.runs.iter().find(|seen| seen.run == *run);
                let peak = |run: &RunId| seen(run).map_or(0, |seen| seen.peak);
                let taken: u64 = others.iter().map(|(run, (_, asked))| peak(run).max(*asked)).sum();
                let all = taken + request.gpu_memory + gpu.usage.other_memory.unwrap_or(0);
                let fits = all <= gpu.memory || facts.reclaimed;
                ensure!(fits, "run {run} overcommits GPU {id}: {all} of {} bytes", gpu.memory);
            }
        }
        Ok(())
    }

    /// One new task per shared GPU and pass, since nobody has its memory yet.
    pub(super) fn one_more_at_most(&self, turn: &Turn) -> Verdict {
        if !matches!(turn.input, Input::Schedule) {
            return Ok(());
        }
        let mut started = BTreeSet::new();
        for effect in &turn.step.effects {
            if let Effect::Launch(launch) = effect
                && launch.spec.request.is_shared()
            {
                for gpu in &launch.gpus {
                    let first = started.insert((launch.node, gpu.clone()));
                    ensure!(first, "two tasks that share GPU {gpu} are started at once");
                }
            }
        }
        Ok(())
    }
}
