//! Where a station keeps its runs, and that there is never more than one of them.

use crate::boot::boot_id;
use crate::filesystem::network;
use crate::process::{Pidfd, Process};
use danlu_wire::agent::StationOrder;
use danlu_wire::rundir::ProcessMark;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use std::env;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
#[error("there is no local disk to keep runs on: {tried}")]
pub struct NoPlace {
    tried: String,
}

/// A directory on a local disk: what the server says, or one that is usual.
pub(super) fn place(order: &StationOrder) -> Result<PathBuf, NoPlace> {
    let name = if order.name.is_empty() { "node" } else { &order.name };
    let candidates = match &order.data {
        Some(data) => vec![PathBuf::from(data)],
        None if geteuid().is_root() => vec![Path::new("/var/lib/danlu/nodes").join(name)],
        None => {
            let home = env::var_os("HOME").map(PathBuf::from);
            let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
            let state = state.or_else(|| Some(home?.join(".local/state")));
            // A home directory is often on a network; the last is on every machine.
            let here = format!("/var/tmp/danlu-{}", geteuid());
            let usual = state.map(|state| state.join("danlu"));
            usual.into_iter().chain([PathBuf::from(here)]).map(|it| it.join(name)).collect()
        }
    };
    let mut tried = Vec::new();
    for candidate in candidates {
        match usable(&candidate) {
            Ok(()) => return Ok(candidate),
            Err(why) => tried.push(format!("{}: {why}", candidate.display())),
        }
    }
    Err(NoPlace { tried: tried.join("; ") })
}

fn usable(path: &Path) -> Result<(), String> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o711)
        .create(path)
        .map_err(|error| error.to_string())?;
    match network(path) {
        Ok(None) => Ok(()),
        Ok(Some(kind)) => Err(format!("is on a network file system ({kind})")),
        Err(error) => Err(error.to_string()),
    }
}

/// The process that is the station here.
#[derive(Serialize, Deserialize)]
struct Occupant {
    process: ProcessMark,
    boot_id: String,
}

/// The station of a connection that is dead, but has not noticed yet, must not keep the new one out. It is told to end,
/// and waited for; what it may have begun is adopted.
pub(super) fn take_over(root: &Path) -> io::Result<()> {
    let path = root.join("station.json");
    let before: Option<Occupant> =
        fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
    if let Some(Occupant { process, boot_id: boot }) = before
        && boot == boot_id()
        && let Some(held) = Pidfd::open(process)?
    {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            held.signal(signal);
            if has_ended(&held) {
                break;
            }
        }
    }
    let this = Occupant { process: Process::this()?.mark(), boot_id: boot_id().to_owned() };
    let fresh = root.join("station.json.new");
    fs::write(&fresh, serde_json::to_vec(&this)?)?;
    fs::rename(fresh, path)
}

fn has_ended(held: &Pidfd) -> bool {
    let mut ended = [PollFd::new(held.as_fd(), PollFlags::POLLIN)];
    poll(&mut ended, PollTimeout::from(2_000_u16)).is_ok_and(|count| count > 0)
}
