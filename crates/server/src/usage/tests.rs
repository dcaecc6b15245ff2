//! From samples to answers, with restarts and crashes in between.

use super::*;
use danlu_core::GpuId;
use danlu_wire::samples::{GpuLoad, RunGpuReading, RunReading};

const NODE: NodeId = NodeId(1);
const START: i64 = 1_800_000 * 1_000_000;

fn run() -> RunId {
    RunId { number: 7, ..RunId::FIRST }
}

fn on_gpu() -> Subject {
    Subject::RunGpu { run: run(), gpu: GpuId::from("GPU-0") }
}

fn usage(directory: &Path) -> (Usage, UsageWriter) {
    let (usage, unwritten) = Usage::new(directory, &Sampling::default());
    let writer = unwritten.start();
    (usage, writer)
}

/// Every two seconds, from this second on.
fn note(usage: &Usage, seconds: std::ops::Range<i64>) {
    for second in seconds.step_by(2) {
        let load = GpuLoad { utilization: Some(50), memory: Some(1_000), power: Some(100) };
        let gpus = vec![RunGpuReading { gpu: GpuId::from("GPU-0"), load }];
        let reading = RunReading { run: run(), cpu: Some(1_000), memory: Some(500), gpus };
        let samples = Samples { runs: vec![reading], ..Samples::default() };
        let from = SampleSource { node: NODE, user: None };
        usage.note_at(from, samples, START + second * 1_000);
    }
}

fn count(usage: &Usage, seconds: i64) -> usize {
    usage.range(&on_gpu(), START, START + seconds * 1_000, 2_000).moments.len()
}

#[test]
fn a_crash_loses_only_what_was_not_stored() {
    let directory = tempfile::tempdir().unwrap();
    let (first, writer) = usage(directory.path());
    note(&first, 0..120);
    first.flush_at(START + 120_000);
    note(&first, 120..140);
    // As a crash: nobody tells the writer to stop, and its file is taken over as it is.
    let copy = tempfile::tempdir().unwrap();
    for name in ["usage.db", "usage.db-wal"] {
        std::fs::copy(directory.path().join(name), copy.path().join(name)).unwrap();
    }
    let (second, _writer) = usage(copy.path());
    assert_eq!(count(&second, 200), 60);
    assert_eq!(second.summary(run()).map(|summary| summary.samples), Some(60));
    // It goes on, and adds up with what was before.
    note(&second, 140..160);
    second.flush_at(START + 160_000);
    assert_eq!(count(&second, 200), 70);
    assert_eq!(second.summary(run()).map(|summary| summary.samples), Some(70));
    writer.stop();
}

#[test]
fn an_end_and_a_new_start_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (first, writer) = usage(directory.path());
    note(&first, 0..1_000);
    writer.stop();
    let (second, writer) = usage(directory.path());
    assert_eq!(count(&second, 2_000), 500);
    assert_eq!(second.subjects_of(run()).len(), 2);
    second.forget(vec![run()]);
    second.flush_at(START + 1_000_000);
    assert_eq!(count(&second, 2_000), 0);
    assert_eq!(second.summary(run()), None);
    assert!(second.subjects_of(run()).is_empty());
    writer.stop();
}

#[test]
fn fewer_points_are_means_of_more() {
    let directory = tempfile::tempdir().unwrap();
    let (usage, writer) = usage(directory.path());
    note(&usage, 0..4_000);
    usage.flush_at(START + 4_000_000);
    let all = usage.range(&on_gpu(), START, START + 4_000_000, 100);
    assert!((90..=101).contains(&all.moments.len()), "{}", all.moments.len());
    let spread = Spread { min: 50, mean: 50, max: 50 };
    assert!(all.moments.iter().all(|moment| moment.values[0] == Some(spread)));
    writer.stop();
}
