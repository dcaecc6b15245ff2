//! Checks free disk space and keeps a reserve file, so that accepted tasks can be finished.
//!
//! When the disk is full, the reserve file is deleted so that ends, cancellations and removals can still be recorded. It is
//! created again when there is space.

use crate::daemon::handle::NotNow;
use danlu_messages::errors;
use danlu_node::private;
use nix::fcntl::{FallocateFlags, fallocate};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// Submits are refused below this, so that what runs can still be recorded.
const KEPT_FREE: u64 = 64 << 20;
/// On a small disk no more than one part in so many is set aside.
const SMALLEST_SHARE: u64 = 8;
/// With less than this SQLite cannot do anything that makes a file longer.
const EXHAUSTED: u64 = 256 << 10;
/// Between two attempts to set space aside again.
const LOOK_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub struct Disk {
    directory: PathBuf,
    /// Bytes to set aside.
    reserve: u64,
    looked: Option<Instant>,
}

impl Disk {
    /// With so many bytes set aside; 0 for none.
    pub fn of(directory: &Path, reserve: u64) -> Disk {
        Disk { directory: directory.to_owned(), reserve, looked: None }
    }

    /// Why nothing new is accepted at the moment.
    pub(crate) fn full(&self) -> Option<NotNow> {
        let (free, _) = space(&self.directory)?;
        // What is set aside is for what runs: it counts as kept.
        let free = free.saturating_add(self.set_aside());
        let words = || {
            let (free, kept) = (free >> 20, KEPT_FREE >> 20);
            let message = errors::disk_nearly_full(&self.directory.display(), &free, &kept);
            (message, errors::make_room())
        };
        (free < KEPT_FREE).then(|| NotNow::new(words))
    }

    /// When to look again whether space can be set aside; `None` while it is.
    pub(crate) fn looks_in(&self) -> Option<Duration> {
        let missing = self.reserve > 0 && self.set_aside() == 0;
        let since = self.looked.filter(|_| missing)?.elapsed();
        Some(LOOK_EVERY.saturating_sub(since))
    }

    /// Sets space aside where that is missing and there is enough. Looks now and then only.
    pub(crate) fn set_space_aside(&mut self) {
        if self.looked.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        let Some((free, total)) = space(&self.directory) else { return };
        let wanted = self.reserve.min(total / SMALLEST_SHARE);
        let there = self.set_aside();
        if there < wanted && free > KEPT_FREE.min(total / 2) + (wanted - there) {
            match self.take(wanted) {
                Ok(()) => info!(megabytes = wanted >> 20, "space is set aside for a full disk"),
                Err(cause) => {
                    warn!(%cause, "no space can be set aside here for a full disk");
                    self.reserve = 0;
                }
            }
        }
    }

    /// Gives it up; whether there was any.
    pub(crate) fn give_up_reserve(&mut self) -> bool {
        // Others may take what becomes free at once: not again soon.
        self.looked = Some(Instant::now());
        let there = self.set_aside() > 0 && fs::remove_file(self.path()).is_ok();
        if there {
            warn!("the disk is full: the space that was set aside is in use now");
        }
        there
    }

    fn take(&self, bytes: u64) -> io::Result<()> {
        let file = private::lock_file(&self.path())?;
        let length = i64::try_from(bytes).unwrap_or(i64::MAX);
        fallocate(&file, FallocateFlags::empty(), 0, length).map_err(|errno| {
            let _ = fs::remove_file(self.path());
            errno.into()
        })
    }

    fn set_aside(&self) -> u64 {
        fs::symlink_metadata(self.path()).map_or(0, |facts| facts.len())
    }

    fn path(&self) -> PathBuf {
        self.directory.join("reserve")
    }
}

/// Nothing more can be written there.
pub(crate) fn is_exhausted(directory: &Path) -> bool {
    space(directory).is_some_and(|(free, _)| free < EXHAUSTED)
}

pub(crate) fn free(directory: &Path) -> Option<u64> {
    space(directory).map(|(free, _)| free)
}

/// Free bytes, and all.
fn space(directory: &Path) -> Option<(u64, u64)> {
    let facts = nix::sys::statvfs::statvfs(directory).ok()?;
    Some((facts.blocks_available() * facts.fragment_size(), facts.blocks() * facts.fragment_size()))
}
