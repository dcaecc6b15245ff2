//! Emptied directories of forgotten runs, for reuse.
//!
//! Creating files shortly after deleting others is slow (ext4 searches all inodes that were freed within the last minutes), so
//! directories are reused together with their files.

use super::reserved::RESERVED;
use super::{RunDir, RunRoot, WRITE, name};
use danlu_core::RunId;
use danlu_wire::rundir::{RunFile as _, ShimState};
use nix::errno::Errno;
use nix::fcntl::{OFlag, RenameFlags, openat, renameat, renameat2};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};
use std::fs;
use std::io;
use std::sync::{MutexGuard, PoisonError};

/// The names of what is in `spare`, as far as this process has put it there.
#[derive(Debug, Default)]
pub(super) struct Spares {
    names: Vec<String>,
    next: u64,
}

/// As many as may start at the same moment.
const MOST_SPARES: usize = 64;

impl RunRoot {
    /// Deletes what the previous agent has left: only the agent that emptied a directory knows that it is empty.
    pub(crate) fn drop_spares(&self) -> io::Result<()> {
        for entry in fs::read_dir(self.path.join("spare"))? {
            fs::remove_dir_all(entry?.path())?;
        }
        Ok(())
    }

    /// False when there is none. As with a new one, it cannot be taken for a run that has a directory.
    pub(super) fn take_spare(&self, run: RunId) -> Result<bool, Errno> {
        let Some(spare) = self.spares().names.pop() else { return Ok(false) };
        let taken = renameat2(
            &self.spare,
            spare.as_str(),
            &self.runs,
            name(run).as_str(),
            RenameFlags::RENAME_NOREPLACE,
        );
        if taken == Err(Errno::EEXIST) {
            self.spares().names.push(spare);
        }
        taken.map(|()| true)
    }

    fn spares(&self) -> MutexGuard<'_, Spares> {
        self.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Empties it for another run. False where that is not worth it, or not safe.
    pub(super) fn keep_spare(&self, run: RunId, dir: &RunDir) -> io::Result<bool> {
        if self.spares().names.len() >= MOST_SPARES || !dir.lock()? {
            return Ok(false);
        }
        // Never the log: processes of its user may still have it open. The other files are Danlu's own.
        for name in dir.names()? {
            let text = name.to_str().unwrap_or_default();
            if text == ShimState::NAME {
                openat(dir, name.as_c_str(), WRITE | OFlag::O_TRUNC, Mode::empty())?;
            } else if !RESERVED.contains(&text) {
                unlinkat(dir, name.as_c_str(), UnlinkatFlags::NoRemoveDir)?;
            } else if !dir.blank(text)? {
                return Ok(false);
            }
        }
        let mut spares = self.spares();
        let spare = spares.next.to_string();
        renameat(&self.runs, name(run).as_str(), &self.spare, spare.as_str())?;
        spares.next += 1;
        spares.names.push(spare);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{RUN, root};
    use super::*;
    use crate::rundir::PREEMPT;
    use danlu_wire::rundir::{Control, ExitRecord};
    use nix::sys::stat::fstat;
    use std::ffi::CString;

    #[test]
    fn directories_are_used_again_and_show_nothing_of_the_run_before() {
        let (_directory, root) = root();
        let other = RunId { number: 41, ..RUN };
        let third = RunId { number: 42, ..RUN };
        let first = root.create(RUN).unwrap().unwrap();
        let state = ShimState {
            v: danlu_wire::rundir::V1,
            shim: crate::process::Process::this().unwrap().mark(),
            boot_id: String::new(),
            leader: 7,
            started_at: danlu_core::Time(8),
            cgroups: danlu_wire::rundir::CgroupPaths::default(),
            task: None,
            gpus: Vec::new(),
        };
        first.write(&state).unwrap();
        first.write(&Control { paused: true, ..Control::default() }).unwrap();
        first.create(PREEMPT, OFlag::empty(), 0o644).unwrap();
        let inode = fstat(&first).unwrap().st_ino;
        drop(first);
        root.forget(RUN).unwrap();
        assert_eq!(root.list().unwrap(), []);

        let second = root.create(other).unwrap().unwrap();
        assert_eq!(fstat(&second).unwrap().st_ino, inode, "it is the same directory");
        let mut names = second.names().unwrap();
        names.sort();
        let kept = [Control::NAME, ExitRecord::NAME, ShimState::NAME];
        assert_eq!(names, kept.map(|name| CString::new(name).unwrap()));
        assert_eq!(second.read::<ShimState>().unwrap(), None);
        assert_eq!(second.read::<Control>().unwrap(), None);
        second.write(&state).unwrap();
        assert_eq!(second.read::<ShimState>().unwrap().unwrap().leader, 7);
        assert!(root.create(other).unwrap().is_none());

        // Its lock is still held.
        assert!(second.lock().unwrap());
        root.forget(other).unwrap();
        assert_ne!(fstat(root.create(third).unwrap().unwrap()).unwrap().st_ino, inode);
        root.forget(third).unwrap();
        root.drop_spares().unwrap();
        assert_eq!(fs::read_dir(root.path.join("spare")).unwrap().count(), 0);
        assert!(root.create(RUN).unwrap().is_some(), "a spare that is gone is not missed");
    }
}
