//! What others do, to compare with.

use serde_json::{Value, json};

/// Name, tasks each second, gap in milliseconds, submit in milliseconds.
type Peer = (&'static str, Option<f64>, Option<f64>, Option<f64>);

const SOURCE: &str = "measured on a machine like this";

const PEERS: [Peer; 9] = [
    ("posix_spawn, one at a time", Some(1_442.0), None, None),
    ("posix_spawn, two at a time", Some(2_356.0), None, None),
    ("HyperQueue", Some(910.0), Some(2.1), Some(3.8)),
    ("HyperQueue with journal", Some(829.0), None, None),
    ("task-spooler", Some(458.0), Some(1.6), None),
    ("pueue", Some(5.5), Some(288.0), Some(2.2)),
    ("pueue, 10,000 queued", None, None, Some(72.0)),
    ("Slurm", Some(4.2), Some(452.0), None),
    ("gpuman", Some(4.0), Some(904.0), None),
];

pub(super) fn table() -> String {
    let mut out = format!("Others, {SOURCE}:\n");
    out += &format!("{:28}{:>10}{:>10}{:>12}\n", "", "tasks/s", "gap ms", "submit ms");
    let show = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
    for (name, rate, gap, submit) in PEERS {
        out += &format!("{name:28}{:>10}{:>10}{:>12}\n", show(rate), show(gap), show(submit));
    }
    out
}

pub(super) fn json() -> Value {
    let peer = |(name, rate, gap, submit): Peer| {
        json!({
            "name": name, "tasks_per_second": rate, "gap_ms": gap, "submit_ms": submit, "source": SOURCE,
        })
    };
    PEERS.into_iter().map(peer).collect()
}
