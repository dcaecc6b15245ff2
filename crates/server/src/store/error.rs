//! What can be wrong with the database, and what to do about it.

use crate::disk;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{path} is damaged: {what}")]
    Damaged { path: PathBuf, what: String },
    #[error("{path} is a database, but not one of Danlu's")]
    NotOurs { path: PathBuf },
    #[error(
        "{path} was written by a newer release (format {version}; this one knows up to {known})"
    )]
    Newer { path: PathBuf, version: i64, known: usize },
    #[error(
        "{path} is older than it was: it has {found} events, and there were {known}; a file beside it \
         (danlu.db-wal) was lost, or an older copy was put in its place"
    )]
    Behind { path: PathBuf, found: i64, known: i64 },
    #[error("{path} is in use by another process")]
    InUse { path: PathBuf },
    #[error("the disk of {path} is full")]
    Full { path: PathBuf },
    #[error("{path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("{path}: {source}")]
    Other { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    pub(super) fn from_sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        // A file that cannot be made longer while it is mapped is "disk I/O error" to SQLite.
        let no_room = || path.parent().is_some_and(disk::is_exhausted);
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if no_room() => {
                StoreError::Full { path }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path, what: error.to_string() }
            }
            _ => StoreError::Other { path, source: error },
        }
    }

    pub(super) fn from_file(path: &Path, error: io::Error) -> StoreError {
        let path = path.to_owned();
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            _ => StoreError::File { path, error },
        }
    }

    pub(super) fn damaged(path: &Path, what: String) -> StoreError {
        StoreError::Damaged { path: path.to_owned(), what }
    }

    pub fn is_full(&self) -> bool {
        matches!(self, StoreError::Full { .. })
    }

    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::Damaged { .. } => {
                "nothing was changed; restore a backup with `danlu restore FILE`, or see what is wrong with \
                 `danlu db check`"
            }
            StoreError::NotOurs { .. } => "give another data directory with --data",
            StoreError::Newer { .. } => {
                "run the newer release, or give another data directory with --data"
            }
            StoreError::Behind { .. } => {
                "nothing was changed; put danlu.db and danlu.db-wal back, restore a backup with \
                 `danlu restore FILE`, or go on with what is there: danlu up --accept-loss"
            }
            StoreError::InUse { .. } => "stop the other server first: danlu down",
            StoreError::Full { .. } => "make room on that disk, then try again",
            StoreError::File { .. } | StoreError::Other { .. } => {
                "see that the file and its directory belong to this user and can be written"
            }
        }
    }
}
