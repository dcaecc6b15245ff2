//! Runs the real binary, in a language, and shows what it said.
#![allow(dead_code, reason = "every test file is a crate of its own and uses a part of this")]

use std::{
    path::Path,
    process::{Command, Output, Stdio},
};

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// `arguments` are separated by spaces.
pub(crate) fn danlu(language: &str, arguments: &str) -> Answer {
    let mut command = command(language);
    command.args(arguments.split_whitespace());
    answer(command.output().expect("the binary starts"))
}

/// A client of the server behind this socket; arguments one by one.
pub(crate) fn client(socket: &Path, arguments: &[&str]) -> Answer {
    answer(client_command(socket, arguments).output().expect("the binary starts"))
}

pub(crate) fn client_command(socket: &Path, arguments: &[&str]) -> Command {
    let mut command = command("en");
    command.env("DANLU_SERVER", socket).args(arguments);
    command
}

/// Nothing of the surroundings leaks into a test.
pub(crate) fn command(language: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_danlu"));
    for name in ["DANLU_SERVER", "DANLU_DATA", "DANLU_TOKEN", "DANLU_CONFIG", "NO_COLOR", "COLUMNS"]
    {
        command.env_remove(name);
    }
    command.env("DANLU_LANG", language).stdin(Stdio::null());
    command
}

pub(crate) fn answer(output: Output) -> Answer {
    Answer {
        status: output.status.code().expect("no signal ends it"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}
