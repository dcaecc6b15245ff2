//! Placement by fragmentation: a task goes where it leaves the most usable GPUs for the usual requests.
//!
//! After "Beware of Fragmentation" (ATC '23): for each kind of request, weighted by its frequency, count the part of a
//! node's GPUs that it could not use, and choose the place where this grows least. In addition, GPUs for which CPUs or
//! memory will run out if tasks are as usual count as lost in advance.

use super::finder::Finder;
use super::slot::Slot;
use crate::model::node::{Capacity, Node};
use crate::model::resources::{GpuMask, Part};
use crate::schedule::pool::demand_mix::{DemandKind, DemandMix};

/// Amounts of a GPU are in thousandths.
const WHOLE: u64 = 1000;

/// Statistics of the usual requests.
pub(super) struct Usual {
    kinds: Vec<(DemandKind, u64)>,
    /// How many tasks that is.
    tasks: u64,
    /// What all of them together ask for: thousandths of GPUs, and beside these CPUs and bytes.
    gpus: u128,
    cpus: u128,
    memory: u128,
}

/// What is left of one GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Left {
    bytes: u64,
    of: u64,
    /// No run is on it.
    whole: bool,
}

/// What is left of a node.
struct Rest {
    gpus: Vec<Left>,
    capacity: Capacity,
}

impl Usual {
    pub(super) fn of(demand_mix: &DemandMix, memory_of_a_gpu: u64) -> Usual {
        let kinds = demand_mix.kinds();
        let mut usual = Usual { kinds, tasks: 0, gpus: 0, cpus: 0, memory: 0 };
        for (kind, count) in &usual.kinds {
            usual.tasks += count;
            let each = kind.share.map_or(WHOLE, |share| thousandths(share, memory_of_a_gpu));
            let gpus = u128::from(*count) * u128::from(each) * u128::from(kind.gpus);
            if gpus > 0 {
                usual.gpus += gpus;
                usual.cpus += u128::from(*count) * u128::from(kind.cpus);
                usual.memory += u128::from(*count) * u128::from(kind.memory);
            }
        }
        usual
    }

    /// How much of a node's GPUs is unusable, weighted over the usual requests.
    fn loss(&self, rest: &Rest) -> u128 {
        let all: u64 = rest.gpus.iter().map(Left::thousandths).sum();
        let lost: u128 = self
            .kinds
            .iter()
            .map(|(kind, count)| u128::from(*count) * u128::from(rest.useless_for(kind, all)))
            .sum();
        lost + u128::from(self.tasks) * u128::from(self.will_lack(rest, all))
    }

    /// GPUs for which CPUs or memory will not suffice.
    fn will_lack(&self, rest: &Rest, all: u64) -> u64 {
        let enough_for = |left: u64, asked: u128| match asked {
            0 => u128::from(all),
            asked => u128::from(left) * self.gpus / asked,
        };
        let cpus = enough_for(u64::from(rest.capacity.cpus), self.cpus);
        let memory = enough_for(rest.capacity.memory, self.memory);
        all.saturating_sub(u64::try_from(cpus.min(memory)).unwrap_or(u64::MAX))
    }
}

impl Rest {
    /// Thousandths of its GPUs that such a task could not use.
    fn useless_for(&self, kind: &DemandKind, all: u64) -> u64 {
        let fits = |gpu: &&Left| match kind.share {
            Some(share) => gpu.bytes >= share,
            None => gpu.whole,
        };
        let Capacity { cpus, memory } = self.capacity;
        if kind.gpus == 0 || kind.cpus > cpus || kind.memory > memory {
            return all;
        }
        let (mut count, mut useful) = (0, 0);
        for gpu in self.gpus.iter().filter(fits) {
            count += 1;
            useful += gpu.thousandths();
        }
        if count < kind.gpus { all } else { all - useful }
    }

