//! A shim that is forked ahead of its run, so that no run waits for a fork.

use super::link::{receive_message, send_message};
use crate::fork::{Fork, fork};
use crate::process::Pidfd;
use crate::rundir::RunDir;
use crate::shim::identity::{Identity, NoIdentity};
use danlu_core::RunId;
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, socketpair};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};

/// It waits for a run. When the nursery is gone, so is the spare.
pub(super) struct Spare {
    link: OwnedFd,
    shim: Pidfd,
}

/// Comes with the run directory, locked, and the order.
#[derive(Serialize, Deserialize)]
pub(super) struct Errand {
    pub(super) run: RunId,
    pub(super) identity: Result<Identity, NoIdentity>,
}

pub(super) enum Side {
    Nursery(Spare),
    /// The end of the link that the errand comes from.
    Shim(OwnedFd),
}

impl Spare {
    pub(super) fn fork() -> io::Result<Side> {
        let (link, shim_link) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        // SAFETY: a nursery has no threads.
        Ok(match unsafe { fork(None) }? {
            Fork::Child { .. } => Side::Shim(shim_link),
            Fork::Parent { pidfd, .. } => Side::Nursery(Spare { link, shim: pidfd }),
        })
    }

    /// An error when it is gone, or the errand is too large to be sent: nothing has begun then.
    pub(super) fn send(self, errand: &Errand, dir: &RunDir, order: &File) -> io::Result<Pidfd> {
        let message = serde_json::to_vec(errand)?;
        let fds = [dir.as_fd().as_raw_fd(), order.as_fd().as_raw_fd()];
        send_message(self.link.as_fd(), &message, &fds)?;
        Ok(self.shim)
    }
}

/// The spare's side. `None` when there will be no errand.
pub(super) fn receive(link: &OwnedFd) -> Option<(Errand, RunDir, File)> {
    loop {
        let (message, fds) = match receive_message(link.as_fd(), MsgFlags::empty()) {
            Err(Errno::EINTR) => continue,
            other => other.ok()??,
        };
        let [dir, order] = <[OwnedFd; 2]>::try_from(fds).ok()?;
        let errand = serde_json::from_slice(&message).ok()?;
        return Some((errand, RunDir::from_fd(dir), File::from(order)));
    }
}
