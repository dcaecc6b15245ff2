//! The search for a place for one request: which node, which of its GPUs.

use super::slot::Slot;
use super::{Ground, Pool, When};
use crate::model::gpu::Gpu;
use crate::model::node::Node;
use crate::model::resources::{GpuMask, NodeSelector, Part, Placement, Request, Sharing};
use crate::model::settings::PlacementRule;
use std::cmp::Reverse;

pub(super) struct Finder<'a> {
    pub(super) pool: &'a Pool,
    pub(super) request: &'a Request,
    pub(super) ground: &'a Ground<'a>,
    /// Nodes that are not of these are left out.
    pub(super) only: Option<&'a NodeSelector>,
}

impl Finder<'_> {
    /// The fullest node that still fits; the first of equals.
    pub(super) fn on_one_node(&self, gpus: u32) -> Option<Part> {
        let mut fullest_first = self.pool.by_free.from(gpus).flatten();
        fullest_first.find_map(|at| self.part(at, gpus))
    }

    /// The emptiest node that fits; the first of equals.
    pub(super) fn on_emptiest_node(&self, gpus: u32) -> Option<Part> {
        let mut emptiest_first = self.pool.by_free.from(gpus).rev().flatten();
        emptiest_first.find_map(|at| self.part(at, gpus))
    }

    /// For a task without GPUs: the node with most CPUs left, then most memory; the first of equals.
    pub(super) fn on_idlest_node(&self) -> Option<Part> {
        let slots = self.pool.slots.iter().enumerate().filter(|(_, slot)| slot.open);
        let left = |slot: &Slot| (slot.left().cpus, slot.left().memory);
        let fitting = slots.filter_map(|(at, slot)| Some((left(slot), self.part(at, 0)?)));
        fitting.min_by_key(|(left, _)| Reverse(*left)).map(|(_, part)| part)
    }

    /// The first node that fits, whatever it leaves to others.
    pub(super) fn first_fit(&self) -> Option<Part> {
        self.in_order().next()
    }

    /// The place on each node that has one, the first node first.
    pub(super) fn in_order(&self) -> impl Iterator<Item = Part> {
        let slots = self.pool.slots.iter().enumerate().filter(|(_, slot)| slot.open);
        slots.filter_map(|(at, slot)| match self.request.is_shared() {
            true => Some(Part { node: slot.node, gpus: self.shared_part(slot)? }),
            false if slot.free.count() < self.request.gpus => None,
            false => self.part(at, self.request.gpus),
        })
    }

    /// As many completely free nodes as it fills, and the emptiest other one for the rest.
    pub(super) fn on_whole_nodes(&self) -> Option<Placement> {
        let size = self.pool.largest;
        let wanted = self.request.gpus.checked_div(size)? as usize;
        let whole = self.pool.by_free.from(size).next()?;
        let mut parts: Vec<Part> =
            whole.filter_map(|at| self.part(at, size)).take(wanted).collect();
        if parts.len() < wanted {
            return None;
        }
        let rest = self.request.gpus % size;
        if rest > 0 {
            let emptiest_first = self.pool.by_free.from(rest).rev();
            let last = emptiest_first
                .flatten()
                .filter_map(|at| self.part(at, rest))
                .find(|part| parts.iter().all(|other| other.node != part.node))?;
            parts.push(last);
        }
        Some(Placement { parts })
    }

    pub(super) fn anywhere(&self) -> Option<Placement> {
        let mut parts = Vec::new();
        let mut missing = self.request.gpus;
        for slot in self.pool.slots.iter() {
            if !slot.open || !slot.has_room(self.request) {
                continue;
            }
            let usable = self.usable(slot);
            if usable != GpuMask::NONE {
                let gpus = usable.lowest(missing);
                missing -= gpus.count();
                parts.push(Part { node: slot.node, gpus });
            }
            if missing == 0 {
                return Some(Placement { parts });
            }
        }
        None
    }

    /// Whether a part could be started as it is.
    pub(super) fn allows(&self, slot: &Slot, part: Part) -> bool {
        let node = &self.ground.nodes[&slot.node];
        match self.request.sharing {
            Sharing::Shared { .. } => {
                part.gpus.positions().all(|at| self.can_share(slot, at, &node.gpus[at]))
            }
            Sharing::Exclusive => slot.empty().contains(part.gpus),
            Sharing::Slot => slot.free.contains(part.gpus),
        }
    }

    pub(super) fn part(&self, at: usize, gpus: u32) -> Option<Part> {
        let slot = &self.pool.slots[at];
        let neighbours = slot.linked && self.ground.settings.placement != PlacementRule::Lowest;
        if self.takes_any() && !neighbours {
            let gpus = slot.free.first_from(self.first_turn(slot), gpus);
            return Some(Part { node: slot.node, gpus });
        }
        let usable = self.usable(slot);
        let fits = usable.count() >= gpus && slot.has_room(self.request);
        let node = &self.ground.nodes[&slot.node];
        if !fits || !self.accepts(node) {
            return None;
        }
        let pinned = node.pinned_gpus(self.request).filter(|pinned| usable.contains(*pinned))?;
        let missing = gpus.saturating_sub(pinned.count());
        let free = usable.without(pinned);
        let others = match neighbours {
            true => nearest(node, free, pinned, missing, self.first_turn(slot)),
            false => free.first_from(self.first_turn(slot), missing),
        };
        Some(Part { node: slot.node, gpus: pinned.with(others) })
    }

    /// Which of a node's GPUs is taken first among equals: the next one for each run, so that all wear evenly.
    /// Resources kept for a task stay where they are.
    fn first_turn(&self, slot: &Slot) -> u32 {
        let takes_turns = self.ground.settings.placement != PlacementRule::Lowest;
        let now = self.pool.when == When::Now;
        let turn = self.ground.runs_so_far.checked_rem(slot.gpu_count()).unwrap_or(0);
        if takes_turns && now { u32::try_from(turn).unwrap_or(0) } else { 0 }
    }

    /// One free GPU is as good as another.
    fn takes_any(&self) -> bool {
        self.request.is_plain() && self.ground.larger_than.is_none() && self.only.is_none()
    }

    pub(super) fn accepts(&self, node: &Node) -> bool {
        let one_of_them = |only: &NodeSelector| only.matches(&node.name, &node.labels);
        node.accepts(self.request) && self.only.is_none_or(one_of_them)
    }

    /// What was asked for, and large enough.
    pub(super) fn suits(&self, gpu: &Gpu) -> bool {
        gpu.matches(self.request) && self.ground.larger_than.is_none_or(|bytes| gpu.memory > bytes)
    }

    fn usable(&self, slot: &Slot) -> GpuMask {
        if self.takes_any() {
            return slot.free;
        }
        let node = &self.ground.nodes[&slot.node];
        if !self.accepts(node) {
            return GpuMask::NONE;
        }
        let free = match self.request.sharing {
            Sharing::Exclusive => slot.empty(),
            Sharing::Slot | Sharing::Shared { .. } => slot.free,
        };
        node.gpus_where(|gpu| self.suits(gpu)).and(free)
    }
}

