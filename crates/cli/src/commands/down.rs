//! `danlu down`: stops the server, and returns when it has ended.

use std::{
    fs,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use danlu_messages::cli::down as msg;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use serde_json::json;

use crate::{
    client::{Address, Client},
    failure::{Exit, Failure},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_down_options(),
    after_help = msg::help(),
)]
pub(crate) struct DownArguments {
    #[arg(long, help = msg::cancel_tasks())]
    cancel_tasks: bool,
}

const LONGEST: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) fn run(client: &Client, arguments: &DownArguments) -> Result<(), Failure> {
    let process = match client.address() {
        Address::Socket(path) => process_behind(path),
        Address::Http(_) => None,
    };
    client.send("POST", "/server/stop", &json!({ "cancel_tasks": arguments.cancel_tasks }))?;
    let since = Instant::now();
    while is_there(client, process.as_deref()) {
        if since.elapsed() > LONGEST {
            return Err(
                Failure::new(Exit::Unreachable, msg::still_stopping()).hint("danlu logs server")
            );
        }
        thread::sleep(PAUSE);
    }
    screen::print(msg::stopped())
}

/// The directory of the server's process in `/proc`.
fn process_behind(socket: &Path) -> Option<PathBuf> {
    let stream = UnixStream::connect(socket).ok()?;
    let pid = getsockopt(&stream, PeerCredentials).ok()?.pid();
    (pid > 0).then(|| PathBuf::from(format!("/proc/{pid}")))
}

fn is_there(client: &Client, process: Option<&Path>) -> bool {
    match (process, client.address()) {
        (Some(process), _) => is_alive(process),
        // In another container or on another machine: it is gone when it does not answer.
        (None, Address::Socket(path)) => UnixStream::connect(path).is_ok(),
        (None, Address::Http(_)) => client.who_am_i().is_ok(),
    }
}

/// A zombie has ended, when none of its threads is left; only its parent has not noticed.
fn is_alive(process: &Path) -> bool {
    let Ok(stat) = fs::read_to_string(process.join("stat")) else { return false };
    // The name before it may contain anything.
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    let threads = || fs::read_dir(process.join("task")).map_or(0, Iterator::count);
    !matches!(state, Some('Z' | 'X') | None) || threads() > 1
}
