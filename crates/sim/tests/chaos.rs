//! The chaos simulator on the core as it is: nothing that was promised is ever broken.

use danlu_core::{Mutant, with_mutant};
use danlu_sim::chaos::{Summary, Tally, run_many, run_seed};
use std::sync::OnceLock;

const SEEDS: u64 = 300;

/// Played once for all tests that look at it.
fn summary() -> &'static Summary {
    static SUMMARY: OnceLock<Summary> = OnceLock::new();
    SUMMARY.get_or_init(|| run_many(0, SEEDS, 2, |_| {}))
}

#[test]
fn no_seed_breaks_a_promise() {
    let summary = summary();
    println!("{summary}");
    if let Some(failure) = &summary.failure {
        panic!("{failure}");
    }
}

#[test]
fn every_fault_really_happens() {
    for (name, count) in summary().tally.counts() {
        assert!(count > 0, "{name}: never in {SEEDS} seeds");
    }
}

#[test]
fn a_seed_is_always_the_same_story() {
    let mut stories = Vec::new();
    for seed in [0, 1, 2, 3, 4, 5, 6, 7, 1 << 40, u64::MAX] {
        let (once, again) = (run_seed(seed).unwrap(), run_seed(seed).unwrap());
        assert_eq!(once, again, "seed {seed}");
        stories.push(once.hash);
    }
    stories.sort_unstable();
    stories.dedup();
    assert_eq!(stories.len(), 10, "different seeds are different stories");
}

#[test]
fn a_failing_seed_is_told_as_a_history_and_fails_again() {
    // There are several ways to notice it; this is about one of them.
    let noticed = |seed| run_seed(seed).err().filter(|failure| failure.message.contains("goes on"));
    let fail = || with_mutant(Mutant::LostFreesGpus, || (0..50).find_map(noticed));
    let failure = fail().expect("the fault is found within 50 seeds");
    assert_eq!(Some(&failure), fail().as_ref(), "the same seed fails in the same way");
    let told = failure.to_string();
    println!("{told}");
    assert!(failure.history.len() > 20 && failure.history.len() <= 200);
    for words in ["launches run", "is cut", "goes on", &format!("seed {} fails", failure.seed)] {
        assert!(told.contains(words), "{words:?} is not in the history");
    }
}

#[test]
fn faultless_seeds_finish_their_work_and_use_the_gpus() {
    let mut calm = Tally::default();
    for played in (0..SEEDS).filter_map(|seed| run_seed(seed).ok()) {
        if played.tally.faultless_seeds == 1 {
            calm.add(&played.tally);
        }
    }
    assert!(calm.seeds >= SEEDS / 20, "only {} calm seeds", calm.seeds);
    assert!(calm.starts >= calm.seeds * 10, "only {} starts", calm.starts);
    let used = calm.gpu_time * 100 / calm.gpu_time_offered;
    // Quotas, pauses of the queue and GPUs that are taken out leave some idle on purpose.
    assert!(used >= 15, "only {used} % of the GPU time was used");
    let crashes = calm.crashes_before_commit + calm.crashes_after_commit + calm.crashes_idle;
    let faults = crashes + calm.cuts + calm.reboots + calm.restores + calm.clock_jumps;
    assert_eq!(faults, 0, "calm is calm");
}
