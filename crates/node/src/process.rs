//! Processes as `/proc` shows them, and pidfds, which keep referring to the same process when its id is reused.

use danlu_wire::rundir::ProcessMark;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use rustix::io::Errno;
use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A line of `/proc/<pid>/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
    pub(crate) session: Pid,
    /// Clock ticks since boot.
    pub(crate) start: u64,
    /// It has ended, and waits for its parent to notice.
    pub(crate) zombie: bool,
    /// It has been forked and has not executed a program.
    pub(crate) unexecuted: bool,
}

/// `PF_FORKNOEXEC` of the kernel.
const UNEXECUTED: u64 = 0x40;

/// Refers to the same process always, also after its end.
#[derive(Debug)]
pub(crate) struct Pidfd(OwnedFd);

impl Process {
    pub(crate) fn read(pid: Pid) -> Option<Process> {
        read_stat(&format!("/proc/{pid}/stat")).ok().flatten()
    }

    pub(crate) fn this() -> io::Result<Process> {
        read_stat("/proc/self/stat")?
            .ok_or_else(|| io::Error::other("/proc/self/stat cannot be read"))
    }

    pub(crate) fn all() -> Vec<Process> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|pid| Process::read(Pid::from_raw(pid)))
            .collect()
    }

    pub(crate) fn mark(&self) -> ProcessMark {
        ProcessMark { pid: self.pid.as_raw().unsigned_abs(), start: self.start }
    }

    /// `None` when it has ended.
    pub(crate) fn hold(&self) -> Option<Pidfd> {
        Pidfd::open(self.mark()).ok().flatten()
    }
}

/// The living ones among the children of `roots`, their children, and so on; not the roots themselves.
pub(crate) fn descendants(roots: &BTreeSet<Pid>, all: &[Process]) -> Vec<Process> {
    let mut family = roots.clone();
    loop {
        let before = family.len();
        family.extend(
            all.iter()
                .filter(|one| family.contains(&one.parent))
                .map(|one| one.pid)
                .collect::<Vec<_>>(),
        );
        if family.len() == before {
            break;
        }
    }
    all.iter()
        .filter(|one| !one.zombie && family.contains(&one.pid) && !roots.contains(&one.pid))
        .copied()
        .collect()
}

impl Pidfd {
    /// `None` when that process has ended, also if its id was reused.
    pub(crate) fn open(mark: ProcessMark) -> io::Result<Option<Pidfd>> {
        let Ok(pid) = i32::try_from(mark.pid).map(Pid::from_raw) else { return Ok(None) };
        let Some(held) = Pidfd::of(pid)? else { return Ok(None) };
        // Read after the open: if the start time matches, the pidfd refers to this process.
        let seen = Process::read(pid);
        Ok(seen.is_some_and(|one| one.start == mark.start && !one.zombie).then_some(held))
    }

    /// Of the process that has this id now, if any.
    pub(crate) fn of(pid: Pid) -> io::Result<Option<Pidfd>> {
        let Some(pid) = rustix::process::Pid::from_raw(pid.as_raw()) else { return Ok(None) };
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(fd) => Ok(Some(Pidfd(fd))),
            Err(Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn from_fd(fd: OwnedFd) -> Pidfd {
        Pidfd(fd)
    }

    /// A process that has ended takes no harm.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(signal) = rustix::process::Signal::from_named_raw(signal as i32) {
            let _ = pidfd_send_signal(&self.0, signal);
        }
    }
}

impl AsFd for Pidfd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The line has 52 numbers and a short name, and is given out whole by one read.
fn read_stat(path: &str) -> io::Result<Option<Process>> {
    let mut buffer = [0; 2048];
    let length = File::open(path)?.read(&mut buffer)?;
    Ok(parse_stat(&buffer[..length]))
}

/// The name of the program stands in brackets and may contain anything, brackets too.
fn parse_stat(line: &[u8]) -> Option<Process> {
    let name_end = line.iter().rposition(|&byte| byte == b')')?;
    let pid = std::str::from_utf8(line.split(|&byte| byte == b' ').next()?).ok()?;
    let rest = line.get(name_end + 2..)?;
    let mut fields = std::str::from_utf8(rest).ok()?.split(' ');
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let flags: u64 = fields.nth(2)?.parse().ok()?;
    let start = fields.nth(12)?.parse().ok()?;
    Some(Process {
        pid: Pid::from_raw(pid.parse().ok()?),
        parent: Pid::from_raw(parent),
        session: Pid::from_raw(session),
        start,
        zombie: matches!(state, "Z" | "X"),
        unexecuted: flags & UNEXECUTED != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_program_names_are_read() {
        let line = b"42 (a) b (c) S 7 42 41 0 -1 4194624 1 0 0 0 0 0 0 0 20 0 1 0 98765 1 2 3\n";
        let process = parse_stat(line).unwrap();
        assert_eq!((process.pid, process.parent), (Pid::from_raw(42), Pid::from_raw(7)));
        assert_eq!((process.session, process.start), (Pid::from_raw(41), 98765));
        assert!(!process.zombie && process.unexecuted);
        assert!(
            parse_stat(b"43 (\xff\xfe) Z 7 42 41 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 5 1")
                .unwrap()
                .zombie
        );
        assert_eq!(parse_stat(b""), None);
        assert_eq!(parse_stat(b"42 (x"), None);
    }

    #[test]
    fn reused_id_is_not_held() {
        let this = Process::this().unwrap();
        assert!(Pidfd::open(this.mark()).unwrap().is_some());
        let earlier = ProcessMark { start: this.start - 1, ..this.mark() };
        assert!(Pidfd::open(earlier).unwrap().is_none());
    }

    #[test]
    fn grandchildren_are_descendants() {
        let process = |pid, parent| Process {
            pid: Pid::from_raw(pid),
            parent: Pid::from_raw(parent),
            session: Pid::from_raw(1),
            start: 0,
            zombie: pid == 13,
            unexecuted: false,
        };
        // A child may have a lower id than its parent.
        let all =
            [process(5, 12), process(10, 1), process(12, 10), process(13, 10), process(20, 1)];
        let found = descendants(&BTreeSet::from([Pid::from_raw(10)]), &all);
        assert_eq!(found.iter().map(|one| one.pid.as_raw()).collect::<Vec<_>>(), [5, 12]);
    }
}
