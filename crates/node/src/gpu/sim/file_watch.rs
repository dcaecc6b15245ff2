//! Watches one file by inotify, without polling.

use crate::gpu::error::ProbeError;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

/// Further events are read by the next call.
const MOST_READS: usize = 64;

/// Watches the directory, because the file may come and go, or be replaced by another.
#[derive(Debug)]
pub(super) struct FileWatch {
    inotify: Inotify,
    path: PathBuf,
}

impl FileWatch {
    pub(super) fn new(path: &Path) -> Result<FileWatch, ProbeError> {
        let directory = match path.parent() {
            Some(directory) if !directory.as_os_str().is_empty() => directory,
            _ => Path::new("."),
        };
        let failed = |error: nix::Error| ProbeError::file("watch", directory, &error.into());
        let inotify =
            Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).map_err(failed)?;
        let events = AddWatchFlags::IN_CLOSE_WRITE
            | AddWatchFlags::IN_MOVED_TO
            | AddWatchFlags::IN_MOVED_FROM
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_ONLYDIR;
        inotify.add_watch(directory, events).map_err(failed)?;
        Ok(FileWatch { inotify, path: path.to_owned() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Takes all that has happened; whether the file was concerned.
    pub(super) fn has_changed(&self) -> bool {
        let mut changed = false;
        for _ in 0..MOST_READS {
            // Nothing more to read is an error too.
            let Ok(events) = self.inotify.read_events() else { break };
            changed |= events.iter().any(|event| {
                let lost_some = event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW);
                lost_some || event.name.as_deref() == self.path.file_name().map(OsStr::new)
            });
        }
        changed
    }
}
