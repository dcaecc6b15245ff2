//! Errors of the database, with hints.

use crate::store::disk;
use danlu_messages::errors;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{}", errors::database_damaged(&path.display(), what))]
    Damaged { path: PathBuf, what: String },
    #[error("{}", errors::not_our_database(&path.display()))]
    NotOurs { path: PathBuf },
    #[error("{}", errors::database_of_newer_release(&path.display(), version, known))]
    Newer { path: PathBuf, version: i64, known: usize },
    #[error("{}", errors::database_behind(&path.display(), found, known))]
    Behind { path: PathBuf, found: i64, known: i64 },
    #[error("{}", errors::path_is_in_use_by_another_process(&path.display()))]
    InUse { path: PathBuf },
    #[error("{}", errors::disk_full(&path.display()))]
    Full { path: PathBuf },
    #[error("{}", errors::history_too_slow())]
    Slow { path: PathBuf },
    #[error("{}", errors::stopping())]
    Closed { path: PathBuf },
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
            Some(ErrorCode::OperationInterrupted) => StoreError::Slow { path },
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
            StoreError::Damaged { .. } => errors::restore_or_check(),
            StoreError::NotOurs { .. } => errors::choose_data_directory(),
            StoreError::Newer { .. } => errors::newer_release_or_directory(),
            StoreError::Behind { .. } => errors::database_behind_hint(),
            StoreError::InUse { .. } => errors::stop_other_server(),
            StoreError::Full { .. } => errors::free_space_then_retry(),
            StoreError::Slow { .. } => errors::narrow_the_search(),
            StoreError::Closed { .. } => errors::start_again(),
            StoreError::File { .. } | StoreError::Other { .. } => errors::check_owner_of_file(),
        }
    }
}
