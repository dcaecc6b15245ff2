//! The directory that holds everything of one server: made, checked to be ours, and locked.

use danlu_node::private;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum DirectoryError {
    #[error("could not use {path} as a directory of the server: {error}")]
    NotOurs { path: PathBuf, error: io::Error },
    #[error("the disk of {path} is full")]
    Full { path: PathBuf },
    #[error("could not {action} {path}: {error}")]
    File { action: &'static str, path: PathBuf, error: io::Error },
    #[error("{path} is on a network file system ({kind})")]
    Network { path: PathBuf, kind: String },
    #[error("another server uses {0}")]
    Running(PathBuf),
}

impl DirectoryError {
    pub fn hint(&self) -> &'static str {
        match self {
            DirectoryError::NotOurs { .. } => {
                "it must belong to the user who starts the server, and nobody else may write to it; \
                 remove it, or give another data directory with --data"
            }
            DirectoryError::Full { .. } => "make room on that disk, then start the server again",
            DirectoryError::File { .. } => "give another data directory with --data",
            DirectoryError::Network { .. } => "give a directory on a local disk with --data",
            DirectoryError::Running(_) => "stop it first: danlu down",
        }
    }
}

/// The data directory, made if need be, and locked for one server.
pub fn prepare(data: &Path) -> Result<File, DirectoryError> {
    // Others pass through to the socket and to their logs, and see nothing else.
    own(data, private::PASSABLE)?;
    if let Ok(Some(kind)) = danlu_node::network(data) {
        return Err(DirectoryError::Network { path: data.to_owned(), kind: kind.to_string() });
    }
    lock(data)
}

/// Held for as long as the file is open. The directory is there already.
pub fn lock(data: &Path) -> Result<File, DirectoryError> {
    let path = data.join("danlu.lock");
    let lock = private::lock_file(&path).map_err(failed("open", &path))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(DirectoryError::Running(data.to_owned())),
        Err(TryLockError::Error(error)) => Err(failed("lock", &path)(error)),
    }
}

/// Where the socket is made. One that nobody answers on is left from a server that was killed, and is removed.
pub(crate) fn place_for_socket(path: &Path, for_everybody: bool) -> Result<(), DirectoryError> {
    if let Some(parent) = path.parent() {
        own(parent, if for_everybody { 0o755 } else { private::PASSABLE })?;
    }
    if path.symlink_metadata().is_ok() {
        if UnixStream::connect(path).is_ok() {
            return Err(DirectoryError::Running(path.to_owned()));
        }
        fs::remove_file(path).map_err(failed("remove the old", path))?;
    }
    Ok(())
}

/// A link that we or root made may stand for the directory: administrators move data to another disk that way.
fn own(path: &Path, mode: u32) -> Result<(), DirectoryError> {
    let place = match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && is_trusted(found.uid()) => fs::canonicalize(path),
        _ => Ok(path.to_owned()),
    };
    place.and_then(|place| private::directory(&place, mode)).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => DirectoryError::NotOurs { path: path.to_owned(), error },
        _ => failed("create", path)(error),
    })
}

fn is_trusted(owner: u32) -> bool {
    owner == 0 || owner == nix::unistd::geteuid().as_raw()
}

pub(crate) fn failed(
    action: &'static str,
    path: &Path,
) -> impl FnOnce(io::Error) -> DirectoryError {
    let path = path.to_owned();
    move |error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => DirectoryError::Full { path },
        _ => DirectoryError::File { action, path, error },
    }
}
