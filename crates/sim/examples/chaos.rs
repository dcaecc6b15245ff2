//! Simulate many clusters full of faults: `chaos --seeds N [--first S] [--threads T]`.
//!
//! Started by `cargo xtask chaos`. Exits with 1 and the history of the first failing seed.

use danlu_sim::chaos::run_many;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut first, mut seeds, mut threads) = (0, 100, 0);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let Some(number) = arguments.next().and_then(|word| word.parse().ok()) else {
            eprintln!("error: `{option}` needs a number");
            return ExitCode::from(2);
        };
        match option.as_str() {
            "--first" => first = number,
            "--seeds" => seeds = number,
            "--threads" => threads = number,
            _ => {
                eprintln!("error: unknown option `{option}`");
                return ExitCode::from(2);
            }
        }
    }
    if threads == 0 {
        threads = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    }
    let terminal = std::io::stderr().is_terminal();
    let progress = |done: u64| {
        if terminal && done.is_multiple_of(20) {
            eprint!("\r{done} of {seeds} seeds");
            let _ = std::io::stderr().flush();
        }
    };
    let summary = run_many(first, seeds, usize::try_from(threads).unwrap_or(1), progress);
    if terminal {
        eprint!("\r\x1b[K");
    }
    match &summary.failure {
        None => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Some(failure) => {
            println!("{failure}");
            println!("hint: cargo xtask chaos --first {} --seeds 1", failure.seed);
            ExitCode::FAILURE
        }
    }
}
