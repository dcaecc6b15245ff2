//! Real traces give the numbers that an independent simulator gave, to its last printed digit.
//!
//! The traces are not part of the repository: `../shared/traces` beside it, or `DANLU_TRACES`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use danlu_sim::trace::cluster::{PlacementRule, Unit, clusters};
use danlu_sim::trace::{Evaluation, Metrics, Policy, Sizes, evaluate, read_trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[test]
fn philly_dev() {
    let sizes = [("11cb48", 4), ("0e4a51", 10), ("2869ce", 10), ("103959", 4)];
    check("philly_dev", "reference_results.csv", &per_vc(&sizes), nodes(8), STANDARD);
}

#[test]
fn itp_dev() {
    let sizes = [("itp02", 16), ("itp05", 3), ("itp08", 10)];
    check("itp_dev", "reference_results.csv", &per_vc(&sizes), nodes(8), STANDARD);
}

#[test]
fn muri_trace3() {
    check("muri_trace3", "reference_results.csv", &Sizes::Single(8), nodes(8), STANDARD);
}

#[test]
fn muri_trace4() {
    check("muri_trace4", "reference_results.csv", &Sizes::Single(8), nodes(8), STANDARD);
}

#[test]
fn sdsc_sp2() {
    check("sdsc_sp2_5k", "reference_sdsc.csv", &Sizes::Single(128), Unit::Gpus, SDSC);
}

/// Makespan and mean completion time, from the README beside the traces.
#[test]
fn shockwave() {
    let Some(folder) = traces() else { return };
    let trace = read_trace(&folder.join("shockwave_120.csv")).unwrap();
    let clusters = clusters(&trace, &Sizes::Single(8), nodes(4)).unwrap();
    let expected = [
        ("fifo", 35712, 12551),
        ("fifo+skip", 33573, 8636),
        ("fifo+easy", 33622, 9659),
        ("sjf", 36658, 9615),
        ("sjf+skip", 33119, 7772),
        ("srtf", 33740, 7520),
        ("las", 34878, 10809),
    ];
    for (policy, makespan, mean_jct) in expected {
        let found = evaluate(&trace, &clusters, policy.parse().unwrap(), &mut |_| ()).unwrap().all;
        let found = (found.makespan, found.mean_jct.round() as u64);
        assert_eq!(found, (makespan, mean_jct), "{policy}");
    }
}

/// Without being told a duration, `auto` closes most of the distance from `fifo` to `srtf`, and the unlucky wait hardly
/// longer than under `fifo+skip`.
#[test]
fn auto_is_near_srtf_without_knowing_durations() {
    let Some(folder) = traces() else { return };
    let philly = [("11cb48", 4), ("0e4a51", 10), ("2869ce", 10), ("103959", 4)];
    let itp = [("itp02", 16), ("itp05", 3), ("itp08", 10)];
    // The share of the distance; the worst queueing time of 99 % over that of `fifo+skip`.
    for (name, sizes, closed, tail) in
        [("philly_dev", per_vc(&philly), 0.85, 1.0), ("itp_dev", per_vc(&itp), 0.65, 1.1)]
    {
        let trace = read_trace(&folder.join(name).with_extension("csv")).unwrap();
        let clusters = clusters(&trace, &sizes, nodes(8)).unwrap();
        let of = |policy: &str| {
            evaluate(&trace, &clusters, policy.parse().unwrap(), &mut |_| ()).unwrap().all
        };
        let (auto, fifo, skip, srtf) = (of("auto"), of("fifo"), of("fifo+skip"), of("srtf"));
        let share = (fifo.mean_jct - auto.mean_jct) / (fifo.mean_jct - srtf.mean_jct);
        let unlucky = auto.p99_queue as f64 / skip.p99_queue as f64;
        println!("{name}: {share:.3} of the distance, p99 of queueing {unlucky:.3}");
        assert!(share >= closed, "{name}: only {share:.3} of the distance");
        assert!(unlucky <= tail, "{name}: p99 of queueing is {unlucky:.3} of fifo+skip's");
    }
}

#[test]
fn auto_is_as_even_between_users_as_easy() {
    let Some(folder) = traces() else { return };
    let trace = read_trace(&folder.join("sdsc_sp2_5k.csv")).unwrap();
    let clusters = clusters(&trace, &Sizes::Single(128), Unit::Gpus).unwrap();
    let [auto, easy] = ["auto", "easy-est"]
        .map(|policy| evaluate(&trace, &clusters, policy.parse().unwrap(), &mut |_| ()).unwrap());
    let (auto, easy) = (auto.all, easy.all);
    println!("Jain {:.3}, easy {:.3}", auto.jain, easy.jain);
    assert!(auto.jain >= easy.jain, "{} is less than {}", auto.jain, easy.jain);
    assert!(auto.mean_jct <= easy.mean_jct, "{} is more than {}", auto.mean_jct, easy.mean_jct);
}

/// A column of the reference, how it is rounded there, and our value.
type Measure = (&'static str, usize, fn(&Metrics) -> f64);

const STANDARD: &[Measure] = &[
    ("avg_jct", 1, |metrics| metrics.mean_jct),
    ("avg_queue", 1, |metrics| metrics.mean_queue),
    ("p50_jct", 0, |metrics| metrics.p50_jct as f64),
    ("p90_jct", 0, |metrics| metrics.p90_jct as f64),
    ("p99_jct", 0, |metrics| metrics.p99_jct as f64),
    ("p50_queue", 0, |metrics| metrics.p50_queue as f64),
    ("p99_queue", 0, |metrics| metrics.p99_queue as f64),
    ("makespan", 0, |metrics| metrics.makespan as f64),
    ("util", 4, |metrics| metrics.utilization),
    ("avg_bsld", 3, |metrics| metrics.mean_bounded_slowdown),
    ("preemptions", 0, |metrics| metrics.preemptions as f64),
];

const SDSC: &[Measure] = &[
    ("avg_jct", 1, |metrics| metrics.mean_jct),
    ("avg_queue", 1, |metrics| metrics.mean_queue),
    ("p50_jct", 0, |metrics| metrics.p50_jct as f64),
    ("p90_jct", 0, |metrics| metrics.p90_jct as f64),
    ("p99_jct", 0, |metrics| metrics.p99_jct as f64),
    ("p50_queue", 0, |metrics| metrics.p50_queue as f64),
    ("p99_queue", 0, |metrics| metrics.p99_queue as f64),
    ("makespan", 0, |metrics| metrics.makespan as f64),
    ("util", 4, |metrics| metrics.utilization),
    ("avg_bsld", 2, |metrics| metrics.mean_bounded_slowdown),
    ("preemptions", 0, |metrics| metrics.preemptions as f64),
    ("jain_user_bsld", 3, |metrics| metrics.jain),
];

fn check(name: &str, reference: &str, sizes: &Sizes, unit: Unit, measures: &[Measure]) {
    let Some(folder) = traces() else { return };
    let trace = read_trace(&folder.join(name).with_extension("csv")).unwrap();
    let clusters = clusters(&trace, sizes, unit).unwrap();
    let mut gaps = Vec::new();
    for (policy, rows) in rows(&folder.join(reference), name) {
        // The reference also has policies that Danlu has not.
        let Ok(known) = policy.parse::<Policy>() else { continue };
        let evaluation = evaluate(&trace, &clusters, known, &mut |_| ()).unwrap();
        for row in &rows {
            let metrics = scope(&trace.vcs, &evaluation, row);
            gaps.extend(measures.iter().filter_map(|measure| gap(row, measure, metrics)));
        }
        let speed = trace.jobs.len() as f64 / evaluation.wall.as_secs_f64();
        println!("{name} {known}: {} rows compared, {speed:.0} jobs/s", rows.len());
    }
    assert!(gaps.is_empty(), "{} gaps to the reference:\n{}", gaps.len(), gaps.join("\n"));
}

type Row = BTreeMap<String, String>;

/// The rows of one trace by policy: for all its VCs together, and for each.
fn rows(path: &Path, name: &str) -> BTreeMap<String, Vec<Row>> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let mut by_policy: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for row in reader.deserialize() {
        let row: Row = row.unwrap();
        if row.get("trace").is_none_or(|trace| trace == name) {
            by_policy.entry(row["policy"].clone()).or_default().push(row);
        }
    }
    assert!(!by_policy.is_empty(), "no reference for {name}");
    by_policy
}

fn scope<'a>(vcs: &[String], evaluation: &'a Evaluation, row: &Row) -> &'a Metrics {
    let vc = row.get("scope").and_then(|scope| vcs.iter().position(|vc| vc == scope));
    vc.map_or(&evaluation.all, |vc| &evaluation.per_vc[vc])
}

fn gap(row: &Row, (column, digits, value): &Measure, metrics: &Metrics) -> Option<String> {
    let expected: f64 = row[*column].parse().unwrap();
    let found = value(metrics);
    (format!("{found:.digits$}") != format!("{expected:.digits$}")).then(|| {
        let scope = row.get("scope").map_or("all", String::as_str);
        let percent = (found - expected) / expected * 100.0;
        let policy = &row["policy"];
        format!("{scope} {policy} {column}: {found:.digits$}, not {expected} ({percent:+.2} %)")
    })
}

fn per_vc(sizes: &[(&str, u32)]) -> Sizes {
    Sizes::PerVc(sizes.iter().map(|(vc, size)| ((*vc).to_owned(), *size)).collect())
}

fn nodes(gpus_each: u32) -> Unit {
    Unit::Nodes { gpus_each, placement: PlacementRule::Consolidate }
}

fn traces() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    let folder = std::env::var_os("DANLU_TRACES").map_or(beside, PathBuf::from);
    if !folder.is_dir() {
        println!("skipped: no traces in {} (set DANLU_TRACES)", folder.display());
        return None;
    }
    Some(folder)
}
