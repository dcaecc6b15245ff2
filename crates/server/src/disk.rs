//! Whether there is room for more. Foreseen, so that what is accepted can always be finished.

use crate::handle::NotNow;
use std::path::{Path, PathBuf};

/// Submits are refused below this, so that what runs can still be recorded.
const RESERVE_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub struct Disk {
    directory: PathBuf,
    reserve: u64,
}

impl Disk {
    pub fn of(directory: &Path) -> Disk {
        Disk { directory: directory.to_owned(), reserve: RESERVE_BYTES }
    }

    /// Why nothing new is accepted at the moment.
    pub(crate) fn full(&self) -> Option<NotNow> {
        let facts = nix::sys::statvfs::statvfs(&self.directory).ok()?;
        let free = facts.blocks_available() * facts.fragment_size();
        (free < self.reserve).then(|| NotNow {
            message: format!(
                "the disk with {} is nearly full: {} MB free, {} MB are kept for what runs",
                self.directory.display(),
                free >> 20,
                self.reserve >> 20
            ),
            hint: "make room on that disk; running tasks are not touched",
        })
    }
}