/// So many of the free ones that most fast links are among them and `kept`, and that fewest are cut to the others.
/// Among equals those from `turn` on.
fn nearest(node: &Node, free: GpuMask, kept: GpuMask, missing: u32, turn: u32) -> GpuMask {
    let links = |at: usize, to: GpuMask| node.gpus[at].links.and(to).count();
    let grown = |first: GpuMask| {
        let mut chosen = first;
        while chosen.count() < missing {
            let rest = free.without(chosen);
            let best = rest.positions().min_by_key(|at| {
                let inside = links(*at, chosen.with(kept));
                (Reverse(inside), links(*at, rest), GpuMask::single(*at).0.rotate_right(turn))
            });
            let Some(at) = best else { break };
            chosen = chosen.with(GpuMask::single(at));
        }
        chosen
    };
    let firsts = free.positions().map(|at| grown(GpuMask::single(at)));
    let best = firsts.min_by_key(|chosen| {
        let all = chosen.with(kept);
        let inside: u32 = chosen.positions().map(|at| links(at, all)).sum();
        let cut: u32 = chosen.positions().map(|at| links(at, free.without(*chosen))).sum();
        // With bits reversed, the set that has the first ones is the largest.
        (Reverse(inside), cut, Reverse(chosen.0.rotate_right(turn).reverse_bits()))
    });
    if missing == 0 { GpuMask::NONE } else { best.unwrap_or(GpuMask::NONE) }
}
