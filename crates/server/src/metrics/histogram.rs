//! A histogram that one thread adds to and others read, without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

#[derive(Debug)]
pub(crate) struct Histogram {
    /// Seconds, ascending. What is above the last is counted beyond them.
    bounds: &'static [f64],
    counts: Vec<AtomicU64>,
    micros: AtomicU64,
}

/// As it was at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct HistogramFigures {
    /// How many took no longer than so many seconds.
    pub(crate) buckets: Vec<(f64, u64)>,
    pub(crate) count: u64,
    /// Seconds.
    pub(crate) sum: f64,
}

impl Histogram {
    pub(crate) fn new(bounds: &'static [f64]) -> Histogram {
        let counts = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Histogram { bounds, counts, micros: AtomicU64::new(0) }
    }

    pub(crate) fn add(&self, took: Duration) {
        let seconds = took.as_secs_f64();
        let place = self.bounds.partition_point(|bound| *bound < seconds);
        if let Some(count) = self.counts.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn figures(&self) -> HistogramFigures {
        let mut count = 0;
        let mut buckets = Vec::new();
        let mut counts = self.counts.iter().map(|it| it.load(Ordering::Relaxed));
        for (bound, here) in self.bounds.iter().zip(counts.by_ref()) {
            count += here;
            buckets.push((*bound, count));
        }
        count += counts.sum::<u64>();
        let sum = Duration::from_micros(self.micros.load(Ordering::Relaxed)).as_secs_f64();
        HistogramFigures { buckets, count, sum }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_count_what_is_below_their_bound_or_equal() {
        let histogram = Histogram::new(&[1.0, 60.0]);
        for milliseconds in [200, 1_000, 1_001, 90_000] {
            histogram.add(Duration::from_millis(milliseconds));
        }
        let figures = histogram.figures();
        assert_eq!(figures.buckets, [(1.0, 2), (60.0, 3)]);
        assert_eq!((figures.count, figures.sum), (4, 92.201));
    }
}
