//! What a task requests and what it was allocated.

use crate::model::ids::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a task needs to run. Two tasks with equal requests can be placed in the same places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// GPUs in all; 0 is a CPU task.
    pub gpus: u32,
    /// The number of nodes to run on at once, with an equal part of `gpus` on each; 0 and 1 are the same.
    #[serde(skip_serializing_if = "is_zero")]
    pub nodes: u32,
    /// CPU slots on each node it uses.
    pub cpus: u32,
    /// Bytes of host memory on each node it uses.
    pub memory: u64,
    /// May use the GPUs of several nodes when no single one is large enough.
    pub span_nodes: bool,
    /// Bytes of memory that each GPU must have; with `sharing`, have left.
    pub gpu_memory: u64,
    pub sharing: Sharing,
    /// Part of the GPU model's name, in any case.
    pub gpu_model: Option<String>,
    pub node: Option<NodeSelector>,
    /// Preferred node or label; falls back to others when full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefer: Option<NodeSelector>,
    /// These GPUs by their numbers, all of one node, and others if that is fewer than `gpus`.
    pub gpu_ids: Vec<u32>,
    /// Custom countable resources, such as licences.
    pub resources: BTreeMap<String, u32>,
}

/// How a task uses its GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sharing {
    /// The whole GPU, or one slot of a GPU that has several.
    #[default]
    Slot,
    /// The whole GPU, however many slots it has.
    Exclusive,
    /// Shared with other tasks up to the GPU's memory, and only on GPUs at least this percentage idle recently.
    Shared { idle_utilization: u8 },
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeSelector {
    Name(String),
    Label { key: String, value: String },
}

impl Request {
    pub fn gpus(gpus: u32) -> Request {
        Request { gpus, ..Request::default() }
    }

    /// Nothing but a number of GPUs: answered from counts, without looking at single nodes.
    pub(crate) fn is_plain(&self) -> bool {
        self.cpus == 0
            && self.memory == 0
            && self.gpu_memory == 0
            && self.gpu_model.is_none()
            && self.node.is_none()
            && self.gpu_ids.is_empty()
            && self.resources.is_empty()
            && self.sharing == Sharing::Slot
    }

    pub fn is_shared(&self) -> bool {
        matches!(self.sharing, Sharing::Shared { .. })
    }

    /// It runs on several nodes at once: on all of them or not at all.
    pub fn is_gang(&self) -> bool {
        self.nodes > 1
    }

    /// GPUs on each node of a gang; of others all.
    pub fn gpus_per_node(&self) -> u32 {
        self.gpus / self.nodes.max(1)
    }

    /// What one node of a gang is asked for.
    pub(crate) fn of_one_node(&self) -> Request {
        Request { gpus: self.gpus_per_node(), nodes: 0, span_nodes: false, ..self.clone() }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl NodeSelector {
    pub fn matches(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        match self {
            NodeSelector::Name(wanted) => wanted == name,
            NodeSelector::Label { key, value } => labels.get(key) == Some(value),
        }
    }
}

/// A set of a node's GPUs, by position in [`crate::Node::gpus`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct GpuMask(pub u128);

impl GpuMask {
    pub const NONE: GpuMask = GpuMask(0);

    pub fn first(count: usize) -> GpuMask {
        if count >= 128 { GpuMask(u128::MAX) } else { GpuMask((1 << count) - 1) }
    }

    pub fn single(position: usize) -> GpuMask {
        GpuMask(1 << position)
    }

    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub fn and(self, other: GpuMask) -> GpuMask {
        GpuMask(self.0 & other.0)
    }

    pub fn with(self, other: GpuMask) -> GpuMask {
        GpuMask(self.0 | other.0)
    }

    pub fn without(self, other: GpuMask) -> GpuMask {
        GpuMask(self.0 & !other.0)
    }

    pub fn contains(self, other: GpuMask) -> bool {
        other.without(self) == GpuMask::NONE
    }

    pub fn positions(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let position = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                position
            })
        })
    }

    /// The `count` lowest members.
    pub fn lowest(self, count: u32) -> GpuMask {
        let mut rest = self.0;
        for _ in 0..count {
            rest &= rest.wrapping_sub(1);
        }
        self.without(GpuMask(rest))
    }

    /// The first `count` members from position `start` on, and from the beginning again.
    pub fn first_from(self, start: u32, count: u32) -> GpuMask {
        let turned = GpuMask(self.0.rotate_right(start));
        GpuMask(turned.lowest(count).0.rotate_left(start))
    }
}

impl fmt::Debug for GpuMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.positions()).finish()
    }
}

/// Where a task would run: one part for each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub node: NodeId,
    pub gpus: GpuMask,
}

/// What a part takes from its node while it lasts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    pub node: NodeId,
    pub gpus: GpuMask,
    pub cpus: u32,
    pub memory: u64,
    pub claim: Claim,
    pub named: BTreeMap<String, u32>,
}

/// What a part takes of each of its GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    Slot,
    Whole,
    /// This many bytes. While one task is settling, no other is admitted.
    Share {
        memory: u64,
        settling: bool,
    },
}

impl Hold {
    /// Of a part that is about to start.
    pub(crate) fn of(part: Part, request: &Request) -> Hold {
        let Part { node, gpus } = part;
        let claim = Claim::of(request);
        let named = request.resources.clone();
        Hold { node, gpus, cpus: request.cpus, memory: request.memory, claim, named }
    }
}

impl Claim {
    fn of(request: &Request) -> Claim {
        match request.sharing {
            Sharing::Slot => Claim::Slot,
            Sharing::Exclusive => Claim::Whole,
            Sharing::Shared { .. } => Claim::Share { memory: request.gpu_memory, settling: true },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_taken_from_a_position_on_and_around() {
        let mask = GpuMask(0b1011_0100);
        assert_eq!(mask.first_from(0, 2), mask.lowest(2));
        assert_eq!(mask.first_from(3, 2), GpuMask(0b0011_0000));
        assert_eq!(mask.first_from(6, 2), GpuMask(0b1000_0100));
        assert_eq!(mask.first_from(127, 9), mask);
    }

    #[test]
    fn lowest_takes_the_lowest_members() {
        let mask = GpuMask(0b1011_0100);
        assert_eq!(mask.lowest(2), GpuMask(0b0001_0100));
        assert_eq!(mask.lowest(9), mask);
        assert_eq!(GpuMask::first(128).count(), 128);
        assert_eq!(GpuMask::first(128).lowest(128), GpuMask::first(128));
    }
}
