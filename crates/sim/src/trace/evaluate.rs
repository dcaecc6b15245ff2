//! One policy on a whole trace: every VC replayed on its own cluster, then measured together and apart.

use super::cluster::Cluster;
use super::metrics::{Measured, Metrics};
use super::policy_list::Policy;
use super::read::{Job, Trace};
use super::replay::{JobResult, ReplayError, replay};
use danlu_core::Time;
use std::time::{Duration, Instant};

#[derive(Debug, Clone)]
pub struct Evaluation {
    pub policy: Policy,
    pub all: Metrics,
    /// In the order of [`Trace::vcs`].
    pub per_vc: Vec<Metrics>,
    /// In the order of [`Trace::jobs`].
    pub jobs: Vec<JobResult>,
    /// What the replay took on this machine.
    pub wall: Duration,
}

/// How far a replay has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    pub ended: usize,
    pub jobs: usize,
}

/// `clusters` are in the order of [`Trace::vcs`]. `watch` is called now and then.
pub fn evaluate(
    trace: &Trace,
    clusters: &[Cluster],
    policy: Policy,
    watch: &mut dyn FnMut(Progress),
) -> Result<Evaluation, ReplayError> {
    assert_eq!(trace.vcs.len(), clusters.len(), "every VC has its cluster");
    let started = Instant::now();
    let mut results = vec![UNKNOWN; trace.jobs.len()];
    let mut ended_before = 0;
    for (vc, cluster) in clusters.iter().enumerate() {
        let places: Vec<usize> = places(trace, vc);
        let jobs: Vec<&Job> = places.iter().map(|place| &trace.jobs[*place]).collect();
        let mut watch_vc = |_: &_, ended| {
            if ended % WATCH_EVERY == 0 {
                watch(Progress { ended: ended_before + ended, jobs: trace.jobs.len() });
            }
        };
        for (place, result) in places.iter().zip(replay(&jobs, cluster, policy, &mut watch_vc)?) {
            results[*place] = result;
        }
        ended_before += jobs.len();
    }
    let wall = started.elapsed();
    Ok(Evaluation {
        policy,
        all: measure(trace, &results, clusters, |_| true),
        per_vc: (0..clusters.len())
            .map(|vc| measure(trace, &results, &clusters[vc..=vc], |job| job.vc == vc))
            .collect(),
        jobs: results,
        wall,
    })
}

/// Often enough for the eye, seldom enough to cost nothing.
const WATCH_EVERY: usize = 64;

/// Stands in a list until the replay has filled it.
const UNKNOWN: JobResult = JobResult {
    first_start_at: Time(0),
    end_at: Time(0),
    ran: danlu_core::Span::ZERO,
    preemptions: 0,
};

fn places(trace: &Trace, vc: usize) -> Vec<usize> {
    (0..trace.jobs.len()).filter(|place| trace.jobs[*place].vc == vc).collect()
}

fn measure(
    trace: &Trace,
    results: &[JobResult],
    clusters: &[Cluster],
    keep: impl Fn(&Job) -> bool,
) -> Metrics {
    let measured: Vec<Measured<'_>> = trace
        .jobs
        .iter()
        .zip(results)
        .filter(|(job, _)| keep(job))
        .map(|(job, result)| Measured { job, result })
        .collect();
    Metrics::of(&measured, clusters.iter().map(Cluster::gpus).sum())
}
