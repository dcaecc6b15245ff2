//! `cargo xtask bench one-machine`: the real binary on this machine, measured from outside.

mod idle;
mod queue;
mod tasks;

use std::{
    fs, io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{
    figure::{self, Figure},
    peers,
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
    let (mut json, mut size) = (false, FULL);
    for option in options {
        match *option {
            "--json" => json = true,
            "--quick" => size = QUICK,
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    let measured = listen_for_interrupts()
        .map_err(|error| error.to_string())
        .and_then(|()| Programs::build())
        .and_then(|programs| measure(&programs, size));
    let figures = match measured {
        Ok(figures) => figures,
        // No mistake in the command line, so that its usage would not help.
        Err(problem) => {
            // Ctrl-C ends clients as well, whose end is then no problem of its own.
            let problem = go_on().err().unwrap_or(problem);
            eprintln!("error: {problem}");
            return Ok(false);
        }
    };
    if json {
        println!("{:#}", figure::document(&figures, &peers::json()));
    } else {
        println!("{}\n{}\n{}", machine(), figure::table(&figures), peers::table());
    }
    Ok(true)
}

fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let mut figures = tasks::plain(size)?;
    figures.extend(tasks::rate(programs, size)?);
    figures.extend(tasks::gap(programs, size)?);
    figures.extend(queue::short(programs, size)?);
    figures.extend(queue::very_long(programs, size)?);
    figures.extend(idle::wake_ups(programs, size)?);
    figures.extend(idle::watching_gpus(programs, size)?);
    Ok(figures)
}

pub(super) fn machine() -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    format!("{cores} cores, load average {} at the end", load.join(" "))
}

fn progress(words: &str) {
    eprintln!("{words}");
}

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

pub(super) fn listen_for_interrupts() -> io::Result<()> {
    let flag = INTERRUPTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(())
}

/// An error once somebody wants it to end: servers are stopped on the way out.
pub(super) fn go_on() -> Result<(), String> {
    let interrupted = INTERRUPTED.get().is_some_and(|flag| flag.load(Ordering::Relaxed));
    if interrupted { Err("interrupted".to_owned()) } else { Ok(()) }
}

fn wait(time: Duration) -> Result<(), String> {
    let since = std::time::Instant::now();
    while since.elapsed() < time {
        go_on()?;
        thread::sleep(Duration::from_millis(50).min(time));
    }
    go_on()
}
