//! `cargo xtask bench one-machine`: the real binary on this machine, measured from outside.

mod idle;
mod queue;
mod tasks;

use std::{thread, time::Duration};

use super::{
    figure::Figure,
    measuring::{self, Peers, go_on},
    plain,
    server::Programs,
};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Size {
    rounds: usize,
    /// Single commands in each round, of which the median counts.
    samples: usize,
    /// In a queue that is long, and in one that is very long.
    long: usize,
    very_long: usize,
    /// Of which all are run.
    tasks: usize,
    /// Of those that no server starts.
    plain: usize,
    /// One after another.
    chain: usize,
    idle: Duration,
    watched: Duration,
}

const FULL: Size = Size {
    rounds: 5,
    samples: 100,
    long: 10_000,
    very_long: 100_000,
    tasks: 10_000,
    plain: 1_000,
    chain: 200,
    idle: Duration::from_secs(10),
    watched: Duration::from_secs(20),
};

/// To see that it works; the figures say little.
const QUICK: Size = Size {
    rounds: 2,
    samples: 10,
    long: 500,
    very_long: 1_000,
    tasks: 200,
    plain: 100,
    chain: 20,
    idle: Duration::from_secs(2),
    watched: Duration::from_secs(4),
};

pub(super) fn run(options: &[&str]) -> Result<bool, String> {
    measuring::run("one-machine", options, (FULL, QUICK), measure, Peers::Shown)
}

fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let mut figures = vec![plain::processes(size.rounds, size.plain)?];
    figures.extend(tasks::rate(programs, size)?);
    figures.extend(tasks::gap(programs, size)?);
    figures.extend(queue::short(programs, size)?);
    figures.extend(queue::very_long(programs, size)?);
    figures.extend(idle::wake_ups(programs, size)?);
    figures.extend(idle::watching_gpus(programs, size)?);
    Ok(figures)
}

fn progress(words: &str) {
    eprintln!("{words}");
}

fn wait(time: Duration) -> Result<(), String> {
    let since = std::time::Instant::now();
    while since.elapsed() < time {
        go_on()?;
        thread::sleep(Duration::from_millis(50).min(time));
    }
    go_on()
}
