//! Slurm's commands: the binary under one of their names, or `danlu slurm NAME`. The dialect itself is `danlu_slurm`; here
//! files are read, the server is asked and processes are started.

mod batch;
mod jobs;
mod output_directories;
mod sacct;
mod scancel;
mod scontrol;
mod signals;
mod sinfo;
mod squeue;
mod srun;
mod step_output;
mod steps;

use std::{env, io::Write as _, process::ExitCode};

use danlu_messages::slurm as msg;
use danlu_slurm::{
    Program,
    getopt::{self, CommandLine, Given},
    options::{Act, Support},
};
use danlu_spec::input_error::{InputError, InputErrorKind};
use jiff::{Timestamp, tz::TimeZone};

use crate::failure::Failure;

/// What the name of this program says, if it is one of Slurm's commands.
pub(crate) fn called_as() -> Option<Program> {
    let name = env::args_os().next()?;
    let name = name.to_str()?.rsplit('/').next()?;
    Program::named(name)
}

/// The words of the command line from this one on. What is not UTF-8 is shown as such, and found by nobody.
pub(crate) fn words(from: usize) -> Vec<String> {
    env::args_os().skip(from).map(|word| word.to_string_lossy().into_owned()).collect()
}

/// As Slurm's command does it: messages with its name before them, and its exit codes.
pub(crate) fn run(program: Program, words: &[String]) -> ExitCode {
    // Asked for by the commands themselves, inside a job.
    let done = match words.first().map(String::as_str) {
        Some(steps::BATCH_WORD) if program == Program::Sbatch => steps::batch(&words[1..]),
        _ => read_and_run(program, words),
    };
    match done {
        Ok(exit) => exit,
        Err(error) => {
            complain(program, &error);
            ExitCode::from(error.status)
        }
    }
}

/// Why a command ended early.
#[derive(Debug)]
struct SlurmError {
    status: u8,
    message: String,
    hint: Option<String>,
}

impl From<InputError> for SlurmError {
    fn from(error: InputError) -> SlurmError {
        let status = match error.kind {
            InputErrorKind::Usage => 255,
            InputErrorKind::Refused => 1,
        };
        SlurmError { status, message: error.message, hint: error.hint }
    }
}

impl From<Failure> for SlurmError {
    fn from(failure: Failure) -> SlurmError {
        let hint = failure.hint_words().map(str::to_owned);
        SlurmError { status: 1, message: failure.message().to_owned(), hint }
    }
}

impl From<crate::client::Problem> for SlurmError {
    fn from(problem: crate::client::Problem) -> SlurmError {
        Failure::from(problem).into()
    }
}

impl SlurmError {
    fn new(message: impl Into<String>) -> SlurmError {
        SlurmError { status: 1, message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> SlurmError {
        SlurmError { hint: Some(hint.into()), ..self }
    }
}

fn read_and_run(program: Program, words: &[String]) -> Result<ExitCode, SlurmError> {
    let line = getopt::read(program, words)?;
    if has(&line.options, Act::Version) {
        // Programs look at the number to choose among options.
        print("slurm-wlm 22.05.8\n");
        return Ok(ExitCode::SUCCESS);
    }
    if has(&line.options, Act::Help) || has(&line.options, Act::Usage) {
        print(&usage(program));
        return Ok(ExitCode::SUCCESS);
    }
    match program {
        Program::Sbatch => batch::run(&line),
        Program::Srun => srun::run(&line),
        Program::Salloc => srun::allocate(&line),
        Program::Squeue => squeue::run(&line),
        Program::Scancel => scancel::run(&line),
        Program::Sinfo => sinfo::run(&line),
        Program::Sacct => sacct::run(&line),
        Program::Scontrol => scontrol::run(&line),
    }
}

fn usage(program: Program) -> String {
    let name = program.name();
    let mut out = format!("Usage: {name} [OPTIONS...]\n");
    for row in
        program.options().filter(|row| row.support != Support::Refused && !row.long.is_empty())
    {
        let short = row.short.map_or("    ".to_owned(), |letter| format!("-{letter}, "));
        out += &format!("  {short}--{}\n", row.long);
    }
    out
}

fn has(options: &[Given], act: Act) -> bool {
    options.iter().any(|given| given.row.support == Support::Does(act))
}

/// Of several, the last one.
fn value(options: &[Given], act: Act) -> Option<&str> {
    let given = options.iter().rev().find(|given| given.row.support == Support::Does(act));
    given.and_then(|given| given.value.as_deref())
}

fn is_strict() -> bool {
    env::var_os("DANLU_SLURM_STRICT").is_some_and(|value| value == "1")
}

/// One warning for all that has no effect, unless everything has to have one.
fn warn_of_ignored(program: Program, options: &[Given]) -> Result<(), SlurmError> {
    let ignored = getopt::without_effect(options, is_strict())?;
    if !ignored.is_empty() && !has(options, Act::Quiet) {
        note(program, &msg::options_have_no_effect(&ignored.join(", ")));
    }
    Ok(())
}

/// On standard error, as all that is not data.
fn note(program: Program, words: &str) {
    let _ = writeln!(std::io::stderr(), "{}: {words}", program.name());
}

fn complain(program: Program, error: &SlurmError) {
    note(program, &format!("error: {}", error.message));
    if let Some(hint) = &error.hint {
        note(program, hint);
    }
}

/// Whoever reads it may be gone.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn now() -> danlu_slurm::times::Now {
    danlu_slurm::times::Now { at: Timestamp::now(), zone: TimeZone::system() }
}

fn client() -> Result<crate::client::Client, SlurmError> {
    Ok(crate::client::Client::new(None)?)
}

/// The variables of a command line's own process.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

fn operands(line: &CommandLine) -> &[String] {
    &line.operands
}
