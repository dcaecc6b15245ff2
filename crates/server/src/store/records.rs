//! Records that the core does not know: passwords, tokens and sessions (read by `auth`), and archived tasks.

use super::{Store, StoreError};
use danlu_core::TaskId;
use rusqlite::{OptionalExtension as _, Transaction, params};

/// One of them is new, or different, or gone.
#[derive(Debug, Clone)]
pub enum RecordChange {
    Put { kind: &'static str, id: String, json: String },
    Delete { kind: &'static str, id: String },
}

pub(super) fn write(to: &Transaction<'_>, changes: &[RecordChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            RecordChange::Put { kind, id, json } => {
                let sql = "INSERT OR REPLACE INTO records (kind, id, json) VALUES (?1, ?2, ?3)";
                to.prepare_cached(sql)?.execute(params![kind, id, json])?;
            }
            RecordChange::Delete { kind, id } => {
                let sql = "DELETE FROM records WHERE kind = ?1 AND id = ?2";
                to.prepare_cached(sql)?.execute(params![kind, id])?;
            }
        }
    }
    Ok(())
}

impl Store {
    /// All of one kind, as JSON.
    pub fn records(&self, kind: &str) -> Result<Vec<String>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT json FROM records WHERE kind = ?1";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let found = statement.query_map([kind], |row| row.get(0)).map_err(failed)?;
        found.collect::<Result<_, _>>().map_err(failed)
    }
}

/// What the first release left here of a task that it moved to the archive: whether it succeeded.
const ARCHIVED: &str = "archived";

impl Store {
    /// `None` for a task that is not in the archive.
    pub fn archived(&self, task: TaskId) -> Result<Option<bool>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT json FROM records WHERE kind = ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let found = statement.query_row((ARCHIVED, task.to_string()), |row| row.get(0)).optional();
        Ok(found.map_err(failed)?.map(|json: String| json == "true"))
    }
}
