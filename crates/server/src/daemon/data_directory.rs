//! The data directory of a server: created, checked for ownership, and locked.

use danlu_messages::errors;
use danlu_node::private;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum DirectoryError {
    #[error("{}", errors::bad_server_directory(&path.display(), error))]
    NotOurs { path: PathBuf, error: io::Error },
    #[error("{}", errors::disk_full(&path.display()))]
    Full { path: PathBuf },
    #[error("{}", errors::could_not_action_path_error(action, &path.display(), error))]
    File { action: &'static str, path: PathBuf, error: io::Error },
    #[error("{}", errors::on_network_file_system(&path.display(), kind))]
    Network { path: PathBuf, kind: String },
    #[error("{}", errors::used_by_another_server(&.0.display()))]
    Running(PathBuf),
}

impl DirectoryError {
    pub fn hint(&self) -> &'static str {
        match self {
            DirectoryError::NotOurs { .. } => errors::must_be_private(),
            DirectoryError::Full { .. } => errors::free_space_then_start(),
            DirectoryError::File { .. } => errors::choose_data_directory(),
            DirectoryError::Network { .. } => errors::choose_local_data_directory(),
            DirectoryError::Running(_) => errors::stop_it_first_danlu_down(),
        }
    }
}

/// The data directory, made if need be, and locked for one server.
pub fn prepare(data: &Path) -> Result<File, DirectoryError> {
    // Other users may pass through to the socket and to their logs only.
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

/// Where the socket is created. A socket without a listener is left over from a killed server, and is removed.
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

/// A symbolic link of ours or root's is accepted: administrators move data to another disk that way.
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
