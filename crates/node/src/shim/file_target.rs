//! A user's file that a stream of a run is written to, opened by the child after it has become the user.
//!
//! All names are prepared before: the child only opens.

use danlu_core::TaskId;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::{Mode, SFlag, fstat};
use nix::unistd::geteuid;
use std::ffi::{CStr, CString, NulError};
use std::os::fd::OwnedFd;

#[derive(Debug)]
pub(super) struct FileTarget {
    path: CString,
    /// Taken where the path is a directory.
    inside: Option<CString>,
    start: OFlag,
    own: bool,
}

impl FileTarget {
    pub(super) fn new(
        path: &str,
        append: bool,
        task_in_directory: Option<TaskId>,
        own: bool,
    ) -> Result<FileTarget, NulError> {
        let inside = task_in_directory.map(|task| CString::new(format!("{path}/{task}.log")));
        // Appending in both cases: several writers then never write over each other.
        let start = if append { OFlag::empty() } else { OFlag::O_TRUNC };
        Ok(FileTarget {
            path: CString::new(path)?,
            inside: inside.transpose()?,
            start: start | OFlag::O_APPEND,
            own,
        })
    }

    /// Others may have written there before.
    pub(super) fn appends(&self) -> bool {
        !self.start.contains(OFlag::O_TRUNC)
    }

    pub(super) fn open(&self) -> Result<OwnedFd, Errno> {
        match (self.open_at(&self.path), &self.inside) {
            (Err(Errno::EISDIR), Some(inside)) => self.open_at(inside),
            (opened, _) => opened,
        }
    }

    fn open_at(&self, path: &CStr) -> Result<OwnedFd, Errno> {
        let flags = self.start | OFlag::O_WRONLY | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
        if !self.own {
            return open(path, flags | OFlag::O_CREAT, Mode::from_bits_truncate(0o666));
        }
        let private = Mode::from_bits_truncate(0o600);
        match open(path, flags | OFlag::O_CREAT | OFlag::O_EXCL | OFlag::O_NOFOLLOW, private) {
            Err(Errno::EEXIST) => open_own(path, flags),
            made => made,
        }
    }
}

/// It exists: another part of the run has created it, or another user who wants to read the run's output.
fn open_own(path: &CStr, flags: OFlag) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK;
    let file = open(path, flags, Mode::empty())?;
    let facts = fstat(&file)?;
    let is_file = SFlag::from_bits_truncate(facts.st_mode & SFlag::S_IFMT.bits()) == SFlag::S_IFREG;
    let is_own = facts.st_uid == geteuid().as_raw() && facts.st_nlink == 1;
    if is_file && is_own { Ok(file) } else { Err(Errno::EACCES) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;

    fn opened(path: &Path, own: bool) -> Result<(), Errno> {
        let target = FileTarget::new(path.to_str().unwrap(), true, Some(TaskId(7)), own).unwrap();
        target.open().map(drop)
    }

    #[test]
    fn a_directory_gets_a_file_for_each_task() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(opened(place.path(), false), Ok(()));
        assert!(place.path().join("7.log").is_file());
    }

    #[test]
    fn where_others_can_write_only_an_own_file_is_taken() {
        let place = tempfile::tempdir().unwrap();
        let [new, link, hard, pipe] =
            ["new", "link", "hard", "pipe"].map(|it| place.path().join(it));
        assert_eq!(opened(&new, true), Ok(()));
        assert_eq!(fs::metadata(&new).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(opened(&new, true), Ok(()), "another part of the same run");
        symlink(&new, &link).unwrap();
        assert_eq!(opened(&link, true), Err(Errno::ELOOP));
        fs::hard_link(&new, &hard).unwrap();
        assert_eq!(opened(&hard, true), Err(Errno::EACCES));
        nix::unistd::mkfifo(&pipe, Mode::from_bits_truncate(0o666)).unwrap();
        assert!(opened(&pipe, true).is_err());
        if !geteuid().is_root() {
            println!("skipped: only root can give files away");
            return;
        }
        fs::remove_file(&hard).unwrap();
        std::os::unix::fs::chown(&new, Some(12_345), None).unwrap();
        assert_eq!(opened(&new, true), Err(Errno::EACCES), "somebody else has made it");
    }
}
