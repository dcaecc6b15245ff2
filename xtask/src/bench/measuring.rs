//! What all benchmarks of the real binary have in common: their options, Ctrl-C, and how figures are shown.

use std::{
    fs, io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::{
    figure::{self, Figure},
    peers,
    server::Programs,
};

/// What others have reached is shown beside some figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Peers {
    Shown,
    Left,
}

/// `quick` is the size to see that it works.
pub(super) fn run<Size>(
    bench: &str,
    options: &[&str],
    (full, quick): (Size, Size),
    measure: impl FnOnce(&Programs, Size) -> Result<Vec<Figure>, String>,
    peers: Peers,
) -> Result<bool, String> {
    let unknown = options.iter().find(|option| !["--json", "--quick"].contains(option));
    if let Some(option) = unknown {
        return Err(format!("unknown option `{option}`"));
    }
    let size = if options.contains(&"--quick") { quick } else { full };
    let measured = listen_for_interrupts()
        .map_err(|error| error.to_string())
        .and_then(|()| Programs::build())
        .and_then(|programs| measure(&programs, size));
    let figures = match measured {
        Ok(figures) => figures,
        // No mistake in the command line, so that its usage would not help.
        Err(problem) => {
            // Ctrl-C ends clients as well, whose end is then no problem of its own.
            eprintln!("error: {}", go_on().err().unwrap_or(problem));
            return Ok(false);
        }
    };
    let (others, table) = match peers {
        Peers::Shown => (peers::json(), format!("\n{}", peers::table())),
        Peers::Left => (Value::Null, String::new()),
    };
    match options.contains(&"--json") {
        true => println!("{:#}", figure::document(bench, &figures, &others)),
        false => println!("{}\n{}{table}", machine(), figure::table(&figures)),
    }
    Ok(true)
}

fn machine() -> String {
    let cores = thread::available_parallelism().map_or(0, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    format!("{cores} cores, load average {} at the end", load.join(" "))
}

static INTERRUPTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

fn listen_for_interrupts() -> io::Result<()> {
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
