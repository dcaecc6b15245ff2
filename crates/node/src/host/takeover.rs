//! Chooses the directory for runs, and ends an earlier host that still uses it.

use crate::boot::boot_id;
use crate::filesystem::network;
use crate::private::{self, PASSABLE};
use crate::process::{Pidfd, Process};
use danlu_wire::agent::StationOrder;
use danlu_wire::rundir::ProcessMark;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use std::env;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
#[error(
    "there is no place of our own on a local disk to keep runs in: {tried}\n\
     hint: name a directory that is yours alone: danlu node edit NODE --data DIRECTORY"
)]
pub struct NoPlace {
    tried: String,
}

/// A directory on a local disk: what the server says, or one that is usual.
pub(super) fn place(order: &StationOrder) -> Result<PathBuf, NoPlace> {
    let name = if order.name.is_empty() { "node" } else { &order.name };
    let candidates = match &order.data {
        Some(data) => vec![vec![PathBuf::from(data)]],
        None if geteuid().is_root() => vec![below(Path::new("/var/lib/danlu/nodes"), name)],
        None => {
            let home = env::var_os("HOME").map(PathBuf::from);
            let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
            let state = state.or_else(|| Some(home?.join(".local/state")));
            // A home directory is often on a network; the last is on every machine.
            let here = PathBuf::from(format!("/var/tmp/danlu-{}", geteuid()));
            let usual = state.map(|state| state.join("danlu"));
            usual.into_iter().chain([here]).map(|base| below(&base, name)).collect()
        }
    };
    let mut tried = Vec::new();
    for candidate in candidates {
        let mut candidate: Vec<PathBuf> = candidate.iter().map(|path| follow_own(path)).collect();
        match usable(&candidate) {
            Ok(()) => return Ok(candidate.pop().unwrap_or_default()),
            Err(why) => tried.push(why),
        }
    }
    Err(NoPlace { tried: tried.join("; ") })
}

/// Both must be ours: the owner of the upper one can replace the lower one.
fn below(base: &Path, name: &str) -> Vec<PathBuf> {
    vec![base.to_owned(), base.join(name)]
}

/// Follows a link of our own in place of the directory, for example to a larger disk.
fn follow_own(path: &Path) -> PathBuf {
    let ours = fs::symlink_metadata(path)
        .is_ok_and(|facts| facts.is_symlink() && facts.uid() == geteuid().as_raw());
    let followed = if ours { path.canonicalize().ok() } else { None };
    followed.unwrap_or_else(|| path.to_owned())
}

/// Directories that others could have prepared, or could change later, are not used.
fn usable(directories: &[PathBuf]) -> Result<(), String> {
    for path in directories {
        let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
        private::directory(path, PASSABLE).map_err(|error| failed(&error))?;
        match network(path) {
            Ok(None) => {}
            Ok(Some(kind)) => return Err(failed(&format!("is on a network file system ({kind})"))),
            Err(error) => return Err(failed(&error)),
        }
    }
    Ok(())
}

/// The process that is the host here.
#[derive(Serialize, Deserialize)]
struct Occupant {
    process: ProcessMark,
    boot_id: String,
}

/// Ends the host of an earlier connection that is dead but has not noticed yet. It gets a signal to end,
/// and is waited for; its runs are adopted.
pub(super) fn take_over(root: &Path) -> io::Result<()> {
    let path = root.join("station.json");
    if let Some(Occupant { process, boot_id: boot }) = occupant(&path)
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
    private::replace(&path, &serde_json::to_vec(&this)?)
}

/// Whom it names is ended: so only what we have written ourselves is believed.
fn occupant(path: &Path) -> Option<Occupant> {
    const MOST_BYTES: u64 = 4096;
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let facts = file.metadata().ok()?;
    let ours = facts.is_file() && facts.nlink() == 1 && facts.uid() == geteuid().as_raw();
    let mut text = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok().filter(|_| ours && facts.mode() & 0o022 == 0)
}

fn has_ended(held: &Pidfd) -> bool {
    let mut ended = [PollFd::new(held.as_fd(), PollFlags::POLLIN)];
    poll(&mut ended, PollTimeout::from(2_000_u16)).is_ok_and(|count| count > 0)
}
