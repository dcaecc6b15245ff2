//! Runs the real binary, in a language, and shows what it said.
#![allow(dead_code, reason = "every test file is a crate of its own and uses a part of this")]

use std::process::Command;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// `arguments` are separated by spaces.
pub(crate) fn danlu(language: &str, arguments: &str) -> Answer {
    let output = Command::new(env!("CARGO_BIN_EXE_danlu"))
        .args(arguments.split_whitespace())
        .env("DANLU_LANG", language)
        .output()
        .expect("the binary starts");
    Answer {
        status: output.status.code().expect("no signal ends it"),
        stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
    }
}
