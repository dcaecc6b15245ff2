//! Queued tasks: what they weigh, and an array that is submitted and cancelled while others work.

use std::{thread, time::Duration};

use super::{Size, bystander::Bystander};
use crate::bench::{
    figure::{Figure, Target, Unit},
    measuring::go_on,
    server::{Gpus, Programs, Server},
};

const GPUS: u32 = 4;
/// Of a server with a long, and with a very long queue, in megabytes.
const LONG: f64 = 30.0;
const VERY_LONG: f64 = 90.0;
/// Of an array of a hundred thousand, in seconds.
const SUBMIT: f64 = 0.5;
const CANCEL: f64 = 1.0;
/// Of anybody else meanwhile, in milliseconds.
const OTHERS: f64 = 20.0;
/// How long the other person is watched while nothing happens.
const QUIET: Duration = Duration::from_secs(2);

#[derive(Default)]
struct Rounds {
    long: Vec<f64>,
    very_long: Vec<f64>,
    submit: Vec<f64>,
    cancel: Vec<f64>,
    quiet: Vec<f64>,
    while_submitting: Vec<f64>,
    while_cancelling: Vec<f64>,
}

pub(super) fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let mut all = Rounds::default();
    for round in 1..=size.rounds {
        eprintln!(
            "queues of {} and {}, round {round} of {}",
            size.long, size.very_long, size.rounds
        );
        all.long.push(weigh(programs, size.long)?);
        all.very_long.push(weigh(programs, size.very_long)?);
        array(programs, size, &mut all)?;
    }
    let figure =
        |name, what: String, unit, most, rounds| Figure { name, what, unit, target: most, rounds };
    let (most, many) = (Target::AtMost, size.very_long);
    let (megabytes, milliseconds) = (Unit::Megabytes, Unit::Milliseconds);
    let memory = |count| format!("memory of the daemon, {count} queued");
    let wait = |when: &str| format!("  longest wait of another client {when}");
    Ok(vec![
        figure("memory_long", memory(size.long), megabytes, most(LONG), all.long),
        figure("memory_very_long", memory(many), megabytes, most(VERY_LONG), all.very_long),
        figure("quiet", wait("while nothing happens"), milliseconds, Target::None, all.quiet),
        figure(
            "submit_array",
            format!("submit of an array of {many}"),
            Unit::Seconds,
            most(SUBMIT),
            all.submit,
        ),
        figure("wait_submit", wait("meanwhile"), milliseconds, most(OTHERS), all.while_submitting),
        figure(
            "cancel_array",
            format!("cancel of an array of {many}"),
            Unit::Seconds,
            most(CANCEL),
            all.cancel,
        ),
        figure("wait_cancel", wait("meanwhile"), milliseconds, most(OTHERS), all.while_cancelling),
    ])
}

fn weigh(programs: &Programs, count: usize) -> Result<f64, String> {
    let server = busy(programs)?;
    submit(&server, count)?;
    server.wait_for("the queue", || {
        let queued = server.json(&["ls", "--json", "-n", "1", "--state", "queued"])?;
        Ok(queued["total"].as_u64() == u64::try_from(count).ok())
    })?;
    server.daemon().memory()
}

fn array(programs: &Programs, size: Size, all: &mut Rounds) -> Result<(), String> {
    let server = busy(programs)?;
    let token = server.say(&["token", "new", "bench", "-q"])?;
    let quiet = Bystander::start(&server, &token)?;
    thread::sleep(QUIET);
    let quiet = quiet.end()?;
    all.quiet.push(quiet.submit.max(quiet.list));

    let other = Bystander::start(&server, &token)?;
    let since = std::time::Instant::now();
    let first = submit(&server, size.very_long)?;
    all.submit.push(since.elapsed().as_secs_f64());
    let waits = other.end()?;
    all.while_submitting.push(waits.submit.max(waits.list));

    go_on()?;
    let range = format!("{first}-{}", first + size.very_long as u64 - 1);
    let other = Bystander::start(&server, &token)?;
    let cancel = server.time(&["cancel", "--yes", &range])?;
    all.cancel.push(cancel.as_secs_f64());
    let waits = other.end()?;
    all.while_cancelling.push(waits.submit.max(waits.list));
    Ok(())
}

/// All GPUs are in use, and one user may have any number of tasks.
fn busy(programs: &Programs) -> Result<Server, String> {
    let server = Server::start(programs, Gpus::Simulated(GPUS))?;
    server.say(&["set", "limits.open_tasks_per_user", "1000000"])?;
    server.hold_gpus(GPUS)?;
    Ok(server)
}

/// The id of the first.
fn submit(server: &Server, count: usize) -> Result<u64, String> {
    let range = format!("0-{}", count - 1);
    let said = server.say(&["submit", "-q", "-g", "1", "--array", &range, "--", "true"])?;
    said.parse().map_err(|_| format!("submit said `{said}`"))
}
