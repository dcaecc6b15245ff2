//! The user, command and container of a process, from `/proc`.

use super::bounded_read::start_of;
use super::container::container;
use nix::unistd::{Uid, User};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub const LONGEST_COMMAND: usize = 256;
const LONGEST_STATUS: u64 = 16 << 10;
const LONGEST_CGROUP: u64 = 64 << 10;
const MOST_USERS: usize = 4096;

/// Processes that were looked up, so that each costs one small read as long as it lives.
#[derive(Debug)]
pub(crate) struct Identities {
    proc: PathBuf,
    known: BTreeMap<u32, KnownProcess>,
    users: BTreeMap<u32, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    pub user: String,
    pub command: String,
    pub container: Option<String>,
    /// Held with Ctrl-Z or SIGSTOP: it keeps its memory and does nothing.
    pub stopped: bool,
}

#[derive(Debug)]
struct KnownProcess {
    /// A pid is used again for another process, but not with the same start.
    started: u64,
    identity: ProcessIdentity,
}

impl ProcessIdentity {
    /// Of a process that the daemon cannot see.
    pub(crate) fn unknown() -> Self {
        let (user, command) = ("unknown".to_owned(), String::new());
        ProcessIdentity { user, command, container: None, stopped: false }
    }
}

impl Identities {
    pub(crate) fn new(proc: PathBuf) -> Self {
        Identities { proc, known: BTreeMap::new(), users: BTreeMap::new() }
    }

    /// `None`: there is no such process here. It has ended, or lives in another pid namespace.
    pub(crate) fn look_up(&mut self, pid: u32) -> Option<ProcessIdentity> {
        let directory = self.proc.join(pid.to_string());
        let (state, started) = state_and_start(&directory)?;
        let stopped = state == 'T';
        if let Some(known) = self.known.get(&pid).filter(|known| known.started == started) {
            return Some(ProcessIdentity { stopped, ..known.identity.clone() });
        }
        let identity = ProcessIdentity {
            user: self.user(&directory),
            command: command(&directory),
            container: cgroups(&directory).as_deref().and_then(container),
            stopped,
        };
        self.known.insert(pid, KnownProcess { started, identity: identity.clone() });
        Some(identity)
    }

    pub(crate) fn forget_all_but(&mut self, pids: &[u32]) {
        self.known.retain(|pid, _| pids.contains(pid));
    }

    fn user(&mut self, directory: &Path) -> String {
        let Some(uid) = real_uid(directory) else { return "unknown".to_owned() };
        if let Some(name) = self.users.get(&uid) {
            return name.clone();
        }
        // An account that is not known here, as of a container, is shown by its number.
        let found = User::from_uid(Uid::from_raw(uid)).ok().flatten();
        let name = found.map_or_else(|| uid.to_string(), |user| user.name);
        if self.users.len() >= MOST_USERS {
            self.users.clear();
        }
        self.users.insert(uid, name.clone());
        name
    }
}

/// From `PID (COMMAND) STATE PARENT …`, where the command may contain anything; the start is field 22.
fn state_and_start(directory: &Path) -> Option<(char, u64)> {
    let bytes = start_of(&directory.join("stat"), 4096).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    let state = fields.next()?.chars().next()?;
    let started = fields.nth(18)?.parse().ok()?;
    Some((state, started))
}

fn real_uid(directory: &Path) -> Option<u32> {
    let bytes = start_of(&directory.join("status"), LONGEST_STATUS).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    text.lines().find_map(|line| line.strip_prefix("Uid:")?.split_whitespace().next()?.parse().ok())
}

/// The command line; of a process that has none, the name that the kernel gives it.
fn command(directory: &Path) -> String {
    let limit = LONGEST_COMMAND as u64 + 1;
    let line = start_of(&directory.join("cmdline"), limit).unwrap_or_default();
    let text = String::from_utf8_lossy(&line);
    let text = text.trim_end_matches('\0').replace(|c: char| c.is_control(), " ");
    if text.trim().is_empty() {
        let name = start_of(&directory.join("comm"), 64).unwrap_or_default();
        return format!("[{}]", String::from_utf8_lossy(&name).trim());
    }
    shorten(&text)
}

fn shorten(text: &str) -> String {
    if text.len() <= LONGEST_COMMAND {
        return text.to_owned();
    }
    let mut end = LONGEST_COMMAND - "…".len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

fn cgroups(directory: &Path) -> Option<String> {
    let bytes = start_of(&directory.join("cgroup"), LONGEST_CGROUP).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
