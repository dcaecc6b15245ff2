//! Run directories: all that a node knows of its runs. Creating the directory is the latch that starts a run at most once.
//!
//! ```text
//!     <root>/agent.lock         held by the one agent of this root
//!     <root>/runs/<run>/        state.json control.json exit.json output.log preempt; itself locked while its shim lives.
//!                               The space of `control.json` and `exit.json` is reserved from the start.
//!     <root>/logs/<run>.log     output of forgotten runs
//!     <root>/spare/<number>/    emptied directories of forgotten runs, for reuse
//! ```

mod reserved;
mod spares;

use crate::filesystem::{self, Network};
use crate::private::{self, PASSABLE};
use danlu_core::{Epoch, RunId};
use danlu_wire::rundir::{Control, ExitRecord, RunFile, ShimState};
use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fchmod, fstat, fstatat, mkdirat};
use nix::sys::statvfs::fstatvfs;
use nix::unistd::{UnlinkatFlags, unlinkat};
use spares::Spares;
use std::ffi::CString;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use thiserror::Error;

pub(crate) const OUTPUT: &str = "output.log";
pub(crate) const PREEMPT: &str = "preempt";

/// To write to a file that is there.
const WRITE: OFlag = OFlag::O_WRONLY.union(OFlag::O_CLOEXEC).union(OFlag::O_NOFOLLOW);

/// Free bytes and descriptors that a start needs at least.
const ROOM: u64 = 64 << 10;
const DESCRIPTORS: usize = 16;

/// The directory that an agent keeps its runs in.
#[derive(Debug)]
pub struct RunRoot {
    path: PathBuf,
    runs: OwnedFd,
    logs: OwnedFd,
    spare: OwnedFd,
    spares: Mutex<Spares>,
}

/// One run directory, open.
///
/// Its lock belongs to the open directory: every process with a copy of the descriptor holds it. A shim holds it for life,
/// from before the shim exists. So it is never unlocked where it may be shared, only closed.
#[derive(Debug)]
pub(crate) struct RunDir(OwnedFd);

#[derive(Debug, Error)]
pub enum RootError {
    #[error(
        "`{path}` is on a network file system ({kind}), where locks cannot be trusted\n\
         hint: use a directory on a local disk"
    )]
    Network { path: PathBuf, kind: Network },
    #[error("could not use `{path}`: {error}")]
    Unusable { path: PathBuf, error: io::Error },
}

