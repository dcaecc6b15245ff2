//! Errors of the database, with hints.

use crate::store::disk;
use danlu_messages::errors;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("{}", errors::path_is_damaged_what(&path.display(), what))]
    Damaged { path: PathBuf, what: String },
    #[error("{}", errors::path_is_a_database_but_not_one_of_danlus(&path.display()))]
    NotOurs { path: PathBuf },
    #[error("{}", errors::path_was_written_by_a_newer_release_format(&path.display(), version, known))]
    Newer { path: PathBuf, version: i64, known: usize },
    #[error("{}", errors::database_behind(&path.display(), found, known))]
    Behind { path: PathBuf, found: i64, known: i64 },
    #[error("{}", errors::path_is_in_use_by_another_process(&path.display()))]
    InUse { path: PathBuf },
    #[error("{}", errors::the_disk_of_path_is_full(&path.display()))]
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
            StoreError::Damaged { .. } => errors::nothing_was_changed_restore_a_backup_with(),
            StoreError::NotOurs { .. } => errors::give_another_data_directory_with_data(),
            StoreError::Newer { .. } => errors::run_the_newer_release_or_give_another_data(),
            StoreError::Behind { .. } => errors::nothing_was_changed_put_danlu_db_and_danlu_db(),
            StoreError::InUse { .. } => errors::stop_the_other_server_first_danlu_down(),
            StoreError::Full { .. } => errors::make_room_on_that_disk_then_try_again(),
            StoreError::File { .. } | StoreError::Other { .. } => {
                errors::see_that_the_file_and_its_directory_belong_to()
            }
        }
    }
}
