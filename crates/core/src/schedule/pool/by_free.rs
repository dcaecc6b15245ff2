//! Nodes by their number of free GPUs.

use crate::model::resources::GpuMask;

/// For each number of free GPUs, the set of slots that have as many. One flat run of bits, so that a copy of
/// the pool is cheap.
#[derive(Debug, Clone, Default)]
pub(super) struct SlotsByFree {
    words_per_set: usize,
    words: Vec<u64>,
}

impl SlotsByFree {
    pub(super) fn for_slots(slots: usize) -> SlotsByFree {
        SlotsByFree { words_per_set: slots.div_ceil(64), words: Vec::new() }
    }

    pub(super) fn insert(&mut self, free: u32, at: usize) {
        let word = free as usize * self.words_per_set + at / 64;
        if self.words.len() <= word {
            self.words.resize((free as usize + 1) * self.words_per_set, 0);
        }
        self.words[word] |= 1 << (at % 64);
    }

    pub(super) fn remove(&mut self, free: u32, at: usize) {
        self.words[free as usize * self.words_per_set + at / 64] &= !(1 << (at % 64));
    }

    /// The sets from this number of free GPUs upwards, each lowest slot first.
    pub(super) fn from(
        &self,
        free: u32,
    ) -> impl DoubleEndedIterator<Item = impl Iterator<Item = usize>> {
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