impl RunRoot {
    /// Makes what is missing.
    pub fn open(path: &Path) -> Result<RunRoot, RootError> {
        let unusable = |error| RootError::Unusable { path: path.to_owned(), error };
        let below = ["runs", "logs", "spare"].map(|name| path.join(name));
        for directory in [path.to_owned()].into_iter().chain(below) {
            private::directory(&directory, PASSABLE).map_err(unusable)?;
        }
        let path = path.canonicalize().map_err(unusable)?;
        if let Some(kind) = filesystem::network(&path).map_err(unusable)? {
            return Err(RootError::Network { path, kind });
        }
        let open = |name| open_directory(nix::fcntl::AT_FDCWD, &path.join(name));
        let open = |name| open(name).map_err(unusable);
        let (runs, logs, spare) = (open("runs")?, open("logs")?, open("spare")?);
        Ok(RunRoot { path, runs, logs, spare, spares: Mutex::default() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `None` when it exists: then the run was started before.
    pub(crate) fn create(&self, run: RunId) -> io::Result<Option<RunDir>> {
        let made = match self.take_spare(run) {
            Err(Errno::EEXIST) => return Ok(None),
            Ok(taken) => taken,
            // If a spare cannot be used, a new one is made.
            Err(_) => false,
        };
        if made {
            return self.dir(run).map(Some);
        }
        match mkdirat(&self.runs, name(run).as_str(), Mode::from_bits_truncate(PASSABLE)) {
            Ok(()) => {
                let dir = self.dir(run)?;
                // Independent of the umask of the daemon.
                let made =
                    fchmod(&dir, Mode::from_bits_truncate(PASSABLE)).map_err(io::Error::from);
                if let Err(error) = made.and_then(|()| dir.reserve()) {
                    // The latch stays open: nothing has begun.
                    let _ = self.remove_open(run, &dir);
                    return Err(error);
                }
                Ok(Some(dir))
            }
            Err(Errno::EEXIST) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn dir(&self, run: RunId) -> io::Result<RunDir> {
        open_directory(&self.runs, Path::new(&name(run))).map(RunDir)
    }

    pub(crate) fn is_missing(&self, run: RunId) -> bool {
        self.dir(run).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    }

    pub(crate) fn list(&self) -> io::Result<Vec<RunId>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.path.join("runs"))? {
            found.extend(entry?.file_name().to_str().and_then(run_of_name));
        }
        found.sort();
        Ok(found)
    }

    /// Tries whether a run could begin here, and cleans up.
    pub(crate) fn self_test(&self) -> io::Result<()> {
        let facts = fstatvfs(&self.runs)?;
        if facts.blocks_free().saturating_mul(facts.fragment_size()) < ROOM {
            return Err(Errno::ENOSPC.into());
        }
        let descriptors: io::Result<Vec<OwnedFd>> =
            (0..DESCRIPTORS).map(|_| self.runs.try_clone()).collect();
        let trial = self.path.join("spare").join("trial");
        let _ = fs::remove_dir_all(&trial);
        private::directory(&trial, PASSABLE)?;
        let reserved = open_directory(&self.spare, Path::new("trial")).map(RunDir);
        let tried = reserved.and_then(|dir| dir.reserve());
        fs::remove_dir_all(&trial)?;
        descriptors.map(drop).and(tried)
    }

    /// Takes a run directory away, and keeps its log if there is anything in it.
    pub(crate) fn forget(&self, run: RunId) -> io::Result<()> {
        let dir = match self.dir(run) {
            Ok(dir) => dir,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let log = fstatat(&dir, OUTPUT, AtFlags::AT_SYMLINK_NOFOLLOW);
        if log.is_ok_and(|log| log.st_size > 0) {
            renameat(&dir, OUTPUT, &self.logs, log_name(run).as_str())?;
        }
        match self.keep_spare(run, &dir) {
            Ok(true) => Ok(()),
            Ok(false) | Err(_) => self.remove_open(run, &dir),
        }
    }

    /// Takes a run directory away with all that is in it.
    pub(crate) fn remove(&self, run: RunId) -> io::Result<()> {
        self.remove_open(run, &self.dir(run)?)
    }

    fn remove_open(&self, run: RunId, dir: &RunDir) -> io::Result<()> {
        for known in [ShimState::NAME, Control::NAME, ExitRecord::NAME, OUTPUT] {
            match unlinkat(dir, known, UnlinkatFlags::NoRemoveDir) {
                Ok(()) | Err(Errno::ENOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let remove = || unlinkat(&self.runs, name(run).as_str(), UnlinkatFlags::RemoveDir);
        match remove() {
            Err(Errno::ENOTEMPTY) => {}
            other => return Ok(other?),
        }
        for entry in dir.names()? {
            unlinkat(dir, entry.as_c_str(), UnlinkatFlags::NoRemoveDir)?;
        }
        Ok(remove()?)
    }

    /// The log of a run, while there is one.
    pub fn log_path(&self, run: RunId) -> Option<PathBuf> {
        let kept = self.path.join("logs").join(log_name(run));
        // In this order: a log that moves between the two looks is found at its new place.
        let current = self.run_path(run).join(OUTPUT);
        [current, kept].into_iter().find(|path| path.exists())
    }

    /// How large the log of a run is that is not forgotten yet.
    pub(crate) fn log_bytes(&self, run: RunId) -> u64 {
        let log = format!("{}/{OUTPUT}", name(run));
        let facts = fstatat(&self.runs, log.as_str(), AtFlags::AT_SYMLINK_NOFOLLOW);
        facts.map_or(0, |facts| u64::try_from(facts.st_size).unwrap_or(0))
    }

    /// The process of its command, while there is one here.
    pub fn leader(&self, run: RunId) -> Option<u32> {
        let state: Option<ShimState> = self.dir(run).and_then(|dir| dir.read()).ok()?;
        state.map(|state| state.leader)
    }

    pub fn drop_log(&self, run: RunId) -> io::Result<()> {
        // A directory that could not be taken away still has it.
        self.forget(run)?;
        match unlinkat(&self.logs, log_name(run).as_str(), UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) fn run_path(&self, run: RunId) -> PathBuf {
        self.path.join("runs").join(name(run))
    }
}

impl RunDir {
    pub(crate) fn from_fd(fd: OwnedFd) -> RunDir {
        RunDir(fd)
    }

    /// A damaged file counts as absent; a failed read, for example for lack of descriptors, is an error.
    pub(crate) fn read<T: RunFile>(&self) -> io::Result<Option<T>> {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        let file = match openat(&self.0, T::NAME, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::ENOENT) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        // Enough for most, so that a second read finds the end.
        let mut content = Vec::with_capacity(8192);
        let limit = u64::try_from(T::BYTES).unwrap_or(u64::MAX).saturating_add(1);
        file.take(limit).read_to_end(&mut content)?;
        Ok(T::parse(&content))
    }

    /// Atomic, also when the writer is killed. Not synced: after a power failure nothing runs any more.
    pub(crate) fn write<T: RunFile>(&self, content: &T) -> io::Result<()> {
        let content = content.to_bytes();
        if self.write_reserved(T::NAME, &content)? || self.fill(T::NAME, &content)? {
            return Ok(());
        }
        let draft = format!(".{}", T::NAME);
        let mut file = self.create(&draft, OFlag::O_TRUNC, 0o600)?;
        file.write_all(&content)?;
        Ok(renameat(&self.0, draft.as_str(), &self.0, T::NAME)?)
    }

    /// In the place of what its only writer has written before, which is not longer. A reader that comes in between finds it damaged,
    /// which is absent, and looks again.
    pub(crate) fn write_over<T: RunFile>(&self, content: &T) -> io::Result<()> {
        File::from(openat(&self.0, T::NAME, WRITE, Mode::empty())?)
            .write_all_at(&content.to_bytes(), 0)
    }

    pub(crate) fn open(&self, name: &str) -> io::Result<File> {
        let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
        Ok(File::from(openat(&self.0, name, flags, Mode::empty())?))
    }

    /// One that is there.
    pub(crate) fn open_to_write(&self, name: &str, how: OFlag) -> io::Result<File> {
        Ok(File::from(openat(&self.0, name, WRITE | how, Mode::empty())?))
    }

    /// A file that is there and empty, as in a spare directory, needs no draft: it is as good as absent until the one
    /// short write is done. False when there is none, or it took only a part.
    fn fill(&self, name: &str, content: &[u8]) -> io::Result<bool> {
        let file = match openat(&self.0, name, WRITE, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::ENOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        Ok(file.metadata()?.len() == 0 && file.write_at(content, 0)? == content.len())
    }

    fn names(&self) -> io::Result<Vec<CString>> {
        let mut names = Vec::new();
        // A descriptor of its own: where it stands in the list is otherwise shared.
        let mut listing = Dir::from_fd(open_directory(&self.0, Path::new("."))?)?;
        for entry in listing.iter() {
            let entry = entry?;
            if entry.file_name() != c"." && entry.file_name() != c".." {
                names.push(entry.file_name().to_owned());
            }
        }
        Ok(names)
    }

    pub(crate) fn create(&self, name: &str, how: OFlag, mode: u32) -> io::Result<File> {
        let flags = OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW | how;
        Ok(File::from(openat(&self.0, name, flags, Mode::from_bits_truncate(mode))?))
    }

    /// False when it is held.
    pub(crate) fn lock(&self) -> io::Result<bool> {
        // The standard library's lock is `flock`, which works on a directory too.
        let directory = File::from(self.0.try_clone()?);
        match directory.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// It was deleted: nothing can be exchanged by it any more.
    pub(crate) fn is_removed(&self) -> bool {
        fstat(&self.0).is_ok_and(|facts| facts.st_nlink == 0)
    }

    /// Whether the lock is free. Tried on a new descriptor, so that this one stays as it is.
    pub(crate) fn is_free(&self) -> io::Result<bool> {
        RunDir(open_directory(&self.0, Path::new("."))?).lock()
    }
}

impl AsFd for RunDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn open_directory(at: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NOFOLLOW;
    Ok(openat(at, path, flags, Mode::empty())?)
}

fn name(run: RunId) -> String {
    run.to_string()
}

fn log_name(run: RunId) -> String {
    format!("{run}.log")
}

pub(crate) fn run_of_name(name: &str) -> Option<RunId> {
    let (epoch, number) = name.split_once('-')?;
    let run = RunId { epoch: Epoch(epoch.parse().ok()?), number: number.parse().ok()? };
    // Nothing that merely looks like one, as `01-2`.
    (run.to_string() == name).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) const RUN: RunId = RunId { epoch: Epoch(2), number: 40 };

    pub(super) fn root() -> (tempfile::TempDir, RunRoot) {
        let directory = tempfile::tempdir().unwrap();
        let root = RunRoot::open(&directory.path().join("made/on/the/way")).unwrap();
        (directory, root)
    }

    #[test]
    fn second_creation_is_refused() {
        let (_directory, root) = root();
        assert!(root.create(RUN).unwrap().is_some());
        assert!(root.create(RUN).unwrap().is_none());
        fs::create_dir(root.path.join("runs/02-40")).unwrap();
        fs::create_dir(root.path.join("runs/lost+found")).unwrap();
        assert_eq!(root.list().unwrap(), [RUN]);
    }

    #[test]
    fn lock_is_held_until_its_last_copy_is_closed() {
        let (_directory, root) = root();
        let dir = root.create(RUN).unwrap().unwrap();
        assert!(dir.lock().unwrap());
        let copy = dir.0.try_clone().unwrap();
        drop(dir);
        assert!(!root.dir(RUN).unwrap().lock().unwrap());
        drop(copy);
        assert!(root.dir(RUN).unwrap().lock().unwrap());
        assert!(root.dir(RUN).unwrap().lock().unwrap());
    }

    #[test]
    fn damaged_file_is_absent() {
        let (_directory, root) = root();
        let dir = root.create(RUN).unwrap().unwrap();
        assert_eq!(dir.read::<Control>().unwrap(), None);
        dir.write(&Control { paused: true, ..Control::default() }).unwrap();
        assert!(dir.read::<Control>().unwrap().unwrap().paused);
        let path = root.run_path(RUN).join(Control::NAME);
        for damage in
            [&b""[..], b"{\"v\":1,", &[0; 512], b"{\"v\":9,\"stop\":null,\"paused\":true}"]
        {
            fs::write(&path, damage).unwrap();
            assert_eq!(dir.read::<Control>().unwrap(), None, "{damage:?}");
        }
    }

    #[test]
    fn a_longer_file_takes_the_place_of_a_reserved_one() {
        let (_directory, root) = root();
        let dir = root.create(RUN).unwrap().unwrap();
        for message in ["x".repeat(100), "y".repeat(9_000), "z".repeat(10)] {
            let exit = danlu_core::run::Exit::Launch { message };
            let record = crate::exit_record::ended(exit.clone(), None);
            dir.write(&record).unwrap();
            assert_eq!(dir.read::<ExitRecord>().unwrap().unwrap().exit, exit);
        }
    }

    #[test]
    fn log_outlives_its_run() {
        let (_directory, root) = root();
        let dir = root.create(RUN).unwrap().unwrap();
        dir.create(OUTPUT, OFlag::O_APPEND, 0o600).unwrap().write_all(b"hello\n").unwrap();
        assert_eq!(root.log_path(RUN), Some(root.run_path(RUN).join(OUTPUT)));
        root.forget(RUN).unwrap();
        root.forget(RUN).unwrap();
        assert_eq!(root.list().unwrap(), []);
        assert_eq!(fs::read(root.log_path(RUN).unwrap()).unwrap(), b"hello\n");
        root.drop_log(RUN).unwrap();
        root.drop_log(RUN).unwrap();
        assert_eq!(root.log_path(RUN), None);
    }
}
