//! The same trace and policy give the same result, to the last bit, and all the work is done.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use danlu_sim::trace::cluster::{PlacementRule, Unit};
use danlu_sim::trace::lab_week::{GPUS_PER_NODE, NODES, lab_week};
use danlu_sim::trace::per_job::write_per_job;
use danlu_sim::trace::{Cluster, Evaluation, Trace, evaluate};

const POLICIES: [&str; 8] =
    ["fifo", "fifo+skip", "fifo+easy", "fifo+easy@column", "sjf", "sjf+skip", "srtf", "las"];

fn evaluations(trace: &Trace) -> Vec<Evaluation> {
    let unit = Unit::Nodes { gpus_each: GPUS_PER_NODE, placement: PlacementRule::Consolidate };
    let clusters = [Cluster::new(NODES, unit).unwrap()];
    let run = |policy: &str| evaluate(trace, &clusters, policy.parse().unwrap(), &mut |_| ());
    POLICIES.iter().map(|policy| run(policy).unwrap()).collect()
}

fn csv(trace: &Trace, evaluations: &[Evaluation]) -> String {
    let mut bytes = Vec::new();
    write_per_job(&mut bytes, trace, evaluations).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn two_runs_are_identical() {
    for seed in 0..5 {
        let trace = lab_week(seed);
        let (first, second) = (evaluations(&trace), evaluations(&trace));
        for (first, second) in first.iter().zip(&second) {
            assert_eq!(first.all, second.all);
            assert_eq!(first.jobs, second.jobs);
        }
        assert_eq!(csv(&trace, &first), csv(&trace, &second));
    }
}

#[test]
fn per_job_rows_name_the_policy_only_where_there_are_several() {
    let trace = lab_week(1);
    let evaluations = evaluations(&trace);
    let one = csv(&trace, &evaluations[..1]);
    assert!(one.starts_with("job_id,vc,submit_time,first_start,end,queue\n0,lab,"), "{one:.80}");
    let several = csv(&trace, &evaluations);
    assert!(several.starts_with("policy,job_id,vc,"), "{several:.80}");
    assert_eq!(several.lines().count(), 1 + POLICIES.len() * trace.jobs.len());
    assert!(several.contains("\nfifo+easy@column,0,lab,"));
}

/// The oracle looks at the results only: nobody gets less than its time, and no GPU is used twice.
#[test]
fn every_policy_does_all_the_work_within_the_cluster() {
    let trace = lab_week(3);
    for evaluation in evaluations(&trace) {
        let mut changes = Vec::new();
        for (job, result) in trace.jobs.iter().zip(&evaluation.jobs) {
            assert!(result.first_start_at >= job.submit_at);
            assert_eq!(result.ran > job.duration, result.preemptions > 0);
            if result.preemptions == 0 {
                assert_eq!(result.ran, job.duration);
                changes.push((result.end_at, -i64::from(job.gpus)));
                changes.push((result.first_start_at, i64::from(job.gpus)));
            }
        }
        changes.sort_unstable();
        let mut used = 0;
        for (_, change) in changes {
            used += change;
            assert!(used <= i64::from(NODES * GPUS_PER_NODE), "{}", evaluation.policy);
        }
    }
}
