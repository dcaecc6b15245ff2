//! `cargo xtask test`: everything that must hold before a change is published.

use std::{
    fs,
    process::Command,
    time::{Duration, Instant},
};

use crate::{
    browser, chaos, machines, schemathesis,
    shell::{self, cargo, tee},
    tally::Tally,
};

/// Runs every step, also after a failed one; true if none failed.
pub(crate) fn run() -> bool {
    let mut steps = Steps::default();
    steps.command("formatting", cargo("fmt --all --check"));
    // Twice, because the tests switch features on that the product must not need.
    steps.command("clippy", cargo("clippy --workspace -- -D warnings"));
    steps.command("clippy, with tests", cargo("clippy --workspace --all-targets -- -D warnings"));
    steps.run("browser", || {
        browser::install().map_or_else(|why| skipped(&why), |()| Tally::default())
    });
    steps.run("machines", || {
        machines::install().map_or_else(|why| skipped(&why), |()| Tally::default())
    });
    steps.run("schemathesis", || {
        schemathesis::install().map_or_else(|why| skipped(&why), |()| Tally::default())
    });
    steps.run("tests", tests);
    steps
        .run("documentation tests", || test_runner(cargo("test --workspace --doc --no-fail-fast")));
    steps.command("documentation", documentation());
    steps.run("chaos, fixed seeds", || chaos(0));
    steps.run("chaos, fresh seeds", fresh_chaos);
    let mut deny = false;
    steps.run("cargo-deny", || {
        deny = have_cargo_deny();
        Tally::default()
    });
    steps.run("licences and sources", || licences_and_sources(deny));
    steps.run("advisories", || advisories(deny));
    steps.summary()
}

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

fn tests() -> Tally {
    if !shell::succeeds_silently(&mut cargo("nextest --version")) {
        println!("cargo-nextest is not installed; `cargo test` does the same, slower");
        return test_runner(cargo(
            "test --workspace --all-targets --no-fail-fast -- --show-output",
        ));
    }
    let report = shell::target().join("nextest/default/junit.xml");
    // If this run writes no report, one of an earlier run must not be read.
    let _ = fs::remove_file(&report);
    let tally = test_runner(cargo(
        "nextest run --workspace --profile default --no-fail-fast --no-tests pass",
    ));
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

fn chaos(first: u64) -> Tally {
    passed_if(tee(chaos::command(first, chaos::SEEDS_IN_TESTS)).success)
}

fn fresh_chaos() -> Tally {
    let (first, source) = chaos::fresh_seeds();
    println!("seeds {first} to {}, from {source}", first + chaos::SEEDS_IN_TESTS - 1);
    chaos(first)
}

fn have_cargo_deny() -> bool {
    if shell::succeeds_silently(&mut cargo("deny --version")) {
        return true;
    }
    println!("cargo-deny is missing; installing it, which takes some minutes");
    let build = shell::target().join("cargo-deny");
    let mut install = cargo("install --locked --quiet cargo-deny --target-dir");
    install.arg(&build);
    let installed = tee(install).success;
    let _ = fs::remove_dir_all(build);
    installed
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
