//! `danlu demo`: starts a temporary server with example tasks, and removes all of it at the end.

mod choose_gpus;
mod interrupt;
mod scripts;
mod server;
mod task_changes;
mod this_program;
mod tour;
mod users;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    process::{Command, ExitCode},
};

use clap::Args;
use danlu_messages::cli::demo as msg;

use crate::{
    failure::{Exit, Failure},
    screen,
};
use interrupt::{Interrupt, Stop};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_demo_options(),
    after_help = msg::help(),
)]
pub(crate) struct DemoArguments {
    #[arg(long, help = msg::end_by_itself_after_the_tour())]
    once: bool,
}

/// When it was interrupted before everything had been shown, as a shell would tell it.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    forget_other_servers()?;
    let interrupt = Interrupt::watch().map_err(|cause| {
        Failure::new(Exit::Internal, msg::could_not_wait_for_signals_cause(&cause))
    })?;
    let mut seen_all = false;
    let shown = tour::show(&interrupt, arguments.once, &mut seen_all);
    match shown {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Stop::Left) if seen_all => Ok(ExitCode::SUCCESS),
        Err(Stop::Left) => Ok(ExitCode::from(INTERRUPTED)),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// Variables of ours that say something about this person and the machine, not about another server.
const KEPT: [&str; 3] = ["DANLU_LANG", "DANLU_NVML_PATH", "DANLU_FAKE_NVML"];

/// Starts again without the variables that name another server, its data or its settings: whatever is started from
/// here inherits them.
fn forget_other_servers() -> Result<(), Failure> {
    let misleading: Vec<OsString> =
        env::vars_os().map(|(name, _)| name).filter(|name| misleads(name)).collect();
    if misleading.is_empty() {
        return Ok(());
    }
    let mut again = Command::new(this_program::THIS_PROGRAM);
    again.args(env::args_os().skip(1));
    for name in &misleading {
        again.env_remove(name);
    }
    let cause = again.exec();
    Err(Failure::new(Exit::Internal, msg::could_not_start_danlu_again_cause(&cause)))
}

fn misleads(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"DANLU_") && !KEPT.iter().any(|kept| name == *kept)
}

/// To stdout. A reader that is gone wants nothing more.
fn tell(words: &str) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    match screen::written(out.write_all(words.as_bytes()).and_then(|()| out.flush())) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Stop::Left),
        Err(failure) => Err(Stop::Failed(failure)),
    }
}
