//! The audit log: user, origin, action, target.

use super::{Store, StoreError};
use danlu_core::Time;
use danlu_messages::acts::Act;
use rusqlite::{Transaction, params};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deed {
    pub user: String,
    /// `socket`, or the address of the other machine.
    pub origin: String,
    pub act: Act,
    /// Such as `task 12` or `user ann`.
    pub target: String,
    pub detail: String,
}

/// A deed as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub number: i64,
    pub at: Time,
    pub user: String,
    pub origin: String,
    pub act: String,
    pub target: String,
    pub detail: String,
}

pub(super) fn write(to: &Transaction<'_>, deeds: &[(Time, Deed)]) -> rusqlite::Result<()> {
    if deeds.is_empty() {
        return Ok(());
    }
    let sql =
        "INSERT INTO audit (at, user, origin, act, target, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let mut put = to.prepare_cached(sql)?;
    for (at, Deed { user, origin, act, target, detail }) in deeds {
        put.execute(params![at.0, user, origin, act.as_str(), target, detail])?;
    }
    Ok(())
}

impl Store {
    /// At most `limit` before this number, newest first; `target` is one of them alone, such as `task 12`.
    pub fn audit(
        &self,
        before: i64,
        limit: u32,
        target: Option<&str>,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT number, at, user, origin, act, target, detail FROM audit
            WHERE number < ?1 AND (?3 IS NULL OR target = ?3) ORDER BY number DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let found = statement.query_map(params![before, limit, target], |row| {
            Ok(AuditEntry {
                number: row.get(0)?,
                at: Time(row.get(1)?),
                user: row.get(2)?,
                origin: row.get(3)?,
                act: row.get(4)?,
                target: row.get(5)?,
                detail: row.get(6)?,
            })
        });
        found.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)
    }
}