    /// What is left when it has what it asks for on these GPUs.
    fn without(&self, kind: &DemandKind, gpus: GpuMask) -> Rest {
        let mut left = self.gpus.clone();
        for at in gpus.positions() {
            let gpu = &mut left[at];
            gpu.bytes = kind.share.map_or(0, |share| gpu.bytes.saturating_sub(share));
            gpu.whole = false;
        }
        let capacity = Capacity {
            cpus: self.capacity.cpus.saturating_sub(kind.cpus),
            memory: self.capacity.memory.saturating_sub(kind.memory),
        };
        Rest { gpus: left, capacity }
    }
}

impl Left {
    fn thousandths(&self) -> u64 {
        if self.whole { WHOLE } else { thousandths(self.bytes, self.of) }
    }
}

impl Finder<'_> {
    /// The place that takes least from the usual requests; the first of equals.
    pub(super) fn least_loss(&self) -> Option<Part> {
        let least = self.losses().into_iter().reduce(|best, next| match next.0 < best.0 {
            true => next,
            false => best,
        });
        least.map(|(_, part)| part)
    }

    /// The best place of each node that has one, those before others that take less.
    pub(super) fn by_loss(&self) -> Vec<Part> {
        let mut losses = self.losses();
        losses.sort_by_key(|(growth, _)| *growth);
        losses.into_iter().map(|(_, part)| part).collect()
    }

    /// What the best place of each node takes from the usual requests.
    fn losses(&self) -> Vec<(i128, Part)> {
        let memory = self.ground.nodes.values().flat_map(|node| &node.gpus).map(|gpu| gpu.memory);
        let usual = Usual::of(self.ground.demand_mix, memory.max().unwrap_or(0));
        let kind = DemandKind::of(self.request);
        let mut losses = Vec::new();
        for (at, slot) in self.pool.slots.iter().enumerate().filter(|(_, slot)| slot.open) {
            let node = &self.ground.nodes[&slot.node];
            let places = self.places(at, slot, node);
            if places.is_empty() {
                continue;
            }
            let rest = self.rest(slot, node);
            let before = usual.loss(&rest);
            let growths = places.into_iter().map(|gpus| {
                let after = usual.loss(&rest.without(&kind, gpus));
                let growth = i128::try_from(after).unwrap_or(i128::MAX)
                    - i128::try_from(before).unwrap_or(i128::MAX);
                (growth, Part { node: slot.node, gpus })
            });
            losses.extend(growths.min_by_key(|(growth, _)| *growth));
        }
        losses
    }

    /// Where on a node it could be, as far as that makes a difference.
    fn places(&self, at: usize, slot: &Slot, node: &Node) -> Vec<GpuMask> {
        if !self.request.is_shared() {
            let fits = slot.free.count() >= self.request.gpus && slot.has_room(self.request);
            let part = fits.then(|| self.part(at, self.request.gpus)).flatten();
            return part.map(|part| part.gpus).into_iter().collect();
        }
        let Some(best_fit) = self.shared_part(slot) else { return Vec::new() };
        if self.request.gpus != 1 || !self.request.gpu_ids.is_empty() {
            return vec![best_fit];
        }
        // GPUs of which as much is left are as good as each other.
        let mut known: Vec<Left> = Vec::new();
        let mut places = Vec::new();
        for at in slot.shareable().positions() {
            let left = self.left(slot, node, at);
            if self.can_share(slot, at, &node.gpus[at]) && !known.contains(&left) {
                known.push(left);
                places.push(GpuMask::single(at));
            }
        }
        places
    }

    fn rest(&self, slot: &Slot, node: &Node) -> Rest {
        let gpus = (0..node.gpus.len()).map(|at| self.left(slot, node, at)).collect();
        Rest { gpus, capacity: slot.left() }
    }

    fn left(&self, slot: &Slot, node: &Node, at: usize) -> Left {
        let of = node.gpus[at].memory;
        let bytes = self.memory_left(slot, at, &node.gpus[at]).unwrap_or(0);
        let whole = slot.empty().contains(GpuMask::single(at));
        Left { bytes, of, whole }
    }
}

fn thousandths(bytes: u64, of: u64) -> u64 {
    u64::try_from(u128::from(bytes) * u128::from(WHOLE) / u128::from(of.max(1))).unwrap_or(WHOLE)
}
