//! What each policy does with small traces, reckoned by hand.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use danlu_core::{Span, Time};
use danlu_sim::trace::cluster::{PlacementRule, Unit};
use danlu_sim::trace::{Cluster, Job, JobResult, Policy, ReplayError, replay};

/// Submit time, GPUs, duration, estimate.
type Row = (u64, u32, u64, u64);

/// Replays on machines of eight GPUs; after every instant the state must keep its invariants.
fn run(policy: &str, nodes: u32, placement: PlacementRule, rows: &[Row]) -> Vec<JobResult> {
    let cluster = Cluster::new(nodes, Unit::Nodes { gpus_each: 8, placement }).unwrap();
    let jobs: Vec<Job> = rows.iter().enumerate().map(job).collect();
    let jobs: Vec<&Job> = jobs.iter().collect();
    let policy: Policy = policy.parse().unwrap();
    replay(&jobs, &cluster, policy, &mut |state, _| state.check().unwrap()).unwrap()
}

fn job((place, &(submit, gpus, duration, estimate)): (usize, &Row)) -> Job {
    Job {
        id: place.to_string(),
        line: place as u64 + 2,
        vc: 0,
        user: place % 2,
        submit_at: Time::from_secs(submit.cast_signed()),
        gpus,
        duration: Span::from_secs(duration),
        estimate: Some(Span::from_secs(estimate)),
    }
}

/// `expect` are the first start and the end of each job.
fn check(policy: &str, nodes: u32, rows: &[(u64, u32, u64)], expect: &[(i64, i64)]) {
    let rows: Vec<Row> = rows.iter().map(|&(at, gpus, long)| (at, gpus, long, long)).collect();
    check_times(&run(policy, nodes, PlacementRule::Consolidate, &rows), expect);
}

fn check_times(results: &[JobResult], expect: &[(i64, i64)]) {
    let times = |result: &JobResult| (result.first_start_at.0 / 1000, result.end_at.0 / 1000);
    assert_eq!(results.iter().map(times).collect::<Vec<_>>(), expect);
}

#[test]
fn fifo_stops_at_the_first_that_does_not_fit() {
    let rows = [(0, 4, 100), (0, 8, 10), (0, 4, 10)];
    check("fifo", 1, &rows, &[(0, 100), (100, 110), (110, 120)]);
}

#[test]
fn skip_starts_whatever_fits() {
    let rows = [(0, 4, 100), (0, 8, 10), (0, 4, 10)];
    check("fifo+skip", 1, &rows, &[(0, 100), (100, 110), (0, 10)]);
}

#[test]
fn easy_starts_what_does_not_delay_the_head() {
    // The last one would fit from second 50 on, but not end before second 100.
    let rows = [(0, 4, 100), (1, 8, 10), (2, 4, 48), (3, 4, 200)];
    check("fifo+easy", 1, &rows, &[(0, 100), (100, 110), (2, 50), (110, 310)]);
}

#[test]
fn easy_may_end_at_the_very_instant_of_the_reservation() {
    let rows = [(0, 4, 100), (1, 8, 10), (2, 4, 98), (3, 4, 98)];
    check("fifo+easy", 1, &rows, &[(0, 100), (100, 110), (2, 100), (110, 208)]);
}

#[test]
fn easy_lets_a_long_one_use_what_the_head_will_not_need() {
    // The head needs 12 of 16 at second 100: the long one may keep the other 4.
    let rows = [(0, 8, 100), (1, 12, 10), (2, 4, 500)];
    check("fifo+easy", 2, &rows, &[(0, 100), (100, 110), (2, 502)]);
}

#[test]
fn easy_reservation_counts_runs_that_start_in_the_same_pass() {
    let rows = [(0, 4, 100), (0, 8, 10), (0, 4, 150)];
    check("fifo+easy", 1, &rows, &[(0, 100), (100, 110), (110, 260)]);
}

#[test]
fn easy_goes_by_estimates_and_an_overdue_run_may_end_any_second() {
    // The first is said to end at 50 and runs until 100; after 50 only what ends within a second may pass.
    let rows = [(0, 4, 100, 50), (1, 8, 10, 10), (2, 4, 20, 60), (60, 4, 1, 1)];
    let results = run("fifo+easy@column", 1, PlacementRule::Consolidate, &rows);
    check_times(&results, &[(0, 100), (100, 110), (110, 130), (60, 61)]);
    let results = run("fifo+easy", 1, PlacementRule::Consolidate, &rows);
    check_times(&results, &[(0, 100), (100, 110), (2, 22), (60, 61)]);
}

