//! One node of a pool: its resources, and how much of them is taken.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::NodeId;
use crate::model::node::{Capacity, Node};
use crate::model::resources::{Claim, GpuMask, Hold, Request};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) node: NodeId,
    pub(super) open: bool,
    /// How many GPUs it could give to one task.
    pub(super) size: u32,
    /// Those that take one more ordinary task. Kept in step with all below.
    pub(super) free: GpuMask,
    /// How many GPUs there are, in order or not.
    count: usize,
    /// Healthy, held or not.
    usable: GpuMask,
    /// Used by foreign processes, which may leave enough memory to share.
    foreign: GpuMask,
    /// Taken by an ordinary task.
    held: GpuMask,
    /// Some of its GPUs are connected by fast links: which ones a task gets makes a difference.
    pub(super) linked: bool,
    pub(super) capacity: Capacity,
    used: Capacity,
    /// Only where there are such, so that a copy is cheap.
    named: Option<Box<Named>>,
    /// Only where GPUs have several slots or are shared: elsewhere `held` is enough.
    cards: Option<Box<[Card]>>,
}

/// What is taken of one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Card {
    /// How many tasks may share it by count.
    slots: u16,
    /// Slots that are taken: all of them by one that wants it for itself.
    taken: u16,
    /// Tasks that share it by its memory, what is set aside for them, and how many of them still grow.
    pub(super) shared: u16,
    pub(super) memory: u128,
    pub(super) settling: u16,
}

/// Custom countable resources: how many exist, and how many are taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Named {
    there: BTreeMap<String, u32>,
    taken: BTreeMap<String, u32>,
}

const NOTHING: Capacity = Capacity { cpus: 0, memory: 0 };

impl Slot {
    pub(super) fn closed(node: NodeId) -> Slot {
        Slot {
            node,
            open: false,
            size: 0,
            free: GpuMask::NONE,
            count: 0,
            usable: GpuMask::NONE,
            foreign: GpuMask::NONE,
            held: GpuMask::NONE,
            linked: false,
            capacity: NOTHING,
            used: NOTHING,
            named: None,
            cards: None,
        }
    }

    /// In order or not.
    pub(super) fn gpu_count(&self) -> u64 {
        self.count as u64
    }

    /// As if it were connected, idle and these GPUs in order.
    pub(super) fn of(node: &Node, usable: GpuMask) -> Slot {
        Slot {
            open: true,
            size: usable.count(),
            free: usable,
            count: node.gpus.len(),
            usable,
            capacity: node.capacity.unwrap_or(NOTHING),
            named: Named::of(node),
            ..Slot::closed(node.id)
        }
    }

    /// Take over what the node has. What is taken of it stays taken.
    pub(super) fn update(&mut self, node: &Node, open: bool) {
        self.open = open;
        self.usable = node.usable_gpus();
        self.foreign = node.shareable_with_others();
        self.size = self.usable.count();
        self.linked = node.gpus.iter().any(|gpu| gpu.links != GpuMask::NONE);
        self.capacity = node.capacity.unwrap_or(NOTHING);
        let taken = self.named.take().map(|named| named.taken).unwrap_or_default();
        let named = Named { there: node.resources.clone(), taken };
        self.named = (named != Named::default()).then(|| Box::new(named));
        self.recount();
    }

    /// Nothing of it is taken, and its GPUs may be others than before.
    pub(super) fn clear(&mut self, node: &Node) {
        self.count = node.gpus.len();
        self.held = GpuMask::NONE;
        self.used = NOTHING;
        self.named = Named::of(node);
        let slotted = node.gpus.iter().any(|gpu| gpu.rule.slots() > 1);
        self.cards = slotted.then(|| {
            let card =
                |gpu: &crate::model::gpu::Gpu| Card { slots: gpu.rule.slots(), ..Card::SINGLE };
            node.gpus.iter().map(card).collect()
        });
        self.recount();
    }

    pub(super) fn take(&mut self, hold: &Hold) {
        self.used.cpus += hold.cpus;
        self.used.memory += hold.memory;
        if !hold.named.is_empty() {
            self.named.get_or_insert_default().take(&hold.named);
        }
        match (hold.claim, &self.cards) {
            // A GPU that had more slots before may be held by several.
            (Claim::Slot | Claim::Whole, None) if self.held.and(hold.gpus) == GpuMask::NONE => {
                self.held = self.held.with(hold.gpus);
            }
            (claim, _) => self.change_cards(hold.gpus, |card| card.take(claim)),
        }
        self.recount();
    }

    pub(super) fn give(&mut self, hold: &Hold) {
        self.used.cpus -= hold.cpus;
        self.used.memory -= hold.memory;
        if let Some(named) = self.named.as_mut().filter(|_| !hold.named.is_empty()) {
            named.give(&hold.named);
            if **named == Named::default() {
                self.named = None;
            }
        }
        match (hold.claim, &self.cards) {
            (Claim::Slot | Claim::Whole, None) => self.held = self.held.without(hold.gpus),
            (claim, _) => {
                self.change_cards(hold.gpus, |card| card.give(claim));
                let plain = |card: &Card| card.is_plain();
                if self.cards.as_ref().is_some_and(|cards| cards.iter().all(plain)) {
                    self.cards = None;
                }
            }
        }
        self.recount();
    }

