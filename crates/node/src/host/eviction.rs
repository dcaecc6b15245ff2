//! Ends processes that Danlu did not start, on GPUs that it has allocated, as the server orders.
//!
//! What is ended is decided here, on what is seen now: a process that the probe lists as foreign on that GPU, in no
//! container, of no run, not root's, and older than the grace period. A pidfd keeps referring to it, so that another process
//! that gets its number takes no harm.

use super::gpu_watcher::LatestReading;
use crate::gpu::GpuDetails;
use crate::process::{Pidfd, Process};
use danlu_core::Span;
use danlu_wire::agent::EndForeign;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::{info, warn};

/// Ended at the same time; more have to wait for the next order.
const MOST: usize = 16;
/// The kernel counts starts of processes in hundredths of seconds.
const MILLISECONDS_PER_TICK: u64 = 10;

/// Takes orders to end foreign processes. Clones share the same data.
#[derive(Debug, Clone)]
pub struct Evictions {
    seen: LatestReading,
    under_way: Arc<Mutex<BTreeSet<u32>>>,
}

impl Evictions {
    pub(super) fn new(seen: LatestReading) -> Evictions {
        Evictions { seen, under_way: Arc::default() }
    }

    /// Returns at once.
    pub fn end(&self, order: &EndForeign) {
        let (pid, grace) = (order.pid, order.grace);
        let held = match self.held(order) {
            Ok(held) => held,
            Err(why) => return warn!(pid, why, "a foreign process is not ended"),
        };
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.len() >= MOST || !under_way.insert(pid) {
            return;
        }
        let over = Arc::clone(&self.under_way);
        let work = move || {
            end(&held, grace, pid);
            over.lock().unwrap_or_else(PoisonError::into_inner).remove(&pid);
        };
        if let Err(cause) = std::thread::Builder::new().name("evict".into()).spawn(work) {
            warn!(pid, %cause, "a foreign process is not ended");
            under_way.remove(&pid);
        }
    }

    fn held(&self, order: &EndForeign) -> Result<Pidfd, &'static str> {
        if !nix::unistd::geteuid().is_root() {
            return Err("this agent is not root");
        }
        is_foreign(&self.seen.gpus().0, order)?;
        let gone = "it has ended";
        let pid = i32::try_from(order.pid).map(Pid::from_raw).map_err(|_| gone)?;
        let process = Process::read(pid).ok_or(gone)?;
        let held = process.hold().ok_or(gone)?;
        // Read after it is held: if it is still the same process, this is about that one.
        let (users, age) = (users(order.pid), age(process.start));
        if Process::read(pid).is_none_or(|now| now.start != process.start) {
            return Err(gone);
        }
        is_fair_game(&users.ok_or("its user is not known")?, age, order.grace)?;
        Ok(held)
    }
}

/// As the probe saw it last.
fn is_foreign(gpus: &[GpuDetails], order: &EndForeign) -> Result<(), &'static str> {
    if gpus.iter().any(|gpu| gpu.own.iter().any(|own| own.pid == order.pid)) {
        return Err("it is of a run");
    }
    let gpu = gpus.iter().find(|gpu| gpu.uuid == order.gpu).ok_or("there is no such GPU")?;
    let process = gpu.foreign.iter().find(|process| process.pid == order.pid);
    match process.ok_or("it is not on that GPU")?.container {
        Some(_) => Err("it is in a container, which may be of a run"),
        None => Ok(()),
    }
}

/// `users`: all that it acts as.
fn is_fair_game(users: &[u32], age: Option<Span>, grace: Span) -> Result<(), &'static str> {
    match age {
        _ if users.contains(&0) || users.is_empty() => Err("it is root's"),
        Some(age) if age >= grace => Ok(()),
        Some(_) | None => Err("it is younger than the grace period"),
    }
}

/// Real, effective, saved and of the file system.
fn users(pid: u32) -> Option<Vec<u32>> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().map(|it| it.parse().ok()).collect()
}

fn age(start: u64) -> Option<Span> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    let now = (seconds * 1_000.0) as u64;
    Some(Span(now.saturating_sub(start * MILLISECONDS_PER_TICK)))
}

fn end(held: &Pidfd, grace: Span, pid: u32) {
    info!(pid, "a foreign process on an allocated GPU is ended");
    held.signal(Signal::SIGTERM);
    // One that was stopped with Ctrl-Z would not hear it.
    held.signal(Signal::SIGCONT);
    let wait = PollTimeout::try_from(grace.0).unwrap_or(PollTimeout::MAX);
    let mut ends = [PollFd::new(held.as_fd(), PollFlags::POLLIN)];
    if !matches!(poll(&mut ends, wait), Ok(1..)) {
        held.signal(Signal::SIGKILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_processes_of_users_are_ended() {
        let (young, old) = (Some(Span::from_secs(5)), Some(Span::from_secs(100)));
        let grace = Span::from_secs(60);
        assert_eq!(is_fair_game(&[1000; 4], old, grace), Ok(()));
        assert!(is_fair_game(&[1000; 4], young, grace).is_err());
        assert!(is_fair_game(&[1000; 4], None, grace).is_err());
        assert!(is_fair_game(&[1000, 0, 1000, 1000], old, grace).is_err());
        assert!(is_fair_game(&[], old, grace).is_err());
    }

    #[test]
    fn users_and_age_of_a_process_are_read() {
        let this = Process::this().expect("this process");
        assert_eq!(users(std::process::id()).map(|all| all.len()), Some(4));
        assert!(age(this.start).is_some_and(|age| age < Span::from_secs(3_600)));
        assert_eq!(age(u64::MAX / 100), Some(Span::ZERO));
    }
}
