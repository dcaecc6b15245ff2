//! Where a task fits that shares its GPUs with others by their memory.

use super::finder::Finder;
use super::slot::Slot;
use super::{Thresholds, When};
use crate::gpu::Gpu;
use crate::limits::TASKS_PER_GPU;
use crate::mutant::{Mutant, mutated};
use crate::resources::{GpuMask, Part, Sharing};

/// A GPU that has room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// Those that are shared already come first, so that others stay whole.
    fresh: bool,
    /// Bytes that would be left: the tightest fit first.
    left: u64,
    at: usize,
}

impl Finder<'_> {
    /// The tightest fit of all nodes; GPUs that are shared already come first.
    pub(super) fn sharing(&self) -> Option<Part> {
        let wanted = self.request.gpus as usize;
        let mut best: Option<(Vec<Candidate>, Part)> = None;
        for slot in self.pool.slots.iter().filter(|slot| slot.open) {
            let node = &self.ground.nodes[&slot.node];
            if !slot.has_room(self.request) || !node.accepts(self.request) {
                continue;
            }
            let Some(pinned) = node.pinned_gpus(self.request) else { continue };
            let mut found: Vec<Candidate> = slot
                .shareable()
                .positions()
                .filter_map(|at| self.candidate(slot, at, &node.gpus[at]))
                .collect();
            let is_pinned = |one: &Candidate| pinned.contains(GpuMask::single(one.at));
            found.sort_by_key(|one| (!is_pinned(one), *one));
            found.truncate(wanted);
            let gpus =
                found.iter().fold(GpuMask::NONE, |mask, one| mask.with(GpuMask::single(one.at)));
            if found.len() < wanted || !gpus.contains(pinned) {
                continue;
            }
            let better = best.as_ref().is_none_or(|(others, _)| key(&found) < key(others));
            if better {
                best = Some((found, Part { node: slot.node, gpus }));
            }
        }
        best.map(|(_, part)| part)
    }

    /// Whether this GPU could take it as one that shares.
    pub(super) fn can_share(&self, slot: &Slot, at: usize, gpu: &Gpu) -> bool {
        slot.shareable().contains(GpuMask::single(at)) && self.candidate(slot, at, gpu).is_some()
    }

    fn candidate(&self, slot: &Slot, at: usize, gpu: &Gpu) -> Option<Candidate> {
        let Sharing::Shared { idle_utilization } = self.request.sharing else { return None };
        let settings = self.ground.settings;
        let strict = self.ground.thresholds != Thresholds::None;
        let card = slot.card(at);
        let grows = card.settling > 0 && self.ground.thresholds == Thresholds::All;
        let most = settings.limits.max_tasks_per_gpu.unwrap_or(TASKS_PER_GPU).min(TASKS_PER_GPU);
        if !gpu.matches(self.request)
            || grows && !mutated(Mutant::SettlingIgnored)
            || u32::from(card.shared) >= most
        {
            return None;
        }
        // What runs of Danlu's own do to it is over when they are; what others do is not.
        let counts = match self.pool.when {
            When::Now => true,
            When::Idle => slot.is_foreign(at),
            When::Whole => false,
        };
        if counts && strict && gpu.usage.busy > 100_u8.saturating_sub(idle_utilization) {
            return None;
        }
        let others = match self.pool.when {
            When::Now | When::Idle => gpu.usage.other_memory.unwrap_or(0),
            When::Whole => 0,
        };
        let kept = if strict { settings.keep_gpu_memory.of(gpu.memory) } else { 0 };
        let promised = u64::try_from(card.memory).unwrap_or(u64::MAX);
        let promised = if mutated(Mutant::LedgerIgnored) { 0 } else { promised };
        let taken = others.saturating_add(kept).saturating_add(promised);
        let left = gpu.memory.checked_sub(taken)?.checked_sub(self.request.gpu_memory)?;
        Some(Candidate { fresh: card.shared == 0, left, at })
    }
}

/// Few fresh GPUs first, then little left over.
fn key(found: &[Candidate]) -> (usize, u64) {
    let fresh = found.iter().filter(|one| one.fresh).count();
    (fresh, found.iter().map(|one| one.left).fold(0, u64::saturating_add))
}
