//! Random choices that can be repeated with a seed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Moments that differ from run to run, and can be had again: `DANLU_TEST_SEED=… cargo nextest run …`.
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    pub(crate) fn new() -> SeededRandom {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |it| it.as_micros());
        let given = std::env::var("DANLU_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(|| u64::try_from(now()).unwrap_or(1));
        println!("DANLU_TEST_SEED={seed}");
        SeededRandom(seed.max(1))
    }

    pub(crate) fn up_to(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.below(u64::try_from(most.as_micros()).unwrap_or(u64::MAX)))
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        let count = u64::try_from(all.len()).ok().filter(|count| *count > 0)?;
        all.get(usize::try_from(self.below(count)).ok()?)
    }
}
