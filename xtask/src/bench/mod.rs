//! `cargo xtask bench`: how fast it is.

mod abuse;
mod bystander;
mod figure;
mod history;
mod http;
mod measuring;
mod nodes;
mod one_machine;
mod peers;
mod plain;
mod process;
mod server;
mod soak;

use crate::shell;

pub(crate) fn run(options: &[&str]) -> Result<bool, String> {
    match options {
        ["one-machine", options @ ..] => one_machine::run(options),
        ["http", options @ ..] => http::run(options),
        ["nodes", options @ ..] => nodes::run(options),
        ["abuse", options @ ..] => abuse::run(options),
        ["history", options @ ..] => history::run(options),
        ["soak", options @ ..] => soak::run(options),
        ["usage", options @ ..] => usage(options),
        ["core", options @ ..] | options => core(options),
    }
}

/// A week of samples of a cluster; machines and hours may be given.
fn usage(options: &[&str]) -> Result<bool, String> {
    let mut command = shell::cargo("bench --quiet --package danlu-server --bench usage --");
    command.args(options);
    Ok(shell::succeeds(&mut command))
}

/// All policies, or only the one that is named.
fn core(options: &[&str]) -> Result<bool, String> {
    let unknown = options.iter().find(|option| option.starts_with('-') && **option != "--json");
    if let Some(option) = unknown {
        return Err(format!("unknown option `{option}`"));
    }
    let mut command = shell::cargo("bench --quiet --package danlu-core --bench scheduling --");
    command.args(options);
    Ok(shell::succeeds(&mut command))
}
