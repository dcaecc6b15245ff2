//! `danlu down`: stop the server, and return when it is gone.

use std::{
    fs,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use serde_json::json;

use crate::{
    client::{Address, Client},
    failure::{Exit, Failure},
    language::text,
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("Stop the server; running tasks go on", "停止服务器；正在运行的任务继续"),
    override_usage = text("danlu down [OPTIONS]", "danlu down [选项]"),
    after_help = text(
        "Examples:\n  danlu down                   for an upgrade: tasks do not notice\n  \
           danlu down --cancel-tasks    end the running ones, keep the queue",
        "示例：\n  danlu down                   用于升级：任务不受影响\n  \
           danlu down --cancel-tasks    结束正在运行的任务，保留队列",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, help = text(
        "Cancel the running tasks; the queue is kept",
        "取消正在运行的任务；保留队列",
    ))]
    cancel_tasks: bool,
}

const LONGEST: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(5);

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let process = match client.address() {
        Address::Socket(path) => process_behind(path),
        Address::Http(_) => None,
    };
    client.send("POST", "/server/stop", &json!({ "cancel_tasks": arguments.cancel_tasks }))?;
    let since = Instant::now();
    while is_there(client, process.as_deref()) {
        if since.elapsed() > LONGEST {
            return Err(Failure::new(
                Exit::Unreachable,
                text(
                    "the server was asked to stop, and is still there",
                    "已要求服务器停止，但它仍在运行",
                ),
            )
            .hint("danlu logs server"));
        }
        thread::sleep(PAUSE);
    }
    screen::print(text("the server has stopped\n", "服务器已停止\n"))
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
