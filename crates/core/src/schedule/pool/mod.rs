//! The free GPUs, CPU slots and memory of the open nodes, and the search for a place in them.
//!
//! A pool is a plain value: policies copy one and try placements on the copy.

mod by_free;
pub(crate) mod demand_mix;
mod finder;
mod fragmentation;
mod gang;
mod shared;
mod slot;
mod slots;

use self::by_free::SlotsByFree;
use self::finder::Finder;
use self::slot::Slot;
use self::slots::Slots;
use crate::model::ids::NodeId;
use crate::model::node::Node;
use crate::model::resources::{GpuMask, Hold, NodeSelector, Part, Placement, Request};
use crate::model::settings::{PlacementRule, Settings};
use crate::schedule::pool::demand_mix::DemandMix;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct Pool {
    when: When,
    slots: Slots,
    /// The open slots.
    by_free: SlotsByFree,
    free_gpus: u32,
    /// GPUs of the largest open node, busy or not.
    largest: u32,
}

/// The moment that a pool describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum When {
    #[default]
    Now,
    /// When all that Danlu runs has ended.
    Idle,
    /// If every node were connected, idle and healthy.
    Whole,
}

/// What a search goes by besides the pool.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) nodes: &'a BTreeMap<NodeId, Node>,
    pub(crate) settings: &'a Settings,
    pub(crate) thresholds: Thresholds,
    /// The usual requests.
    pub(crate) demand_mix: &'a DemandMix,
    /// Only GPUs with more bytes than this fit.
    pub(crate) larger_than: Option<u64>,
    /// How many runs there have been: equals take turns.
    pub(crate) runs_so_far: u64,
}

/// What keeps a task that shares away from a GPU besides its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thresholds {
    All,
    /// As if every running task had settled.
    Settled,
    /// Started by an administrator: no thresholds.
    None,
}

impl Pool {
    pub(crate) fn when_idle() -> Pool {
        Pool { when: When::Idle, ..Pool::default() }
    }

    pub(crate) fn add_node(&mut self, node: NodeId) {
        self.slots.insert(Slot::closed(node));
        self.reindex();
    }

