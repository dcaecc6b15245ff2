//! A site that no machine of ours could hold: what a decision costs there, and what its state weighs.

use super::cluster::{Cluster, GPUS_PER_NODE, Size};
use super::figure::{Figure, Weight};
use danlu_core::settings::{Backfill, Order};

const NODES: u32 = 10_000;
const QUEUED: usize = 1_000_000;
const USERS: u32 = 1_000;
/// Elements of each array, where the queue is made of arrays.
const ARRAY: u32 = 1_000;

const POLICIES: [(&str, Order, Backfill); 4] = [
    ("balance+easy", Order::Balance, Backfill::Easy),
    ("fair+easy", Order::Fair, Backfill::Easy),
    ("fifo+skip", Order::Fifo, Backfill::Skip),
    ("auto", Order::Auto, Backfill::None),
];

/// What waits, in two ways.
const QUEUES: [(&str, fn(&mut Cluster)); 2] = [
    ("single tasks", |cluster| cluster.submit_single(QUEUED)),
    ("arrays of 1,000", |cluster| cluster.submit_arrays(QUEUED, ARRAY)),
];
/// The first word of the command line that makes this program weigh one of them.
pub(crate) const WEIGH: &str = "weigh";

pub(crate) fn measure(results: &mut Vec<Figure>) -> Vec<Weight> {
    let size = Size { queued: QUEUED, nodes: NODES, users: USERS };
    for (policy, order, backfill) in POLICIES {
        let mut cluster = Cluster::full(order, backfill, size);
        let mut add = |what, times| results.push(Figure::new(what, policy, size, times));
        add("pass_nothing_free", cluster.passes());
        add("pass_one_gpu_freed", cluster.freed_passes());
        add("submit", cluster.submits());
    }
    QUEUES.iter().filter_map(|(what, _)| weigh_elsewhere(what)).collect()
}

/// In a process of its own: what was freed before would be room that it takes without being seen.
fn weigh_elsewhere(what: &'static str) -> Option<Weight> {
    let me = std::env::current_exe().ok()?;
    let said = std::process::Command::new(me).args([WEIGH, what]).output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let (bytes, each) = said.trim().split_once(' ')?;
    let running = (NODES * GPUS_PER_NODE) as usize;
    let (bytes, each) = (bytes.parse().ok()?, each.parse().ok()?);
    Some(Weight { what, running, queued: QUEUED, bytes, each })
}

/// Prints the bytes of all, and those of each task that waits.
pub(crate) fn weigh(what: &str) {
    let Some((_, submit)) = QUEUES.iter().find(|(name, _)| *name == what) else { return };
    let empty = resident();
    let size = Size { queued: 0, nodes: NODES, users: USERS };
    let mut cluster = Cluster::full(Order::Balance, Backfill::Easy, size);
    let running = resident();
    submit(&mut cluster);
    let full = resident();
    let each = (full - running) as f64 / QUEUED as f64;
    println!("{} {each}", full - empty);
}

/// Bytes of this process.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
