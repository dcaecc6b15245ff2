//! Random numbers, drawn from the seed only.

use danlu_core::Span;
use oorandom::Rand64;

#[derive(Debug)]
pub(super) struct Dice(Rand64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(Rand64::new(u128::from(seed)))
    }

    /// A number smaller than `end`; 0 when there is none.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        if end == 0 { 0 } else { self.0.rand_range(0..end) }
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high.saturating_sub(low) + 1)
    }

    pub(super) fn chance(&mut self, per_mille: u64) -> bool {
        self.below(1000) < per_mille
    }

    pub(super) fn span(&mut self, low: u64, high: u64) -> Span {
        Span(self.between(low, high))
    }

    /// Small and large values alike: every doubling from `low` to `high` is equally likely.
    pub(super) fn scale(&mut self, low: u64, high: u64) -> u64 {
        let doublings = (high / low.max(1)).max(1).ilog2();
        let base = low.max(1) << self.below(u64::from(doublings) + 1);
        self.between(base, base * 2).min(high)
    }

    pub(super) fn index(&mut self, len: usize) -> usize {
        usize::try_from(self.below(len as u64)).expect("an index is smaller than the length")
    }

    pub(super) fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() { None } else { Some(items[self.index(items.len())].clone()) }
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.index(at + 1));
        }
    }
}
