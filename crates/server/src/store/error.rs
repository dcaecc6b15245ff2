//! What can be wrong with the database, and what to do about it.

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
    #[error("{path} is in use by another process")]
    InUse { path: PathBuf },
    #[error("the disk with {path} is full")]
    Full { path: PathBuf },
    #[error("{path}: {source}")]
    Other { path: PathBuf, source: rusqlite::Error },
}

impl StoreError {
    pub(super) fn from_sqlite(path: &Path, error: rusqlite::Error) -> StoreError {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path, what: error.to_string() }
            }
            _ => StoreError::Other { path, source: error },
        }
    }

    pub(super) fn damaged(path: &Path, what: String) -> StoreError {
        StoreError::Damaged { path: path.to_owned(), what }
    }

    pub fn hint(&self) -> &'static str {
        match self {
            StoreError::Damaged { .. } => {
                "nothing was changed; restore a backup, or move the file away to begin anew"
            }
            StoreError::NotOurs { .. } => "give another data directory with --data",
            StoreError::Newer { .. } => {
                "run the newer release, or give another data directory with --data"
            }
            StoreError::InUse { .. } => "stop the other server first: danlu down",
            StoreError::Full { .. } => "make room on that disk",
            StoreError::Other { .. } => {
                "see that the file and its directory can be written by this user"
            }
        }
    }
}
