//! `cargo xtask test`: everything that must hold before a change is published.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    chaos, setup,
    shell::{self, cargo, tee},
    slowest,
    tally::Tally,
};

/// Runs every step, also after a failed one; true if none failed.
pub(crate) fn run() -> bool {
    let mut steps = Steps::default();
    steps.command("formatting", cargo("fmt --all --check"));
    // Twice, because the tests switch features on that the product must not need.
    steps.command("clippy", cargo("clippy --workspace -- -D warnings"));
    steps.command("clippy, with tests", cargo("clippy --workspace --all-targets -- -D warnings"));
    for setup::Need { name, install } in setup::NEEDS {
        steps.run(name, || install().map_or_else(|why| skipped(&why), |()| Tally::default()));
    }
    steps.run("tests", || tests(""));
    steps
        .run("documentation tests", || test_runner(cargo("test --workspace --doc --no-fail-fast")));
    steps.command("documentation", documentation());
    steps.run("chaos, fixed seeds", || chaos(0, chaos::SEEDS_IN_TESTS));
    steps.run("chaos, fresh seeds", fresh_chaos);
    let deny = shell::succeeds_silently(&mut cargo("deny --version"));
    steps.run("licences and sources", || licences_and_sources(deny));
    steps.run("advisories", || advisories(deny));
    steps.summary()
}

/// What is worth knowing after every change; true if nothing failed.
pub(crate) fn quick() -> bool {
    let mut steps = Steps::default();
    steps.command("formatting", cargo("fmt --all --check"));
    steps.command("clippy, with tests", cargo("clippy --workspace --all-targets -- -D warnings"));
    steps.run("unit tests", || tests(UNIT_TESTS));
    steps.run("chaos, fixed seeds", || chaos(0, QUICK_SEEDS));
    steps.summary()
}

/// Those that start no server, and the rules of the core.
const UNIT_TESTS: &str =
    "--lib --bins --test rules --test openapi --test protocol --test run_files";
const QUICK_SEEDS: u64 = 200;
const SLOWEST_SHOWN: usize = 20;

#[derive(Default)]
struct Steps {
    done: Vec<(&'static str, Tally, Duration)>,
}

impl Steps {
    /// A step that passes when the command succeeds.
    fn command(&mut self, name: &'static str, command: Command) {
        self.run(name, || passed_if(tee(command).success));
    }

    fn run(&mut self, name: &'static str, step: impl FnOnce() -> Tally) {
        println!("\n== {name}");
        let start = Instant::now();
        let tally = step();
        self.done.push((name, tally, start.elapsed()));
    }

    fn summary(&self) -> bool {
        let mut total = Tally::default();
        println!("\nthe slowest tests:");
        let report = fs::read_to_string(report()).unwrap_or_default();
        for (seconds, name) in slowest::of(&report, SLOWEST_SHOWN) {
            println!("{seconds:>9.1} s  {name}");
        }
        println!();
        for (name, tally, duration) in &self.done {
            println!("{name:<22} {:>7.1} s   {tally}", duration.as_secs_f64());
            total += *tally;
        }
        println!("{total}");
        total.failed == 0
    }
}

fn passed_if(success: bool) -> Tally {
    if success { Tally::PASSED } else { Tally::FAILED }
}

fn skipped(reason: &str) -> Tally {
    println!("skipped: {reason}");
    Tally::SKIPPED
}

/// Of cargo-nextest, about each test.
fn report() -> PathBuf {
    shell::target().join("nextest/default/junit.xml")
}

/// `targets` are options that name test programs; empty: all of them.
fn tests(targets: &str) -> Tally {
    if !shell::succeeds_silently(&mut cargo("nextest --version")) {
        println!("cargo-nextest is not installed; `cargo test` does the same, slower");
        let targets = if targets.is_empty() { "--all-targets" } else { targets };
        let words = format!("test --workspace {targets} --no-fail-fast -- --show-output");
        return test_runner(cargo(&words));
    }
    let report = report();
    // If this run writes no report, one of an earlier run must not be read.
    let _ = fs::remove_file(&report);
    let mut run = cargo("nextest run --workspace --profile default --no-fail-fast --no-tests pass");
    run.args(targets.split_whitespace());
    let tally = test_runner(run);
    let skipped = skipped_lines(&fs::read_to_string(report).unwrap_or_default());
    for line in &skipped {
        println!("{line}");
    }
    tally.with_skipped(skipped.len())
}

/// Runs a test runner and believes its summary, except when that contradicts its exit status.
fn test_runner(command: Command) -> Tally {
    let finished = tee(command);
    match Tally::of_test_output(&finished.output) {
        Some(tally) if finished.success || tally.failed > 0 => {
            tally.with_skipped(skipped_lines(&finished.output).len())
        }
        Some(tally) => tally + Tally::FAILED,
        None => {
            println!("error: the tests did not run to their end");
            Tally::FAILED
        }
    }
}

/// A test that cannot run on this machine prints one line `skipped: …` and returns.
fn skipped_lines(output: &str) -> Vec<String> {
    output
        .lines()
        .map(|line| line.trim_start().trim_start_matches("<system-err>"))
        .filter(|line| line.starts_with("skipped: "))
        .map(str::to_owned)
        .collect()
}

fn documentation() -> Command {
    let mut command = cargo("doc --workspace --no-deps");
    command.env("RUSTDOCFLAGS", "-D warnings");
    command
}

fn chaos(first: u64, seeds: u64) -> Tally {
    passed_if(chaos::build() && tee(chaos::command(first, seeds)).success)
}

fn fresh_chaos() -> Tally {
    let (first, source) = chaos::fresh_seeds();
    println!("seeds {first} to {}, from {source}", first + chaos::SEEDS_IN_TESTS - 1);
    chaos(first, chaos::SEEDS_IN_TESTS)
}

fn licences_and_sources(deny: bool) -> Tally {
    if !deny {
        return skipped("cargo-deny could not be installed");
    }
    passed_if(tee(cargo("deny check bans licenses sources")).success)
}

fn advisories(deny: bool) -> Tally {
    if !deny {
        return skipped("cargo-deny could not be installed");
    }
    if !tee(cargo("deny fetch db")).success {
        return skipped("the advisory database cannot be fetched, see above");
    }
    passed_if(tee(cargo("deny check --disable-fetch advisories")).success)
}
