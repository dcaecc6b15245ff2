//! `danlu sim --lab-week`: simulates a made-up week of a lab under six policies.

use std::fmt::Write as _;

use danlu_messages::cli::sim as msg;
use danlu_sim::trace::{
    Cluster,
    cluster::{PlacementRule, Unit},
    evaluate,
    lab_week::{GPUS_PER_NODE, NODES, lab_week},
};

use super::{failures, show};
use crate::failure::Failure;

const SEED: u64 = 1;

/// Policy, and what it does.
fn policies() -> [(&'static str, &'static str); 6] {
    [
        ("fifo", msg::policy_fifo()),
        ("fifo+skip", msg::policy_fifo_skip()),
        ("fifo+easy", msg::policy_fifo_easy()),
        ("sjf+skip", msg::policy_sjf_skip()),
        ("srtf", msg::policy_srtf()),
        ("las", msg::policy_las()),
    ]
}

pub(super) fn run() -> Result<(), Failure> {
    let trace = lab_week(SEED);
    let unit = Unit::Nodes { gpus_each: GPUS_PER_NODE, placement: PlacementRule::Consolidate };
    let clusters = [Cluster::new(NODES, unit).map_err(|error| failures::cluster(&error))?];
    let mut evaluations = Vec::new();
    for (name, _) in policies() {
        let policy = name.parse().map_err(|error| failures::policy(&error))?;
        let evaluation = evaluate(&trace, &clusters, policy, &mut |_| ());
        evaluations.push(evaluation.map_err(|error| failures::replay(&error))?);
    }
    let page = introduction(trace.jobs.len()) + &show::tables(&trace, &evaluations, false) + &end();
    show::stdout(|out| out.write_all(page.as_bytes()))
}

fn introduction(jobs: usize) -> String {
    let gpus = NODES * GPUS_PER_NODE;
    let mut out = msg::lab_week_introduction(&jobs, &NODES, &GPUS_PER_NODE, &gpus);
    for (name, what) in policies() {
        let _ = writeln!(out, "  {name:<10} {what}");
    }
    out.push('\n');
    out
}

fn end() -> String {
    msg::lab_week_legend().to_owned()
}
