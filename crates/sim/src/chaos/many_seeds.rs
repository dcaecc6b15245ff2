//! Runs many seeds on several threads and summarises them.

use super::{Failure, Tally, run_seed};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Summary {
    pub tally: Tally,
    /// The failing seed with the lowest number, if any failed.
    pub failure: Option<Box<Failure>>,
    pub wall: Duration,
}

/// Play `count` seeds from `first` on. `progress` is told from time to time how many are done.
///
/// Stops at a failure, but not before every seed below it has been played: which failure is
/// shown does not depend on the number of threads.
pub fn run_many(first: u64, count: u64, threads: usize, progress: impl Fn(u64) + Sync) -> Summary {
    let start = Instant::now();
    let end = first.saturating_add(count);
    let next = AtomicU64::new(first);
    let lowest_failure = AtomicU64::new(u64::MAX);
    let result: Mutex<(Tally, Option<Box<Failure>>)> = Mutex::default();
    let work = || {
        let mut tally = Tally::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end || seed > lowest_failure.load(Ordering::Relaxed) {
                break;
            }
            match run_seed(seed) {
                Ok(played) => tally.add(&played.tally),
                Err(failure) => {
                    lowest_failure.fetch_min(seed, Ordering::Relaxed);
                    let mut result = result.lock().expect("nobody panics with the lock");
                    if result.1.as_ref().is_none_or(|other| seed < other.seed) {
                        result.1 = Some(failure);
                    }
                }
            }
            progress(seed - first + 1);
        }
        result.lock().expect("nobody panics with the lock").0.add(&tally);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    let (tally, failure) = result.into_inner().expect("nobody panics with the lock");
    Summary { tally, failure, wall: start.elapsed() }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.tally.counts();
        for (name, count) in &counts {
            writeln!(f, "{name:<36} {count:>12}")?;
        }
        let seeds = self.tally.seeds.max(1);
        let each = self.wall.as_secs_f64() * 1000.0 / seeds as f64;
        write!(f, "{:.1} s in all, {each:.1} ms for each seed", self.wall.as_secs_f64())
    }
}
