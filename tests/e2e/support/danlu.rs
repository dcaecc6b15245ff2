//! Runs the real binary in a language, and returns its output.

use std::{
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

pub(crate) const BUILT: &str = env!("CARGO_BIN_EXE_danlu");

/// Far beyond what anything here takes; a test that meets it has failed.
pub(crate) const LONGEST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// For a test that cannot run on this machine: `cargo xtask test` counts these lines.
pub(crate) fn skip(why: &str) {
    println!("skipped: {why}");
}

/// The test that runs, for one that starts its own program again as somebody else.
pub(crate) fn test_name() -> String {
    thread::current().name().expect("the name of the test").to_owned()
}

/// `arguments` are separated by spaces.
pub(crate) fn danlu(language: &str, arguments: &str) -> Answer {
    let mut command = command(language);
    command.args(arguments.split_whitespace());
    said(&mut command)
}

/// A client of the server behind this socket; arguments one by one.
pub(crate) fn client(socket: &Path, arguments: &[&str]) -> Answer {
    said(&mut client_command(socket, arguments))
}

pub(crate) fn client_command(socket: &Path, arguments: &[&str]) -> Command {
    let mut command = command("en");
    command.env("DANLU_SERVER", socket).args(arguments);
    command
}

/// Nothing of the surroundings leaks into a test.
pub(crate) fn command(language: &str) -> Command {
    command_of(Path::new(BUILT), language)
}

/// The same of another copy of the binary.
pub(crate) fn command_of(program: &Path, language: &str) -> Command {
    let mut command = Command::new(program);
    for name in ["DANLU_SERVER", "DANLU_DATA", "DANLU_TOKEN", "DANLU_CONFIG", "NO_COLOR", "COLUMNS"]
    {
        command.env_remove(name);
    }
    // Simulated GPUs do nothing by themselves: a test says what is seen of them.
    command.env("DANLU_SIM_LOAD", "0");
    command.env("DANLU_LANG", language).stdin(Stdio::null());
    command
}

/// Runs it to its end, which is forced when it does not come.
pub(crate) fn said(command: &mut Command) -> Answer {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    let _watchdog = Watchdog::on(&child);
    answer(child.wait_with_output().expect("it ends"))
}

/// Kills a process that is still there after a long time, so that who waits for it does not wait for ever.
pub(crate) struct Watchdog {
    _calm: Sender<()>,
}

impl Watchdog {
    /// To be dropped before the process is waited for by anybody else.
    pub(crate) fn on(child: &Child) -> Watchdog {
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a process id"));
        let (calm, calmed) = mpsc::channel();
        thread::spawn(move || {
            if calmed.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout) {
                let _ = kill(pid, Signal::SIGKILL);
            }
        });
        Watchdog { _calm: calm }
    }
}

pub(crate) fn answer(output: Output) -> Answer {
    Answer {
        status: output.status.code().expect("no signal ends it"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}