#[test]
fn sjf_takes_the_shortest_and_waits_for_it() {
    let rows = [(0, 8, 100), (1, 8, 50), (2, 8, 10)];
    check("sjf", 1, &rows, &[(0, 100), (110, 160), (100, 110)]);
    let rows = [(0, 4, 100), (1, 8, 10), (2, 4, 20)];
    check("sjf", 1, &rows, &[(0, 100), (100, 110), (110, 130)]);
    check("sjf+skip", 1, &rows, &[(0, 100), (100, 110), (2, 22)]);
}

#[test]
fn sjf_goes_by_estimates_when_told() {
    let rows = [(0, 8, 10, 10), (1, 8, 50, 100), (1, 8, 60, 60)];
    let results = run("sjf@column", 1, PlacementRule::Consolidate, &rows);
    check_times(&results, &[(0, 10), (70, 120), (10, 70)]);
}

#[test]
fn equals_go_in_the_order_of_the_file() {
    let rows = [(0, 8, 10), (1, 8, 10), (1, 8, 10)];
    for policy in ["fifo", "fifo+skip", "fifo+easy", "sjf", "sjf+skip", "srtf"] {
        check(policy, 1, &rows, &[(0, 10), (10, 20), (20, 30)]);
    }
}

#[test]
fn srtf_preempts_the_longer_one_which_then_has_40_seconds_more_to_do() {
    let rows = [(0, 8, 100, 0), (10, 8, 20, 0)];
    let results = run("srtf", 1, PlacementRule::Consolidate, &rows);
    check_times(&results, &[(0, 160), (10, 30)]);
    assert_eq!((results[0].preemptions, results[0].ran), (1, Span::from_secs(140)));
    assert_eq!(results[1].preemptions, 0);
}

#[test]
fn a_preemption_of_more_than_8_gpus_costs_60_seconds() {
    check("srtf", 2, &[(0, 16, 100), (10, 16, 20)], &[(0, 180), (10, 30)]);
}

#[test]
fn srtf_does_not_preempt_for_an_equal() {
    check("srtf", 1, &[(0, 8, 100), (50, 8, 50)], &[(0, 100), (100, 150)]);
}

#[test]
fn las_decides_at_full_minutes_only() {
    check("las", 1, &[(1, 8, 30), (2, 8, 30)], &[(60, 90), (120, 150)]);
}

#[test]
fn las_preempts_who_has_had_more_than_18000_gpu_seconds() {
    // Five GPUs have had exactly that at 3600, which is not more.
    let rows = [(0, 5, 5000, 0), (61, 5, 100, 0)];
    let results = run("las", 1, PlacementRule::Consolidate, &rows);
    check_times(&results, &[(0, 5160), (3660, 3760)]);
    assert_eq!(results[0].preemptions, 1);
}

#[test]
fn runs_end_before_jobs_of_the_same_second_are_submitted() {
    check("fifo", 1, &[(0, 8, 10), (10, 8, 5)], &[(0, 10), (10, 15)]);
}

#[test]
fn a_job_of_no_duration_ends_as_it_starts() {
    let rows = [(0, 8, 0), (0, 8, 0), (0, 8, 10)];
    for policy in ["fifo", "fifo+skip", "fifo+easy", "sjf", "srtf", "las"] {
        check(policy, 1, &rows, &[(0, 0), (0, 0), (0, 10)]);
    }
}

#[test]
fn consolidate_fills_the_fullest_node_so_that_whole_ones_stay_free() {
    check("fifo", 3, &[(0, 4, 100), (0, 4, 100), (0, 16, 10)], &[(0, 100), (0, 100), (0, 10)]);
}

#[test]
fn consolidate_does_not_split_a_job_that_fits_on_one_node() {
    let rows = [(0, 4, 100, 0), (0, 6, 100, 0), (0, 6, 10, 0)];
    let results = run("fifo", 2, PlacementRule::Consolidate, &rows);
    check_times(&results, &[(0, 100), (0, 100), (100, 110)]);
    let results = run("fifo", 2, PlacementRule::Count, &rows);
    check_times(&results, &[(0, 100), (0, 100), (0, 10)]);
}

fn refused(job: &Job, policy: &str) -> ReplayError {
    let unit = Unit::Nodes { gpus_each: 8, placement: PlacementRule::Consolidate };
    let cluster = Cluster::new(2, unit).unwrap();
    replay(&[job], &cluster, policy.parse().unwrap(), &mut |_, _| ()).unwrap_err()
}

#[test]
fn a_job_that_can_never_run_is_named_with_its_line() {
    let error = refused(&job((5, &(0, 17, 10, 10))), "fifo");
    let said = error.to_string();
    assert!(said.starts_with("job `5` (line 7): no node can ever run this"), "{said}");
}

#[test]
fn an_estimate_that_is_missing_is_named_with_its_line() {
    let error = refused(&Job { estimate: None, ..job((3, &(0, 1, 10, 10))) }, "sjf@column");
    assert_eq!(error, ReplayError::NoEstimate { job: "3".to_owned(), line: 5 });
}