    fn change_cards(&mut self, gpus: GpuMask, change: impl Fn(&mut Card)) {
        let held = self.held;
        let known = |at: usize| Card {
            taken: u16::from(held.contains(GpuMask::single(at))),
            ..Card::SINGLE
        };
        let count = self.count;
        let cards = self.cards.get_or_insert_with(|| (0..count).map(known).collect());
        for at in gpus.positions() {
            change(&mut cards[at]);
        }
        let taken = |(_, card): &(usize, &Card)| card.taken > 0;
        let taken = cards.iter().enumerate().filter(taken);
        self.held = taken.fold(GpuMask::NONE, |mask, (at, _)| mask.with(GpuMask::single(at)));
    }

    /// Which GPUs take one more ordinary task.
    fn recount(&mut self) {
        self.free = match &self.cards {
            None => self.usable.without(self.held),
            Some(_) => self.those(self.usable, Card::takes_one_more),
        };
    }

    /// GPUs without any run.
    pub(super) fn empty(&self) -> GpuMask {
        match &self.cards {
            None => self.free,
            Some(_) => self.those(self.free, Card::is_empty),
        }
    }

    /// Those that tasks may share by memory, if there is enough.
    pub(super) fn shareable(&self) -> GpuMask {
        let all = self.usable.with(self.foreign);
        match &self.cards {
            None => all.without(self.held),
            Some(_) => self.those(all, |card| card.taken == 0),
        }
    }

    pub(super) fn is_foreign(&self, at: usize) -> bool {
        self.foreign.contains(GpuMask::single(at))
    }

    /// What the tasks that share a GPU have of it.
    pub(super) fn card(&self, at: usize) -> Card {
        let card = self.cards.as_ref().and_then(|cards| cards.get(at));
        card.copied().unwrap_or(Card::SINGLE)
    }

    fn those(&self, mask: GpuMask, is: impl Fn(&Card) -> bool) -> GpuMask {
        let chosen = mask.positions().filter(|at| is(&self.card(*at)));
        chosen.fold(GpuMask::NONE, |mask, at| mask.with(GpuMask::single(at)))
    }

    pub(super) fn has_room(&self, request: &Request) -> bool {
        let left = self.left();
        let named_left = |name: &String| self.named.as_ref().map_or(0, |named| named.left(name));
        request.cpus <= left.cpus
            && request.memory <= left.memory
            && (mutated(Mutant::NamedIgnored)
                || request.resources.iter().all(|(name, wanted)| *wanted <= named_left(name)))
    }

    /// Free CPUs and memory.
    pub(super) fn left(&self) -> Capacity {
        Capacity {
            cpus: self.capacity.cpus.saturating_sub(self.used.cpus),
            memory: self.capacity.memory.saturating_sub(self.used.memory),
        }
    }
}

impl Named {
    fn of(node: &Node) -> Option<Box<Named>> {
        let there = node.resources.clone();
        (!there.is_empty()).then(|| Box::new(Named { there, taken: BTreeMap::new() }))
    }

    fn left(&self, name: &str) -> u32 {
        let taken = self.taken.get(name).copied().unwrap_or(0);
        self.there.get(name).map_or(0, |there| there.saturating_sub(taken))
    }

    fn take(&mut self, counts: &BTreeMap<String, u32>) {
        for (name, count) in counts {
            *self.taken.entry(name.clone()).or_default() += count;
        }
    }

    fn give(&mut self, counts: &BTreeMap<String, u32>) {
        for (name, count) in counts {
            if let Some(taken) = self.taken.get_mut(name) {
                *taken -= count;
            }
        }
        self.taken.retain(|_, taken| *taken > 0);
    }
}

impl Card {
    const SINGLE: Card = Card { slots: 1, taken: 0, shared: 0, memory: 0, settling: 0 };

    fn take(&mut self, claim: Claim) {
        match claim {
            Claim::Slot => self.taken += 1,
            Claim::Whole => self.taken += self.slots,
            Claim::Share { memory, settling } => {
                self.shared += 1;
                self.memory += u128::from(memory);
                self.settling += u16::from(settling);
            }
        }
    }

    fn give(&mut self, claim: Claim) {
        match claim {
            Claim::Slot => self.taken -= 1,
            Claim::Whole => self.taken -= self.slots,
            Claim::Share { memory, settling } => {
                self.shared -= 1;
                self.memory -= u128::from(memory);
                self.settling -= u16::from(settling);
            }
        }
    }

    fn takes_one_more(&self) -> bool {
        (self.shared == 0 || mutated(Mutant::ExclusiveOnShared))
            && (self.taken < self.slots || mutated(Mutant::SlotsIgnored) && self.slots > 1)
    }

    fn is_empty(&self) -> bool {
        self.taken == 0 && self.shared == 0
    }

    fn is_plain(&self) -> bool {
        self.slots == 1 && self.taken <= 1 && self.shared == 0
    }
}
