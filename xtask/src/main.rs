//! `cargo xtask`: developer commands.

mod bench;
mod browser;
mod chaos;
#[cfg(test)]
mod documents;
mod machines;
mod mail;
mod monitoring;
mod schemathesis;
mod setup;
mod shell;
mod slowest;
mod slurm_libraries;
mod tally;
mod test;
#[cfg(test)]
mod type_names;

use std::{env, process::ExitCode};

const USAGE: &str = "\
Usage:
  cargo xtask setup                          install what the tests need: packages, npm, mail servers, schemathesis, submitit, cargo-deny
  cargo xtask test                           formatting, lints, all tests, docs, licences, chaos
  cargo xtask test --quick                   formatting, lints, unit tests, 200 chaos seeds
  cargo xtask chaos --seeds N [--first S]    simulate N clusters, from seed S (default: 0)
  cargo xtask bench [core [NAME]] [--json]   measure the scheduler, or one policy of it; `scale` is a site of
                                             80,000 GPUs and 1,000,000 queued tasks
  cargo xtask bench one-machine [--json] [--quick]
                                             measure the real binary on this machine
  cargo xtask bench http [--json] [--quick]  measure its answers over HTTP
  cargo xtask bench nodes [--json] [--quick] measure it with hundreds of machines that dial in
  cargo xtask bench abuse [--json] [--quick] measure what others notice of 24,000 half-sent requests,
                                             endless logins and hundreds of event streams
  cargo xtask bench history [--json] [--quick]
                                             measure it with a million ended and 100,000 queued tasks
  cargo xtask bench usage [MACHINES [HOURS]] keep a week of samples of 50 machines, and ask for ranges of it
  cargo xtask bench soak [--plot FILE] [--json] [--quick]
                                             200,000 tasks, and whether memory, descriptors or files grow";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["setup"] => Ok(setup::run()),
        ["test"] => Ok(test::run()),
        ["test", "--quick"] => Ok(test::quick()),
        ["chaos", options @ ..] => chaos::run(options),
        ["bench", options @ ..] => bench::run(options),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        [] => Err("a command is missing".to_owned()),
        words => Err(format!("unknown command `{}`", words.join(" "))),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(mistake) => {
            eprintln!("error: {mistake}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
