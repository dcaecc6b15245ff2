//! All processes of a run: signals, freezes, thaws and reaps them.
#![allow(unsafe_code, reason = "`wait4` with resource usage has no safe wrapper")]

use crate::cgroup::RunCgroup;
use crate::process::{Process, descendants};
use danlu_core::Span;
use nix::libc;
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

    /// To be repeated until no process is left: without a control group, a process forked during the walk is found by the next one.
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

/// Limits the walks if a run forks faster than it can be stopped.
const MOST_WALKS: u32 = 1_000;

fn below() -> Vec<Process> {
    descendants(&BTreeSet::from([getpid()]), &Process::all())
}

/// A child that has ended.
pub(super) struct Reaped {
    pub(super) pid: Pid,
    pub(super) ended: Ended,
    /// By itself and by all that it has waited for.
    pub(super) cpu_time: Span,
    /// The most bytes that one of them had at a time.
    pub(super) largest: u64,
}

/// One ended child. `None`: there are children, and all live. `Err`: there is none.
pub(super) fn reap() -> Result<Option<Reaped>, NoChildren> {
    let mut status = 0;
    // SAFETY: the structure is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: status and usage are written to places of ours.
    match unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG, &raw mut usage) } {
        0 => Ok(None),
        pid if pid > 0 => Ok(Some(Reaped {
            pid: Pid::from_raw(pid),
            ended: Ended::from_status(status),
            cpu_time: cpu_time(&usage),
            // In kilobytes there.
            largest: u64::try_from(usage.ru_maxrss).unwrap_or(0).saturating_mul(1024),
        })),
        _ => Err(NoChildren),
    }
}

/// Rounded up: a process that was shorter than a millisecond has used some time all the same.
fn cpu_time(usage: &libc::rusage) -> Span {
    let micros = |time: libc::timeval| time.tv_sec * 1_000_000 + time.tv_usec;
    let micros = micros(usage.ru_utime) + micros(usage.ru_stime);
    Span(u64::try_from(micros).unwrap_or(0).div_ceil(1_000))
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
        if libc::WIFSIGNALED(status) {
            Ended::Signal(libc::WTERMSIG(status))
        } else {
            Ended::Code(libc::WEXITSTATUS(status))
        }
    }
}
