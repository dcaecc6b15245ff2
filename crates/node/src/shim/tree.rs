//! All processes of a run, as the shim can hold them.

use crate::cgroup::RunCgroup;
use crate::process::{Process, descendants};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getpid};
use std::collections::BTreeSet;

/// Every descendant stays below the shim, which is the reaper of orphans; the control group holds them as one.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) cgroup: RunCgroup,
}

impl Tree {
    pub(super) fn signal_all(&self, signal: Signal) {
        for process in below() {
            if let Some(held) = process.hold() {
                held.signal(signal);
            }
        }
    }

    /// To be called again until nothing is left: without a control group, what forks during the walk is met by the next.
    pub(super) fn kill(&self) {
        self.cgroup.kill();
        self.signal_all(Signal::SIGKILL);
    }

    pub(super) fn freeze(&self) {
        if self.cgroup.freeze(true) {
            return;
        }
        // A stopped process cannot fork, so a walk that meets no new one has met all.
        let mut stopped = BTreeSet::new();
        for _ in 0..MOST_WALKS {
            let new: Vec<Process> =
                below().into_iter().filter(|one| !stopped.contains(&one.mark())).collect();
            if new.is_empty() {
                break;
            }
            for process in new {
                if let Some(held) = process.hold() {
                    held.signal(Signal::SIGSTOP);
                }
                stopped.insert(process.mark());
            }
        }
    }

    pub(super) fn thaw(&self) {
        if !self.cgroup.freeze(false) {
            self.signal_all(Signal::SIGCONT);
        }
    }
}

/// Something that forks faster than it can be stopped is not followed for ever.
const MOST_WALKS: u32 = 1_000;

fn below() -> Vec<Process> {
    descendants(&BTreeSet::from([getpid()]), &Process::all())
}

/// One ended child. `None`: there are children, and all live. `Err`: there is none.
pub(super) fn reap() -> Result<Option<(Pid, Ended)>, NoChildren> {
    let mut status = 0;
    // SAFETY: the status is written to a number of ours.
    match unsafe { nix::libc::waitpid(-1, &raw mut status, nix::libc::WNOHANG) } {
        0 => Ok(None),
        pid if pid > 0 => Ok(Some((Pid::from_raw(pid), Ended::from_status(status)))),
        _ => Err(NoChildren),
    }
}

#[derive(Debug)]
pub(super) struct NoChildren;

/// How a process ended. Real-time signals have no name, so this is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Code(i32),
    Signal(i32),
}

impl Ended {
    fn from_status(status: i32) -> Ended {
        if nix::libc::WIFSIGNALED(status) {
            Ended::Signal(nix::libc::WTERMSIG(status))
        } else {
            Ended::Code(nix::libc::WEXITSTATUS(status))
        }
    }
}
