//! Passwords, tokens and sessions as they are kept. What they mean is known to `auth` alone.

use super::{Store, StoreError};
use rusqlite::{Transaction, params};

/// One of them is new, or different, or gone.
#[derive(Debug, Clone)]
pub enum CredentialChange {
    Put { kind: &'static str, id: String, json: String },
    Delete { kind: &'static str, id: String },
}

pub(super) fn write(to: &Transaction<'_>, changes: &[CredentialChange]) -> rusqlite::Result<()> {
    for change in changes {
        match change {
            CredentialChange::Put { kind, id, json } => {
                let sql = "INSERT OR REPLACE INTO credentials (kind, id, json) VALUES (?1, ?2, ?3)";
                to.prepare_cached(sql)?.execute(params![kind, id, json])?;
            }
            CredentialChange::Delete { kind, id } => {
                let sql = "DELETE FROM credentials WHERE kind = ?1 AND id = ?2";
                to.prepare_cached(sql)?.execute(params![kind, id])?;
            }
        }
    }
    Ok(())
}

impl Store {
    /// All of one kind, as JSON.
    pub fn credentials(&self, kind: &str) -> Result<Vec<String>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT json FROM credentials WHERE kind = ?1";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let found = statement.query_map([kind], |row| row.get(0)).map_err(failed)?;
        found.collect::<Result<_, _>>().map_err(failed)
    }
}
