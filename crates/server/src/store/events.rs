//! The events: read from a number on, and the oldest taken away.

use super::{Store, StoreError};
use danlu_core::{Event, Span, Time};
use rusqlite::{OptionalExtension as _, params};

/// So many events are kept in any case …
const KEPT: i64 = 200_000;
/// … and all that are not older than this.
const KEPT_FOR: Span = Span::from_secs(30 * 86_400);
/// Looked at, and taken away, at once.
const AT_ONCE: i64 = 1_000;

/// An event as it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub number: i64,
    pub at: Time,
    pub event: Event,
}

impl Store {
    /// At most `limit` events after this number, oldest first.
    pub fn events_after(&self, number: i64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT number, at, json FROM events WHERE number > ?1 ORDER BY number LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut found = statement.query(params![number, limit]).map_err(failed)?;
        let mut events = Vec::new();
        while let Some(row) = found.next().map_err(failed)? {
            let json: String = row.get(2).map_err(failed)?;
            let event = serde_json::from_str(&json).map_err(|error| {
                StoreError::damaged(&self.path, format!("an event cannot be read: {error}"))
            })?;
            let (number, at) = (row.get(0).map_err(failed)?, Time(row.get(1).map_err(failed)?));
            events.push(StoredEvent { number, at, event });
        }
        Ok(events)
    }

    /// A slice of the oldest. Whether there is more to do. Only the first few are ever looked at: while those are too
    /// young, so are all others, but for a moment at which the clock was wrong.
    pub(super) fn drop_events(&self, now: Time) -> rusqlite::Result<bool> {
        if now < self.events_due.get() {
            return Ok(false);
        }
        let (newest, before) =
            (self.newest_event - KEPT, now.0.saturating_sub_unsigned(KEPT_FOR.0));
        let first = "SELECT number, at FROM events WHERE number <= ?1 ORDER BY number LIMIT ?2";
        let sql = format!(
            "DELETE FROM events WHERE number IN (SELECT number FROM ({first}) WHERE at < ?3)"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        if statement.execute(params![newest, AT_ONCE, before])? > 0 {
            return Ok(true);
        }
        let sql = format!("SELECT at FROM ({first}) ORDER BY at LIMIT 1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let oldest = statement.query_row(params![newest, AT_ONCE], |row| row.get(0)).optional()?;
        if let Some(at) = oldest {
            let due: i64 = i64::saturating_add_unsigned(at, KEPT_FOR.0);
            self.events_due.set(Time(due.saturating_add(1)));
        }
        Ok(false)
    }
}
