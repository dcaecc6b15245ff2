//! What one decision costs: a full cluster and a long queue, over the number of queued tasks, of GPUs and of users.
//!
//! `cargo xtask bench core` runs it; `--json` prints one document instead of the table, and a name is that of the only
//! policy to be measured, or `scale`: a site of 80,000 GPUs.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark reads the clock"
)]
#![allow(clippy::disallowed_macros, reason = "a benchmark prints")]

mod cluster;
mod figure;
mod scale;

use cluster::{Cluster, Size};
use danlu_core::settings::{Backfill, Order};
use figure::Figure;

const QUEUES: [usize; 3] = [1_000, 10_000, 100_000];
const NODES: [u32; 3] = [1, 100, 1_000];
const USERS: [u32; 3] = [10, 100, 1_000];
/// What makes it harder than a plain queue, with its name at the end of a policy's.
type Twist = (&'static str, fn(&mut Cluster));

const TWISTS: [Twist; 4] = [
    ("/tasks-quota", Cluster::limit_tasks),
    ("/gpus-quota", Cluster::limit_gpus),
    ("/project-quota", Cluster::limit_project),
    ("/groups", Cluster::group_users),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [scale::WEIGH, what, ..] = words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return scale::weigh(what);
    }
    let json = std::env::args().any(|argument| argument == "--json");
    let mut results = Vec::new();
    let policies = [
        ("balance", Order::Balance, Backfill::None),
        ("balance+skip", Order::Balance, Backfill::Skip),
        ("balance+easy", Order::Balance, Backfill::Easy),
        ("fair", Order::Fair, Backfill::None),
        ("fair+skip", Order::Fair, Backfill::Skip),
        ("fair+easy", Order::Fair, Backfill::Easy),
        ("fifo", Order::Fifo, Backfill::None),
        ("fifo+skip", Order::Fifo, Backfill::Skip),
        ("fifo+easy", Order::Fifo, Backfill::Easy),
        ("sjf", Order::Sjf, Backfill::None),
        ("sjf+skip", Order::Sjf, Backfill::Skip),
        ("sjf+easy", Order::Sjf, Backfill::Easy),
        ("auto", Order::Auto, Backfill::None),
        ("auto/tasks-quota", Order::Auto, Backfill::None),
        ("auto/gpus-quota", Order::Auto, Backfill::None),
        ("auto/project-quota", Order::Auto, Backfill::None),
        ("balance/tasks-quota", Order::Balance, Backfill::None),
        ("balance+skip/gpus-quota", Order::Balance, Backfill::Skip),
        ("balance/project-quota", Order::Balance, Backfill::None),
        ("fair/gpus-quota", Order::Fair, Backfill::None),
        ("fair/groups", Order::Fair, Backfill::None),
        ("fifo/tasks-quota", Order::Fifo, Backfill::None),
        ("srtf", Order::Srtf, Backfill::None),
        ("las", Order::Las, Backfill::None),
    ];
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |policy: &str| only.as_deref().is_none_or(|only| only == policy);
    for (policy, order, backfill) in policies.into_iter().filter(|it| wanted(it.0)) {
        let largest = Size { queued: QUEUES[2], nodes: NODES[2], users: USERS[0] };
        let queues = QUEUES.map(|queued| Size { queued, ..largest });
        let nodes = [NODES[0], NODES[1]].map(|nodes| Size { nodes, ..largest });
        let users = [USERS[1], USERS[2]].map(|users| Size { users, ..largest });
        for size in queues.into_iter().chain(nodes).chain(users) {
            let mut cluster = Cluster::full(order, backfill, size);
            let twist = TWISTS.iter().find(|(name, _)| policy.ends_with(name));
            if let Some((_, twist)) = twist {
                twist(&mut cluster);
            }
            let mut add = |what, times| results.push(Figure::new(what, policy, size, times));
            add("pass_nothing_free", cluster.passes());
            add("pass_one_gpu_freed", cluster.freed_passes());
            add("submit", cluster.submits());
        }
    }
    let sites = if wanted("scale") { scale::measure(&mut results) } else { Vec::new() };
    if json { figure::print_json(&results, &sites) } else { figure::print_table(&results, &sites) }
}
