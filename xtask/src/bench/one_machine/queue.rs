//! What commands take, and what the daemon weighs, with a queue that is empty, long, or very long.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    Size,
    bystander::longest_wait,
    go_on, progress,
    tasks::{submit_array, total},
};
use crate::bench::{
    figure::{Figure, Target, Unit, median},
    server::{Gpus, Programs, Server},
};

const SUBMIT: [&str; 4] = ["submit", "-q", "--", "true"];
/// So that the task of one submit is over before the next.
const PAUSE: Duration = Duration::from_millis(20);

/// New servers: with nothing, and with a long queue.
pub(super) fn short(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let (mut submit, mut idle, mut long) = (Vec::new(), Vec::new(), Vec::new());
    for round in 1..=size.rounds {
        progress(&format!("submit and memory, round {round} of {}", size.rounds));
        let server = Server::start(programs, Gpus::Simulated(4))?;
        idle.push(server.daemon().memory()?);
        submit.push(typical(&server, &SUBMIT, size.samples, PAUSE)?);
        server.hold_gpus(4)?;
        submit_array(&server, size.long, &["true"])?;
        see_queue(&server, size.long)?;
        long.push(server.daemon().memory()?);
    }
    let queued = size.long;
    Ok(vec![
        Figure {
            name: "submit_empty",
            what: "submit, nothing queued".to_owned(),
            unit: Unit::Milliseconds,
            target: Target::AtMost(4.0),
            rounds: submit,
        },
        Figure {
            name: "memory_idle",
            what: "memory of the daemon, idle".to_owned(),
            unit: Unit::Megabytes,
            target: Target::AtMost(20.0),
            rounds: idle,
        },
        Figure {
            name: "memory_long_queue",
            what: format!("memory of the daemon, {queued} queued"),
            unit: Unit::Megabytes,
            target: Target::AtMost(30.0),
            rounds: long,
        },
    ])
}

/// One server, because filling the queue takes a while.
pub(super) fn very_long(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let queued = size.very_long;
    progress(&format!("a queue of {queued}"));
    let server = Server::start(programs, Gpus::Simulated(4))?;
    // All of it is one user's.
    server.say(&["set", "limits.open_tasks_per_user", "1000000"])?;
    server.hold_gpus(4)?;
    let since = Instant::now();
    let first = submit_array(&server, queued, &["true"])?;
    let array = since.elapsed().as_secs_f64();
    see_queue(&server, queued)?;
    let memory = server.daemon().memory()?;
    let (mut submit, mut list) = (Vec::new(), Vec::new());
    for round in 1..=size.rounds {
        progress(&format!("submit and ls with {queued} queued, round {round} of {}", size.rounds));
        submit.push(typical(&server, &SUBMIT, size.samples, Duration::ZERO)?);
        list.push(typical(&server, &["ls"], size.samples, Duration::ZERO)?);
    }
    let cancel = server.time(&["cancel", "--yes", &range(first, queued)])?.as_secs_f64();
    let token = server.say(&["token", "new", "bystander", "-q"])?;
    let submitted = longest_wait(&server, &token, || submit_array(&server, queued, &["true"]))?;
    let all = range(submitted.0, queued);
    let cancelled = longest_wait(&server, &token, || server.say(&["cancel", "--yes", &all]))?;
    let waited = submitted.1.max(cancelled.1).as_secs_f64() * 1e3;
    Ok(vec![
        Figure {
            name: "submit_very_long_queue",
            what: format!("submit, {queued} queued"),
            unit: Unit::Milliseconds,
            target: Target::AtMost(4.0),
            rounds: submit,
        },
        Figure {
            name: "ls_very_long_queue",
            what: format!("ls, {queued} queued"),
            unit: Unit::Milliseconds,
            target: Target::AtMost(15.0),
            rounds: list,
        },
        Figure {
            name: "submit_array",
            what: format!("submit of an array of {queued}, once"),
            unit: Unit::Seconds,
            target: Target::AtMost(0.5),
            rounds: vec![array],
        },
        Figure {
            name: "cancel_array",
            what: format!("cancel of an array of {queued}, once"),
            unit: Unit::Seconds,
            target: Target::AtMost(1.0),
            rounds: vec![cancel],
        },
        Figure {
            name: "longest_wait",
            what: String::from("  longest answer to another client meanwhile"),
            unit: Unit::Milliseconds,
            target: Target::AtMost(20.0),
            rounds: vec![waited],
        },
        Figure {
            name: "memory_very_long_queue",
            what: format!("memory of the daemon, {queued} queued, once"),
            unit: Unit::Megabytes,
            target: Target::AtMost(90.0),
            rounds: vec![memory],
        },
    ])
}

/// The ids of an array.
fn range(first: u64, count: usize) -> String {
    format!("{first}-{}", first + count as u64 - 1)
}

/// The median of many, in milliseconds.
fn typical(
    server: &Server,
    command: &[&str],
    samples: usize,
    pause: Duration,
) -> Result<f64, String> {
    let mut times = Vec::new();
    for _ in 0..samples {
        go_on()?;
        times.push(server.time(command)?.as_secs_f64() * 1e3);
        thread::sleep(pause);
    }
    Ok(median(&times))
}

/// That the queue is what it is said to be.
fn see_queue(server: &Server, count: usize) -> Result<(), String> {
    let list = server.json(&["ls", "--json", "-n", "1", "--state", "queued"])?;
    match total(&list) {
        Some(queued) if queued == count as u64 => Ok(()),
        queued => Err(format!("{queued:?} tasks are queued, not {count}")),
    }
}
