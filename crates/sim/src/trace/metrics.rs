//! What is measured of a replay, as `SEMANTICS.md` of the traces defines it. Times are in seconds.

use super::read::Job;
use super::replay::JobResult;
use danlu_core::{Span, Time};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metrics {
    pub jobs: usize,
    pub mean_jct: f64,
    pub p50_jct: u64,
    pub p90_jct: u64,
    pub p99_jct: u64,
    pub mean_queue: f64,
    pub p50_queue: u64,
    pub p90_queue: u64,
    pub p99_queue: u64,
    /// From the first submission to the last end.
    pub makespan: u64,
    /// Useful GPU time (the cost of preemptions is not useful) over all GPU time of the makespan.
    pub utilization: f64,
    pub mean_bounded_slowdown: f64,
    /// How equal users' mean bounded slowdowns are: 1 is equal, 1/n is all to one.
    pub jain: f64,
    pub preemptions: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    pub job: &'a Job,
    pub result: &'a JobResult,
}

impl Metrics {
    pub fn of(jobs: &[Measured<'_>], gpus: u64) -> Metrics {
        let jct = Distribution::of(jobs.iter().map(Measured::jct));
        let queue = Distribution::of(jobs.iter().map(Measured::queue));
        let first = jobs.iter().map(|job| job.job.submit_at).min().unwrap_or_default();
        let last = jobs.iter().map(|job| job.result.end_at).max().unwrap_or_default();
        let makespan = seconds(last.since(first));
        let slowdowns = jobs.iter().map(Measured::bounded_slowdown);
        Metrics {
            jobs: jobs.len(),
            mean_jct: jct.mean,
            p50_jct: jct.rank(50),
            p90_jct: jct.rank(90),
            p99_jct: jct.rank(99),
            mean_queue: queue.mean,
            p50_queue: queue.rank(50),
            p90_queue: queue.rank(90),
            p99_queue: queue.rank(99),
            makespan,
            utilization: utilization(jobs, gpus, makespan),
            mean_bounded_slowdown: ratio(slowdowns.sum(), jobs.len() as f64),
            jain: jain(&mean_slowdown_of_users(jobs)),
            preemptions: jobs.iter().map(|job| u64::from(job.result.preemptions)).sum(),
        }
    }
}

impl Measured<'_> {
    fn jct(&self) -> u64 {
        seconds(self.result.end_at.since(self.job.submit_at))
    }

    /// All the time between submission and end in which it did not run, also after a preemption.
    pub fn queue(&self) -> u64 {
        self.jct() - seconds(self.result.ran)
    }

    fn bounded_slowdown(&self) -> f64 {
        let duration = seconds(self.job.duration).max(SHORTEST);
        (self.jct() as f64 / duration as f64).max(1.0)
    }
}

/// A job shorter than this counts as this long, lest it outweigh all the others.
const SHORTEST: u64 = 10;

struct Distribution {
    sorted: Vec<u64>,
    mean: f64,
}

impl Distribution {
    fn of(values: impl Iterator<Item = u64>) -> Distribution {
        let mut sorted: Vec<u64> = values.collect();
        sorted.sort_unstable();
        let sum: u128 = sorted.iter().map(|value| u128::from(*value)).sum();
        let mean = ratio(sum as f64, sorted.len() as f64);
        Distribution { sorted, mean }
    }

    /// Nearest rank: the smallest value that `percent` of all do not exceed.
    fn rank(&self, percent: usize) -> u64 {
        let rank = (self.sorted.len() * percent).div_ceil(100);
        self.sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
    }
}

fn utilization(jobs: &[Measured<'_>], gpus: u64, makespan: u64) -> f64 {
    let useful = jobs
        .iter()
        .map(|Measured { job, .. }| u128::from(job.gpus) * u128::from(seconds(job.duration)));
    ratio(useful.sum::<u128>() as f64, gpus as f64 * makespan as f64)
}

fn mean_slowdown_of_users(jobs: &[Measured<'_>]) -> Vec<f64> {
    let mut users: BTreeMap<usize, (f64, u32)> = BTreeMap::new();
    for job in jobs {
        let (sum, count) = users.entry(job.job.user).or_default();
        *sum += job.bounded_slowdown();
        *count += 1;
    }
    users.into_values().map(|(sum, count)| sum / f64::from(count)).collect()
}

fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    ratio(sum * sum, values.len() as f64 * squares)
}

/// Nothing over nothing is nothing.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole == 0.0 { 0.0 } else { part / whole }
}

pub(crate) fn seconds(span: Span) -> u64 {
    span.0 / 1000
}

pub(crate) fn seconds_at(time: Time) -> u64 {
    seconds(time.since(Time(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values = Distribution::of((1..=10).rev());
        assert_eq!([50, 90, 99, 100].map(|percent| values.rank(percent)), [5, 9, 10, 10]);
        assert_eq!(Distribution::of([7].into_iter()).rank(50), 7);
        assert_eq!(Distribution::of([].into_iter()).rank(50), 0);
    }

    #[test]
    fn jain_is_one_when_equal_and_one_nth_when_one_has_all() {
        assert!((jain(&[3.0, 3.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((jain(&[1.0, 0.0, 0.0, 0.0]) - 0.25).abs() < 1e-12);
        assert!(jain(&[]).abs() < 1e-12);
    }

    #[test]
    fn queue_counts_every_wait_and_slowdown_is_bounded() {
        let job = Job {
            id: String::new(),
            line: 2,
            vc: 0,
            user: 0,
            submit_at: Time::from_secs(100),
            gpus: 2,
            duration: Span::from_secs(4),
            estimate: None,
        };
        // Starts at 110, is preempted at 112, goes on at 150 with 42 seconds left.
        let result = JobResult {
            first_start_at: Time::from_secs(110),
            end_at: Time::from_secs(192),
            ran: Span::from_secs(44),
            preemptions: 1,
        };
        let metrics = Metrics::of(&[Measured { job: &job, result: &result }], 4);
        assert_eq!((metrics.p50_jct, metrics.p50_queue, metrics.makespan), (92, 48, 92));
        assert!((metrics.mean_bounded_slowdown - 9.2).abs() < 1e-12);
        assert!((metrics.utilization - 8.0 / (4.0 * 92.0)).abs() < 1e-12);
        assert_eq!(metrics.preemptions, 1);
    }
}
