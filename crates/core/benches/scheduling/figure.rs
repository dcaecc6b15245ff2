//! What was measured, as a table or as JSON.

use super::cluster::{GPUS_PER_NODE, ROUNDS, Size};
use std::time::Duration;

pub(crate) struct Figure {
    what: &'static str,
    policy: &'static str,
    size: Size,
    low_us: f64,
    median_us: f64,
    high_us: f64,
}

impl Figure {
    pub(crate) fn new(
        what: &'static str,
        policy: &'static str,
        size: Size,
        mut times: Vec<Duration>,
    ) -> Figure {
        times.sort();
        let at =
            |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
        let (low_us, median_us, high_us) = (at(0.1), at(0.5), at(0.9));
        Figure { what, policy, size, low_us, median_us, high_us }
    }
}

/// What a very large site weighs.
pub(crate) struct Weight {
    pub(crate) what: &'static str,
    pub(crate) running: usize,
    pub(crate) queued: usize,
    pub(crate) bytes: u64,
    /// Of which this much for each task that waits.
    pub(crate) each: f64,
}

pub(crate) fn print_table(results: &[Figure], weights: &[Weight]) {
    println!("all GPUs in use; microseconds, {ROUNDS} rounds");
    println!(
        "{:<20} {:<23} {:>8} {:>6} {:>6} {:>10} {:>10} {:>10}",
        "what", "policy", "queued", "GPUs", "users", "median", "p10", "p90"
    );
    for Figure { what, policy, size, low_us, median_us, high_us } in results {
        let Size { queued, nodes, users } = size;
        let gpus = nodes * GPUS_PER_NODE;
        println!(
            "{what:<20} {policy:<23} {queued:>8} {gpus:>6} {users:>6} {median_us:>10.1} {low_us:>10.1} {high_us:>10.1}"
        );
    }
    if !weights.is_empty() {
        println!("memory of the state, as the system counts it");
    }
    for Weight { what, running, queued, bytes, each } in weights {
        let megabytes = *bytes as f64 / 1e6;
        println!(
            "{what:<20} {running:>8} running {queued:>8} queued {megabytes:>8.0} MB, {each:.0} bytes for each that waits"
        );
    }
}

pub(crate) fn print_json(results: &[Figure], weights: &[Weight]) {
    let rows: Vec<String> = results
        .iter()
        .map(|Figure { what, policy, size, low_us, median_us, high_us }| {
            let Size { queued, nodes, users } = size;
            let gpus = nodes * GPUS_PER_NODE;
            format!(
                r#"{{"what":"{what}","policy":"{policy}","queued":{queued},"gpus":{gpus},"users":{users},"median_us":{median_us:.1},"p10_us":{low_us:.1},"p90_us":{high_us:.1}}}"#
            )
        })
        .collect();
    let weights: Vec<String> = weights
        .iter()
        .map(|Weight { what, running, queued, bytes, each }| {
            format!(
                r#"{{"what":"{what}","running":{running},"queued":{queued},"bytes":{bytes},"bytes_each":{each:.0}}}"#
            )
        })
        .collect();
    println!(
        r#"{{"v":1,"bench":"core","results":[{}],"memory":[{}]}}"#,
        rows.join(","),
        weights.join(",")
    );
}
