//! The helper process that reads files of one user: it has the rights of that user only, and no threads.

use super::message::{self, HelperReply, MOST_BYTES, Question, ReadFile};
use crate::logs::{LogFile, Piece, problem};
use crate::shim::identity::Identity;
use crate::system_calls::join_new_session_keyring;
use danlu_wire::agent::{LogProblem, PathProblem, TaskPaths};
use nix::libc;
use nix::sys::signal::Signal;
use nix::unistd::geteuid;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;

/// The hidden first argument that makes a helper of this program.
pub(crate) const ARGUMENT: &str = "__user-files";

/// Runs until the other side is gone, as `user` or, without one, as the current user.
pub(crate) fn main(user: Option<&str>) -> ExitCode {
    let Ok(socket) = io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let is_user = become_user(user);
    serve(socket, is_user);
    ExitCode::SUCCESS
}

fn become_user(user: Option<&str>) -> bool {
    let _ = nix::sys::prctl::set_name(c"danlu-files");
    // Only root may inspect it, independent of the system's rule for processes that change their user.
    let _ = nix::sys::prctl::set_dumpable(false);
    let is_user =
        Identity::find(user).is_ok_and(|identity| identity.credentials().assume().is_ok());
    // The daemon's keys are not for the user.
    let _ = join_new_session_keyring();
    // After the change of user, which forgets it.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    is_user
}

fn serve(socket: OwnedFd, is_user: bool) {
    let mut socket = UnixStream::from(socket);
    while let Ok((question, _)) = message::read::<Question>(&mut socket) {
        let (reply, bytes) = match question {
            _ if !is_user => (HelperReply::NoSuchUser, Vec::new()),
            Question::Check(paths) => (HelperReply::Checked(check(&paths)), Vec::new()),
            Question::Read(wanted) => match read(&wanted) {
                Ok(Piece { offset, size, bytes }) => (HelperReply::Piece { offset, size }, bytes),
                Err(error) => (HelperReply::Unreadable(unreadable(&error)), Vec::new()),
            },
        };
        if message::write(&mut socket, &reply, &bytes).is_err() {
            return;
        }
    }
}

/// The first thing that a task would not find.
fn check(paths: &TaskPaths) -> Option<PathProblem> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let directory = Path::new(&paths.directory);
    if is_missing(directory) {
        return Some(PathProblem::NoDirectory { path: text(directory) });
    }
    for output in &paths.outputs {
        let path = directory.join(&output.path);
        if path.is_dir() {
            if output.may_be_directory {
                continue;
            }
            return Some(PathProblem::IsDirectory { path: text(&path) });
        }
        let parent = path.parent().unwrap_or(directory);
        if is_missing(parent) {
            let file = output.path.clone();
            return Some(PathProblem::NoDirectoryFor { file, directory: text(parent) });
        }
    }
    None
}

/// A directory that the user may not see does not count as missing.
fn is_missing(directory: &Path) -> bool {
    match fs::metadata(directory) {
        Ok(facts) => !facts.is_dir(),
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

fn read(wanted: &ReadFile) -> io::Result<Piece> {
    let directory = Path::new(&wanted.directory);
    if !directory.is_absolute() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let path = directory.join(&wanted.path);
    let mut file = open(&path, wanted.follow_links)?;
    if let Some(task) = wanted.task_in_directory
        && file.metadata()?.is_dir()
    {
        file = open(&path.join(format!("{task}.log")), wanted.follow_links)?;
    }
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    // What the user may read and others own is no log of the user's.
    if facts.uid() != geteuid().as_raw() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    LogFile::opened(file).piece(wanted.from, wanted.limit.min(MOST_BYTES as u64))
}

/// Does not block on a named pipe that was given as an output file.
fn open(path: &Path, follow_links: bool) -> io::Result<File> {
    let links = if follow_links { 0 } else { libc::O_NOFOLLOW };
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | links;
    File::options().read(true).custom_flags(flags).open(path)
}

fn unreadable(error: &io::Error) -> LogProblem {
    match error.raw_os_error() {
        // A link where none is allowed, or a missing device.
        Some(libc::ELOOP) => LogProblem::NotTheirs,
        Some(libc::ENXIO | libc::ENOTDIR) => LogProblem::NotThere,
        _ => problem(error),
    }
}
