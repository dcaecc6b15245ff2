//! Where there is room: the free GPUs, CPU slots and memory of the open nodes, and who fits where.
//!
//! A pool is a plain value: policies copy one and try things out on the copy.

use crate::ids::NodeId;
use crate::node::{Capacity, Node};
use crate::resources::{GpuMask, Hold, Part, Placement, Request};
use crate::settings::PlacementRule;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default)]
pub struct Pool {
    /// By node id.
    slots: Vec<Slot>,
    /// The open slots.
    by_free: SlotsByFree,
    free_gpus: u32,
    /// GPUs of the largest open node, busy or not.
    largest: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Slot {
    node: NodeId,
    open: bool,
    size: u32,
    free: GpuMask,
    capacity: Capacity,
    used: Capacity,
}

const NOTHING: Capacity = Capacity { cpus: 0, memory: 0 };

impl Pool {
    pub(crate) fn add_node(&mut self, node: NodeId) {
        let free = GpuMask::NONE;
        let slot = Slot { node, open: false, size: 0, free, capacity: NOTHING, used: NOTHING };
        let at = self.slots.partition_point(|slot| slot.node < node);
        self.slots.insert(at, slot);
        self.reindex();
    }

    /// The nodes as if they were connected, idle and all their GPUs in order.
    pub(crate) fn of_whole_nodes<'a>(nodes: impl Iterator<Item = &'a Node>) -> Pool {
        let whole = |node: &Node| Slot {
            node: node.id,
            open: true,
            size: GpuMask::first(node.gpus.len()).count(),
            free: GpuMask::first(node.gpus.len()),
            capacity: node.capacity.unwrap_or(NOTHING),
            used: NOTHING,
        };
        let mut pool = Pool { slots: nodes.map(whole).collect(), ..Pool::default() };
        pool.reindex();
        pool
    }

    pub(crate) fn remove_node(&mut self, node: NodeId) {
        self.slots.retain(|slot| slot.node != node);
        self.reindex();
    }

    /// Take over what a node has. What runs use of its CPUs and memory stays counted.
    pub(crate) fn update_node(&mut self, node: &Node, free: GpuMask) {
        let at = self.position(node.id);
        let open = node.is_open();
        let size = node.usable_gpus().count();
        let slot = &mut self.slots[at];
        let resized = (slot.open, slot.size) != (open, size);
        self.unlist(at);
        let slot = &mut self.slots[at];
        slot.open = open;
        slot.size = size;
        slot.free = free;
        slot.capacity = node.capacity.unwrap_or(NOTHING);
        self.list(at);
        if resized {
            let sizes = self.slots.iter().filter(|slot| slot.open).map(|slot| slot.size);
            self.largest = sizes.max().unwrap_or(0);
        }
    }

    pub(crate) fn take(&mut self, hold: Hold) {
        let at = self.position(hold.node);
        self.unlist(at);
        let slot = &mut self.slots[at];
        slot.free = slot.free.without(hold.gpus);
        slot.used.cpus += hold.cpus;
        slot.used.memory += hold.memory;
        self.list(at);
    }