    /// The nodes as if they were connected, idle and all their GPUs in order.
    pub(crate) fn of_whole_nodes<'a>(nodes: impl Iterator<Item = &'a Node>) -> Pool {
        let slots = nodes.map(|node| Slot::of(node, node.managed_gpus())).collect();
        let mut pool = Pool { when: When::Whole, slots, ..Pool::default() };
        pool.reindex();
        pool
    }

    /// The same including disabled GPUs.
    pub(crate) fn of_all_gpus<'a>(nodes: impl Iterator<Item = &'a Node>) -> Pool {
        let slots = nodes.map(|node| Slot::of(node, GpuMask::first(node.gpus.len()))).collect();
        let mut pool = Pool { when: When::Whole, slots, ..Pool::default() };
        pool.reindex();
        pool
    }

    pub(crate) fn remove_node(&mut self, node: NodeId) {
        self.slots.remove(node);
        self.reindex();
    }

    /// Take over what a node has. What runs use of it stays counted.
    pub(crate) fn update_node(&mut self, node: &Node, open: bool) {
        let at = self.position(node.id);
        let before = (self.slots[at].open, self.slots[at].size);
        self.change(at, |slot| slot.update(node, open));
        if before != (self.slots[at].open, self.slots[at].size) {
            let sizes = self.slots.iter().filter(|slot| slot.open).map(|slot| slot.size);
            self.largest = sizes.max().unwrap_or(0);
        }
    }

    /// Nothing of it is taken: the caller takes everything again.
    pub(crate) fn clear_node(&mut self, node: &Node) {
        let at = self.position(node.id);
        self.change(at, |slot| slot.clear(node));
    }

    pub(crate) fn take(&mut self, hold: &Hold) {
        let at = self.position(hold.node);
        self.change(at, |slot| slot.take(hold));
    }

    pub(crate) fn give(&mut self, hold: &Hold) {
        let at = self.position(hold.node);
        self.change(at, |slot| slot.give(hold));
    }

    pub fn free_gpus(&self) -> u32 {
        self.free_gpus
    }

    pub fn has_open_nodes(&self) -> bool {
        self.slots.iter().any(|slot| slot.open)
    }

    pub(crate) fn free_on(&self, node: NodeId) -> GpuMask {
        let slot = &self.slots[self.position(node)];
        if slot.open { slot.free } else { GpuMask::NONE }
    }

    pub(crate) fn has_room(&self, node: NodeId, request: &Request) -> bool {
        self.slots[self.position(node)].has_room(request)
    }

    pub(crate) fn is_open(&self, node: NodeId) -> bool {
        self.slots[self.position(node)].open
    }

    /// Whether these GPUs can take such a task now.
    pub(crate) fn allows(&self, request: &Request, part: Part, ground: &Ground<'_>) -> bool {
        let slot = &self.slots[self.position(part.node)];
        Finder { pool: self, request, ground, only: None }.allows(slot, part)
    }

    pub(crate) fn place(&self, request: &Request, ground: &Ground<'_>) -> Option<Placement> {
        if request.gpus > self.free_gpus && !request.is_shared() {
            return None;
        }
        if request.is_gang() {
            let each = request.of_one_node();
            let finder = Finder { pool: self, request: &each, ground, only: None };
            return finder.gang(request.nodes as usize);
        }
        // Where it would rather be makes a difference for a start, not for whether there is room at all.
        let preferred = request.prefer.as_ref().filter(|_| self.when == When::Now);
        let there = preferred.and_then(|only| self.search(request, ground, Some(only)));
        there.or_else(|| self.search(request, ground, None))
    }

    /// How many nodes could take one part of such a task.
    pub(crate) fn nodes_with_room(&self, request: &Request, ground: &Ground<'_>) -> usize {
        let each = request.of_one_node();
        Finder { pool: self, request: &each, ground, only: None }.parts().count()
    }

    fn search(
        &self,
        request: &Request,
        ground: &Ground<'_>,
        only: Option<&NodeSelector>,
    ) -> Option<Placement> {
        let finder = Finder { pool: self, request, ground, only };
        // Whether there is a place at all is asked more often than which is best.
        let rule = ground.settings.placement;
        let on_one_node = request.gpus <= self.largest || !request.span_nodes;
        if rule == PlacementRule::Frag && self.when == When::Now && on_one_node {
            return finder.least_loss().map(one_part);
        }
        if rule == PlacementRule::Lowest && on_one_node {
            return finder.first_fit().map(one_part);
        }
        if request.is_shared() {
            return finder.sharing().map(one_part);
        }
        if request.gpus == 0 && rule == PlacementRule::Spread {
            return finder.on_idlest_node().map(one_part);
        }
        if request.gpus == 0 || !request.gpu_ids.is_empty() {
            return finder.on_one_node(request.gpus).map(one_part);
        }
        match rule {
            PlacementRule::Count if request.span_nodes => finder.anywhere(),
            PlacementRule::Spread if on_one_node => {
                finder.on_emptiest_node(request.gpus).map(one_part)
            }
            PlacementRule::Consolidate
            | PlacementRule::Count
            | PlacementRule::Frag
            | PlacementRule::Lowest
                if on_one_node =>
            {
                finder.on_one_node(request.gpus).map(one_part)
            }
            PlacementRule::Consolidate
            | PlacementRule::Spread
            | PlacementRule::Count
            | PlacementRule::Frag
            | PlacementRule::Lowest => finder.on_whole_nodes(),
        }
    }

    fn position(&self, node: NodeId) -> usize {
        self.slots.position(node).expect("every node of the state has a slot in its pools")
    }

    fn change(&mut self, at: usize, change: impl FnOnce(&mut Slot)) {
        self.unlist(at);
        change(&mut self.slots[at]);
        self.list(at);
    }

    fn list(&mut self, at: usize) {
        if self.slots[at].open {
            let free = self.slots[at].free.count();
            self.free_gpus += free;
            self.by_free.insert(free, at);
        }
    }

    fn unlist(&mut self, at: usize) {
        if self.slots[at].open {
            let free = self.slots[at].free.count();
            self.free_gpus -= free;
            self.by_free.remove(free, at);
        }
    }

    /// Positions have moved: file every slot anew.
    fn reindex(&mut self) {
        self.by_free = SlotsByFree::for_slots(self.slots.len());
        self.free_gpus = 0;
        for at in 0..self.slots.len() {
            self.list(at);
        }
        let sizes = self.slots.iter().filter(|slot| slot.open).map(|slot| slot.size);
        self.largest = sizes.max().unwrap_or(0);
    }
}

impl PartialEq for Pool {
    fn eq(&self, other: &Pool) -> bool {
        let filed = |pool: &Pool| -> Vec<(usize, usize)> {
            let sets = pool.by_free.from(0).enumerate();
            sets.flat_map(|(free, set)| set.map(move |at| (free, at))).collect()
        };
        self.slots == other.slots
            && (self.free_gpus, self.largest) == (other.free_gpus, other.largest)
            && filed(self) == filed(other)
    }
}

impl Eq for Pool {}

fn one_part(part: Part) -> Placement {
    Placement { parts: vec![part] }
}
