//! A fake world of clients, nodes, shims, network, disk and clock around the real engine and its `step`.
//!
//! Everything in it follows from one number, the seed: [`run_seed`] plays it again exactly as it
//! was. Each seed has its own mix of faults; after a while they stop, and then everything that
//! was promised must come true. `oracle` says what must never happen.

mod agenda;
mod behaviour;
mod cleanup;
mod client;
mod cluster;
mod connection;
mod dice;
mod disk;
mod engine_actions;
mod engine_driver;
mod fake_outside;
mod fault_injection;
mod faults;
mod gpu;
mod history;
mod history_text;
mod idle_rule;
mod inspect;
mod machine;
mod many_seeds;
mod network;
mod oracle;
mod power;
mod random_spec;
mod readers;
mod rundir;
mod small_tasks;
mod stop;
mod tally;
mod turn_order;
mod verdict;
mod workload;
mod world;

#[cfg(test)]
mod tests;

pub use many_seeds::{Summary, run_many};
pub use tally::Tally;

use danlu_core::{Span, Time};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use world::World;

/// Enough to see how it came to a failure, mostly.
const HISTORY_LINES: usize = 200;

/// Something that must never happen, and how it came to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub seed: u64,
    /// Since the beginning of this world.
    pub time: Span,
    pub message: String,
    /// The last things that happened, one line each.
    pub history: Vec<String>,
}

/// A seed that went well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Played {
    pub tally: Tally,
    /// Of everything that happened: equal when it was the same.
    pub hash: u64,
}

/// Let one world happen, from its beginning until it is at rest.
pub fn run_seed(seed: u64) -> Result<Played, Box<Failure>> {
    run_seed_with_history(seed, HISTORY_LINES)
}

/// … and keep this many lines of its history.
pub fn run_seed_with_history(seed: u64, lines: usize) -> Result<Played, Box<Failure>> {
    let mut world = World::new(seed, lines);
    let beginning: Time = world.now;
    let verdict = catch_unwind(AssertUnwindSafe(|| world.run()));
    let message = match verdict {
        Ok(Ok(())) => {
            return Ok(Played { tally: world.tally, hash: world.history.hash() });
        }
        Ok(Err(violation)) => violation.to_string(),
        Err(panic) => format!("the core panicked: {}", panic_message(&*panic)),
    };
    let time = world.now.since(beginning);
    Err(Box::new(Failure { seed, time, message, history: world.history.into_lines() }))
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { seed, time, message, history } = self;
        history.iter().try_for_each(|line| writeln!(f, "{line}"))?;
        writeln!(f)?;
        write!(f, "seed {seed} fails after {}.{:03}s: {message}", time.0 / 1000, time.0 % 1000)
    }
}

impl std::error::Error for Failure {}
