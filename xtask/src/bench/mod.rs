//! `cargo xtask bench`: how fast it is.

mod figure;
mod http;
mod one_machine;
mod peers;
mod process;
mod server;

use crate::shell;

pub(crate) fn run(options: &[&str]) -> Result<bool, String> {
    match options {
        ["one-machine", options @ ..] => one_machine::run(options),
        ["http", options @ ..] => http::run(options),
        ["core", options @ ..] | options => core(options),
    }
}

fn core(options: &[&str]) -> Result<bool, String> {
    let json = match options {
        [] => false,
        ["--json"] => true,
        [option, ..] => return Err(format!("unknown benchmark or option `{option}`")),
    };
    let mut command = shell::cargo("bench --quiet --package danlu-core --bench scheduling --");
    if json {
        command.arg("--json");
    }
    Ok(shell::succeeds(&mut command))
}
