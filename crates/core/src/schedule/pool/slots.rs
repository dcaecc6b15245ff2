//! The slots of a pool by node id, in copy-on-write blocks: trying a placement costs what it touches, not the number of
//! nodes.

use super::slot::Slot;
use crate::model::ids::NodeId;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

const BLOCK: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Slots {
    /// Each but the last is full.
    blocks: Vec<Arc<Vec<Slot>>>,
}

impl Slots {
    pub(super) fn len(&self) -> usize {
        let last = self.blocks.last().map_or(0, |block| block.len());
        self.blocks.len().saturating_sub(1) * BLOCK + last
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.blocks.iter().flat_map(|block| block.iter())
    }

    pub(super) fn position(&self, node: NodeId) -> Option<usize> {
        let begins = |block: &Arc<Vec<Slot>>| block.first().is_some_and(|slot| slot.node <= node);
        let block = self.blocks.partition_point(begins).checked_sub(1)?;
        let at = self.blocks[block].binary_search_by_key(&node, |slot| slot.node).ok()?;
        Some(block * BLOCK + at)
    }

    pub(super) fn insert(&mut self, slot: Slot) {
        let (before, after): (Vec<Slot>, Vec<Slot>) =
            self.iter().cloned().partition(|other| other.node < slot.node);
        *self = before.into_iter().chain([slot]).chain(after).collect();
    }

    pub(super) fn remove(&mut self, node: NodeId) {
        *self = self.iter().filter(|slot| slot.node != node).cloned().collect();
    }
}

impl FromIterator<Slot> for Slots {
    fn from_iter<I: IntoIterator<Item = Slot>>(slots: I) -> Slots {
        let slots: Vec<Slot> = slots.into_iter().collect();
        Slots { blocks: slots.chunks(BLOCK).map(|block| Arc::new(block.to_vec())).collect() }
    }
}

impl Index<usize> for Slots {
    type Output = Slot;

    fn index(&self, at: usize) -> &Slot {
        &self.blocks[at / BLOCK][at % BLOCK]
    }
}

impl IndexMut<usize> for Slots {
    fn index_mut(&mut self, at: usize) -> &mut Slot {
        &mut Arc::make_mut(&mut self.blocks[at / BLOCK])[at % BLOCK]
    }
}
