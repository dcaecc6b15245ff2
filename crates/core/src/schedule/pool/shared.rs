//! Placement of a task that shares its GPUs with others by memory.

use super::finder::Finder;
use super::slot::Slot;
use super::{Thresholds, When};
use crate::fault_injection::{Mutant, mutated};
use crate::model::gpu::Gpu;
use crate::model::limits::TASKS_PER_GPU;
use crate::model::resources::{GpuMask, Part, Sharing};
use crate::model::settings::PlacementRule;
use std::cmp::Reverse;

/// A GPU that has room for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SharableGpu {
    /// Those that are shared already come first, so that others stay whole.
    fresh: bool,
    /// Bytes that would be left: the tightest fit first.
    left: u64,
    at: usize,
}

impl Finder<'_> {
    /// The best fit of all nodes, the first of equals: the tightest, and GPUs that are shared already first.
    pub(super) fn sharing(&self) -> Option<Part> {
        self.fits().min_by_key(|(fit, _)| *fit).map(|(_, part)| part)
    }

    /// The best fit of each node that has one, the best first.
    pub(super) fn by_fit(&self) -> Vec<Part> {
        let mut fits: Vec<(Fit, Part)> = self.fits().collect();
        fits.sort_by_key(|(fit, _)| *fit);
        fits.into_iter().map(|(_, part)| part).collect()
    }

    fn fits(&self) -> impl Iterator<Item = (Fit, Part)> {
        let open = self.pool.slots.iter().filter(|slot| slot.open);
        open.filter_map(|slot| {
            let (fit, gpus) = self.best_fit(slot)?;
            Some((fit, Part { node: slot.node, gpus }))
        })
    }

    /// The tightest fit on one node.
    pub(super) fn shared_part(&self, slot: &Slot) -> Option<GpuMask> {
        self.best_fit(slot).map(|(_, gpus)| gpus)
    }

    /// … and how good it is.
    fn best_fit(&self, slot: &Slot) -> Option<(Fit, GpuMask)> {
        let node = &self.ground.nodes[&slot.node];
        if !slot.has_room(self.request) || !self.accepts(node) {
            return None;
        }
        let pinned = node.pinned_gpus(self.request)?;
        let shareable = slot.shareable().positions();
        let mut found: Vec<SharableGpu> =
            shareable.filter_map(|at| self.candidate(slot, at, &node.gpus[at])).collect();
        let is_pinned = |one: &SharableGpu| pinned.contains(GpuMask::single(one.at));
        let rule = self.ground.settings.placement;
        match rule {
            PlacementRule::Lowest => found.sort_by_key(|one| (!is_pinned(one), one.at)),
            PlacementRule::Spread => {
                found.sort_by_key(|one| (!is_pinned(one), Reverse((one.fresh, one.left)), one.at));
            }
            PlacementRule::Consolidate | PlacementRule::Count | PlacementRule::Frag => {
                found.sort_by_key(|one| (!is_pinned(one), *one));
            }
        }
        found.truncate(self.request.gpus as usize);
        let masks = found.iter().map(|one| GpuMask::single(one.at));
        let gpus = masks.fold(GpuMask::NONE, GpuMask::with);
        let whole = found.len() == self.request.gpus as usize && gpus.contains(pinned);
        whole.then(|| (Fit::of(&found, rule), gpus))
    }

    /// Whether this GPU could take it as one that shares.
    pub(super) fn can_share(&self, slot: &Slot, at: usize, gpu: &Gpu) -> bool {
        slot.shareable().contains(GpuMask::single(at)) && self.candidate(slot, at, gpu).is_some()
    }

    fn candidate(&self, slot: &Slot, at: usize, gpu: &Gpu) -> Option<SharableGpu> {
        let Sharing::Shared { idle_utilization } = self.request.sharing else { return None };
        let settings = self.ground.settings;
        let strict = self.ground.thresholds != Thresholds::None;
        let card = slot.card(at);
        let grows = card.settling > 0 && self.ground.thresholds == Thresholds::All;
        let most = settings.limits.max_tasks_per_gpu.unwrap_or(TASKS_PER_GPU).min(TASKS_PER_GPU);
        if !self.suits(gpu)
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
        let left = self.memory_left(slot, at, gpu)?.checked_sub(self.request.gpu_memory)?;
        Some(SharableGpu { fresh: card.shared == 0, left, at })
    }

    /// Bytes that are not promised, used or reserved.
    pub(super) fn memory_left(&self, slot: &Slot, at: usize, gpu: &Gpu) -> Option<u64> {
        let others = match self.pool.when {
            When::Now | When::Idle => gpu.usage.other_memory.unwrap_or(0),
            When::Whole => 0,
        };
        let strict = self.ground.thresholds != Thresholds::None;
        let kept = self.ground.settings.keep_gpu_memory.of(gpu.memory);
        let kept = if strict { kept } else { 0 };
        let promised = u64::try_from(slot.card(at).memory).unwrap_or(u64::MAX);
        let promised = if mutated(Mutant::LedgerIgnored) { 0 } else { promised };
        let shareable = slot.shareable().contains(GpuMask::single(at));
        let taken = others.saturating_add(kept).saturating_add(promised);
        gpu.memory.checked_sub(taken).filter(|_| shareable)
    }
}

/// Few fresh GPUs first, then little left over; where tasks are to be far from each other, the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Tight(usize, u64),
    Wide(Reverse<(usize, u64)>),
}

impl Fit {
    fn of(found: &[SharableGpu], rule: PlacementRule) -> Fit {
        let fresh = found.iter().filter(|one| one.fresh).count();
        let left = found.iter().map(|one| one.left).fold(0, u64::saturating_add);
        match rule {
            PlacementRule::Spread => Fit::Wide(Reverse((fresh, left))),
            PlacementRule::Consolidate
            | PlacementRule::Count
            | PlacementRule::Frag
            | PlacementRule::Lowest => Fit::Tight(fresh, left),
        }
    }
}