    pub(crate) fn give(&mut self, hold: Hold) {
        let at = self.position(hold.node);
        self.unlist(at);
        let slot = &mut self.slots[at];
        slot.free = slot.free.with(hold.gpus);
        slot.used.cpus -= hold.cpus;
        slot.used.memory -= hold.memory;
        self.list(at);
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

    pub(crate) fn place(
        &self,
        request: &Request,
        rule: PlacementRule,
        nodes: &BTreeMap<NodeId, Node>,
    ) -> Option<Placement> {
        if request.gpus > self.free_gpus {
            return None;
        }
        let finder = Finder { pool: self, request, nodes };
        match rule {
            _ if request.gpus == 0 => finder.on_one_node(0).map(one_part),
            _ if !request.gpu_ids.is_empty() => finder.on_one_node(request.gpus).map(one_part),
            PlacementRule::Count if request.span_nodes => finder.anywhere(),
            _ if request.gpus <= self.largest || !request.span_nodes => {
                finder.on_one_node(request.gpus).map(one_part)
            }
            _ => finder.on_whole_nodes(),
        }
    }

    fn position(&self, node: NodeId) -> usize {
        self.slots
            .binary_search_by_key(&node, |slot| slot.node)
            .expect("every node of the state has a slot in its pools")
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

/// The search for one request.
struct Finder<'a> {
    pool: &'a Pool,
    request: &'a Request,
    nodes: &'a BTreeMap<NodeId, Node>,
}

impl Finder<'_> {
    /// The fullest node that still fits; the first of equals.
    fn on_one_node(&self, gpus: u32) -> Option<Part> {
        let mut fullest_first = self.pool.by_free.from(gpus).flatten();
        fullest_first.find_map(|at| self.part(at, gpus))
    }

    /// As many completely free nodes as it fills, and the emptiest other one for the rest.
    fn on_whole_nodes(&self) -> Option<Placement> {
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

    fn anywhere(&self) -> Option<Placement> {
        let mut parts = Vec::new();
        let mut missing = self.request.gpus;
        for at in 0..self.pool.slots.len() {
            let slot = &self.pool.slots[at];
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

    fn part(&self, at: usize, gpus: u32) -> Option<Part> {
        let slot = &self.pool.slots[at];
        if self.request.is_plain() {
            return Some(Part { node: slot.node, gpus: slot.free.lowest(gpus) });
        }
        let usable = self.usable(slot);
        let fits = usable.count() >= gpus && slot.has_room(self.request);
        let node = &self.nodes[&slot.node];
        if !fits || !node.accepts(self.request) {
            return None;
        }
        let pinned = node.pinned_gpus(self.request).filter(|pinned| usable.contains(*pinned))?;
        let others = usable.without(pinned).lowest(gpus.saturating_sub(pinned.count()));
        Some(Part { node: slot.node, gpus: pinned.with(others) })
    }

    fn usable(&self, slot: &Slot) -> GpuMask {
        if self.request.is_plain() {
            return slot.free;
        }
        let node = &self.nodes[&slot.node];
        if !node.accepts(self.request) {
            return GpuMask::NONE;
        }
        node.matching_gpus(self.request).and(slot.free)
    }
}

impl Slot {
    fn has_room(&self, request: &Request) -> bool {
        let free_cpus = self.capacity.cpus.saturating_sub(self.used.cpus);
        let free_memory = self.capacity.memory.saturating_sub(self.used.memory);
        request.cpus <= free_cpus && request.memory <= free_memory
    }
}

fn one_part(part: Part) -> Placement {
    Placement { parts: vec![part] }
}

/// For each number of free GPUs, the set of slots that have as many. One flat run of bits, so that a copy of
/// the pool is cheap.
#[derive(Debug, Clone, Default)]
struct SlotsByFree {
    words_per_set: usize,
    words: Vec<u64>,
}

impl SlotsByFree {
    fn for_slots(slots: usize) -> SlotsByFree {
        SlotsByFree { words_per_set: slots.div_ceil(64), words: Vec::new() }
    }

    fn insert(&mut self, free: u32, at: usize) {
        let word = free as usize * self.words_per_set + at / 64;
        if self.words.len() <= word {
            self.words.resize((free as usize + 1) * self.words_per_set, 0);
        }
        self.words[word] |= 1 << (at % 64);
    }

    fn remove(&mut self, free: u32, at: usize) {
        self.words[free as usize * self.words_per_set + at / 64] &= !(1 << (at % 64));
    }

    /// The sets from this number of free GPUs upwards, each lowest slot first.
    fn from(&self, free: u32) -> impl DoubleEndedIterator<Item = impl Iterator<Item = usize>> {
        let skipped = (free as usize * self.words_per_set).min(self.words.len());
        self.words[skipped..].chunks(self.words_per_set.max(1)).map(members)
    }
}

fn members(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(block, &word)| {
        let bits = GpuMask(u128::from(word));
        bits.positions().map(move |bit| block * 64 + bit)
    })
}
