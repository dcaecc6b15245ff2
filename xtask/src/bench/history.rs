//! `cargo xtask bench history`: what hundreds of thousands of tasks cost those who come later, ended ones and queued ones.

mod ended;
mod lines;
mod queued;

use super::{
    figure::{Figure, median},
    measuring::{self, Peers, go_on},
    plain,
    server::{Programs, Server},
};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Size {
    rounds: usize,
    /// Single requests in each round, of which the median counts.
    samples: usize,
    /// Of those that no server starts.
    plain: usize,
    /// Ended tasks; the first number is what the others are compared with.
    ended: [usize; 3],
    /// Which page is to take as long as the first.
    page: usize,
    /// In a queue that is long, and in one that is very long.
    long: usize,
    very_long: usize,
}

const FULL: Size = Size {
    rounds: 5,
    samples: 30,
    plain: 1_000,
    ended: [0, 100_000, 1_000_000],
    page: 1_000,
    long: 10_000,
    very_long: 100_000,
};

/// To see that it works; the figures say little.
const QUICK: Size = Size {
    rounds: 2,
    samples: 5,
    plain: 100,
    ended: [0, 2_000, 5_000],
    page: 20,
    long: 500,
    very_long: 2_000,
};

pub(super) fn run(options: &[&str]) -> Result<bool, String> {
    measuring::run("history", options, (FULL, QUICK), measure, Peers::Left)
}

fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let mut figures = vec![plain::processes(size.rounds, size.plain)?];
    figures.extend(ended::measure(programs, size)?);
    figures.extend(queued::measure(programs, size)?);
    Ok(figures)
}

/// One value each round: the median of what `one` takes, in milliseconds.
fn typical(size: Size, mut one: impl FnMut() -> Result<f64, String>) -> Result<Vec<f64>, String> {
    let mut rounds = Vec::new();
    for _ in 0..size.rounds {
        let mut times = Vec::new();
        for _ in 0..size.samples {
            go_on()?;
            times.push(one()?);
        }
        rounds.push(median(&times));
    }
    Ok(rounds)
}

/// Milliseconds of a command, from its start to its end.
fn command(server: &Server, words: &[&str]) -> Result<f64, String> {
    Ok(server.time(words)?.as_secs_f64() * 1e3)
}
