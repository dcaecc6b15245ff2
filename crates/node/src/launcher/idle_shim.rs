//! Processes that are ready to be the shim of a run: forked in advance, or done with an earlier run. Creating and reaping a process
//! takes longer than all that a shim does for a short run.
#![allow(unsafe_code, reason = "forks")]

use super::link::{packet_pair, receive_message, send_message};
use crate::fork::{Fork, fork};
use crate::process::Pidfd;
use crate::rundir::RunDir;
use crate::shim::Prepared;
use crate::shim::identity::{Identity, NoIdentity};
use danlu_core::RunId;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

/// It waits for a run, or has one. When the launcher is gone, it ends after its run.
pub(super) struct IdleShim {
    link: OwnedFd,
    process: Pidfd,
}

/// Shims that have a run, and will be free again.
#[derive(Default)]
pub(super) struct BusyShims(VecDeque<IdleShim>);

/// Further shims end with their runs.
const MOST_KEPT: usize = 8;

/// The run that a shim gets.
pub(super) struct LaunchRequest {
    pub(super) note: Note,
    /// Locked.
    pub(super) dir: RunDir,
    pub(super) order: File,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) run: RunId,
    pub(super) identity: Result<Identity, NoIdentity>,
}

pub(super) enum Side {
    Launcher(IdleShim),
    /// The end of the link that the request comes from.
    Shim(OwnedFd),
}

impl IdleShim {
    pub(super) fn fork() -> io::Result<Side> {
        let (link, shim_link) = packet_pair()?;
        // SAFETY: a launcher has no threads.
        Ok(match unsafe { fork(None) }? {
            Fork::Child { .. } => Side::Shim(shim_link),
            Fork::Parent { pidfd, .. } => Side::Launcher(IdleShim { link, process: pidfd }),
        })
    }

    /// An error when it is gone, or the request is too large to be sent: nothing has begun then.
    pub(super) fn send(&self, request: &LaunchRequest) -> io::Result<()> {
        let note = serde_json::to_vec(&request.note)?;
        let fds = [request.dir.as_fd(), request.order.as_fd()];
        Ok(send_message(self.link.as_fd(), &note, &fds)?)
    }

    pub(super) fn process(&self) -> &Pidfd {
        &self.process
    }
}

impl BusyShims {
    pub(super) fn keep(&mut self, shim: IdleShim) {
        if self.0.len() < MOST_KEPT {
            self.0.push_back(shim);
        }
    }

    /// One that has finished its run. Dead ones are dropped.
    pub(super) fn take_free(&mut self) -> Option<IdleShim> {
        let mut links: Vec<PollFd<'_>> =
            self.0.iter().map(|shim| PollFd::new(shim.link.as_fd(), PollFlags::POLLIN)).collect();
        poll(&mut links, PollTimeout::ZERO).ok().filter(|&count| count > 0)?;
        let heard: Vec<bool> = links.iter().map(|link| link.any() == Some(true)).collect();
        let free = heard.iter().position(|&heard| heard)?;
        let shim = self.0.remove(free)?;
        match receive_message(shim.link.as_fd(), RecvFlags::DONTWAIT) {
            Ok(Some(_)) => Some(shim),
            _ => self.take_free(),
        }
    }
}

/// The shim's side: it has finished its run. False when the launcher is gone.
pub(super) fn is_free_again(link: &OwnedFd) -> bool {
    send_message(link.as_fd(), b"free", &[]).is_ok()
}

/// The shim's side. `None` when there will be no request.
pub(super) fn receive(link: &OwnedFd, prepared: &Prepared) -> Option<LaunchRequest> {
    loop {
        if !prepared.wait_for(link.as_fd()) {
            return None;
        }
        let (message, fds) = match receive_message(link.as_fd(), RecvFlags::empty()) {
            Err(Errno::INTR) => continue,
            other => other.ok()??,
        };
        let [dir, order] = <[OwnedFd; 2]>::try_from(fds).ok()?;
        let note = serde_json::from_slice(&message).ok()?;
        return Some(LaunchRequest { note, dir: RunDir::from_fd(dir), order: File::from(order) });
    }
}
