//! A week of a small lab, made up from a seed: four machines of eight GPUs and people who share them.

use super::read::{Job, Trace};
use danlu_core::{Span, Time};
use oorandom::Rand32;

pub const NODES: u32 = 4;
pub const GPUS_PER_NODE: u32 = 8;
/// A whole machine's week of arrivals, then quiet until all is done.
const DAYS: u64 = 7;
const DAY: u64 = 86_400;

/// Like a real lab: most jobs are short tests on one GPU, a few trainings take most of the GPU
/// time, people submit by day and in bursts, and limits are guessed generously.
pub fn lab_week(seed: u64) -> Trace {
    let mut random = Rand32::new(seed);
    let users = ["ada", "bo", "chen", "dina", "emil", "fang"];
    let mut jobs = Vec::new();
    for day in 0..DAYS {
        for _ in 0..if day < 5 { 32 } else { 10 } {
            let user = f64::from(random.rand_range(0..36)).sqrt() as usize;
            let submit = day * DAY + working_hours(&mut random);
            burst(&mut random, user, submit, &mut jobs);
        }
    }
    jobs.sort_by_key(|job| job.submit_at);
    for (place, job) in jobs.iter_mut().enumerate() {
        job.id = place.to_string();
        job.line = place as u64 + 2;
    }
    Trace { jobs, vcs: vec![String::from("lab")], users: users.map(String::from).to_vec() }
}

/// Between eight in the morning and nearly midnight, mostly in the afternoon.
fn working_hours(random: &mut Rand32) -> u64 {
    let hours = 8 + u64::from(random.rand_range(0..8) + random.rand_range(0..8));
    hours * 3_600 + u64::from(random.rand_range(0..3_600))
}

/// One to six similar jobs, a few seconds apart: a sweep, or a test before a training.
fn burst(random: &mut Rand32, user: usize, submit: u64, jobs: &mut Vec<Job>) {
    let (gpus, shortest, longest) = match random.rand_range(0..100) {
        0..45 => (1, 60, 1_800),
        45..70 => (1, 1_800, 14_400),
        70..85 => (2, 3_600, 43_200),
        85..95 => (4, 3_600, 57_600),
        95..98 => (8, 14_400, 86_400),
        _ => (16, 14_400, 57_600),
    };
    let count = if gpus <= 2 { random.rand_range(1..7) } else { 1 };
    for place in 0..count {
        let duration = u64::from(random.rand_range(shortest..longest));
        jobs.push(Job {
            id: String::new(),
            line: 0,
            vc: 0,
            user,
            submit_at: Time::from_secs((submit + u64::from(place) * 5).cast_signed()),
            gpus,
            duration: Span::from_secs(duration),
            estimate: Some(Span::from_secs((duration * 2).next_multiple_of(3_600))),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_one_week_and_the_lab_is_busy_but_not_hopeless() {
        let week = lab_week(1);
        assert_eq!(week.jobs, lab_week(1).jobs);
        assert_ne!(week.jobs, lab_week(2).jobs);
        let work: u64 = week.jobs.iter().map(|job| u64::from(job.gpus) * job.duration.0).sum();
        let capacity = u64::from(NODES * GPUS_PER_NODE) * DAYS * DAY * 1000;
        let load = work as f64 / capacity as f64;
        assert!((0.5..0.9).contains(&load), "load {load}");
        assert!(week.jobs.iter().all(|job| job.user < week.users.len()));
    }
}
