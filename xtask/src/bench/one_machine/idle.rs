//! What a server costs when nothing happens. Several are watched at the same time, which disturbs none of them.

use std::time::Duration;

use super::{Size, progress, wait};
use crate::bench::{
    figure::{Figure, Target, Unit},
    process::Process,
    server::{Gpus, Programs, Server},
};

/// What is done once after the start is no cost of being idle.
const TO_SETTLE: Duration = Duration::from_secs(3);

pub(super) fn wake_ups(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let seconds = size.idle.as_secs();
    progress(&format!("{} idle servers for {seconds} s", size.rounds));
    let rounds = over(programs, Gpus::Simulated(4), size.rounds, size.idle, Process::sleeps)?;
    Ok(vec![Figure {
        name: "wake_ups",
        what: format!("wake-ups in {seconds} s, idle"),
        unit: Unit::Times,
        target: Target::AtMost(0.0),
        rounds,
    }])
}

pub(super) fn watching_gpus(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let seconds = size.watched.as_secs();
    progress(&format!("{} servers that watch GPUs for {seconds} s", size.rounds));
    let time = Process::processor_time;
    let nanoseconds = over(programs, Gpus::FakeNvml, size.rounds, size.watched, time)?;
    let percent = |ns: f64| ns / size.watched.as_nanos() as f64 * 100.0;
    Ok(vec![Figure {
        name: "watching_gpus",
        what: "processor time, idle, 8 GPUs by (fake) NVML".to_owned(),
        unit: Unit::Percent,
        target: Target::AtMost(0.3),
        rounds: nanoseconds.into_iter().map(percent).collect(),
    }])
}

/// By how much a counter of each server and its launcher grows in this time.
fn over(
    programs: &Programs,
    gpus: Gpus,
    servers: usize,
    time: Duration,
    counter: fn(Process) -> Result<u64, String>,
) -> Result<Vec<f64>, String> {
    let servers: Vec<Server> =
        (0..servers).map(|_| Server::start(programs, gpus)).collect::<Result<_, _>>()?;
    wait(TO_SETTLE)?;
    let read = |server: &Server| -> Result<u64, String> {
        server.processes()?.into_iter().map(counter).sum()
    };
    let before: Vec<u64> = servers.iter().map(read).collect::<Result<_, _>>()?;
    wait(time)?;
    let after: Vec<u64> = servers.iter().map(read).collect::<Result<_, _>>()?;
    // A thread that has ended takes its counter with it.
    let grown = |(after, before): (&u64, &u64)| after.saturating_sub(*before) as f64;
    Ok(after.iter().zip(&before).map(grown).collect())
}
