//! The events: read from a number on, and the oldest taken away.

use super::{Store, StoreError};
use danlu_core::{Event, Span, Time};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

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

/// Reads events through a connection of its own, without the engine.
#[derive(Debug)]
pub struct EventReader {
    path: PathBuf,
    connection: Option<Connection>,
    /// Closed after the connection: to close any descriptor of the file gives SQLite's locks away.
    _file: Arc<File>,
}

impl EventReader {
    fn connection(&mut self) -> Result<&Connection, StoreError> {
        if self.connection.is_none() {
            let failed = |error| StoreError::from_sqlite(&self.path, error);
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let opened = Connection::open_with_flags(&self.path, flags).map_err(failed)?;
            opened.busy_timeout(Duration::from_secs(1)).map_err(failed)?;
            // Each page is read once.
            opened.pragma_update(None, "cache_size", -256).map_err(failed)?;
            self.connection = Some(opened);
        }
        let unopened = || StoreError::damaged(&self.path, "it cannot be opened".to_owned());
        self.connection.as_ref().ok_or_else(unopened)
    }

    /// At most `limit` events after this number, oldest first.
    pub fn after(&mut self, number: i64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        let path = self.path.clone();
        read(self.connection()?, &path, number, limit)
    }

    /// Those of them, up to the number `until`, that tell of the end of a run or change what became of a task.
    pub(crate) fn ends(
        &mut self,
        number: i64,
        until: i64,
        limit: u32,
    ) -> Result<Vec<StoredEvent>, StoreError> {
        let path = self.path.clone();
        // Most events are something else: these are told by how they begin, and only they are parsed.
        let begins = |kind: &str| format!("json >= '{{\"{kind}\"' AND json < '{{\"{kind}#'");
        let kinds = ["run_ended", "task_finished", "task_retried"].map(begins).join(" OR ");
        let sql = format!(
            "SELECT number, at, json FROM events WHERE number > ?1 AND number <= ?2 AND ({kinds})
                ORDER BY number LIMIT ?3"
        );
        collect(self.connection()?, &path, &sql, params![number, until, limit])
    }

    /// The number of the oldest event that is kept; 0 when there is none.
    pub(crate) fn oldest(&mut self) -> Result<i64, StoreError> {
        let path = self.path.clone();
        let sql = "SELECT coalesce(min(number), 0) FROM events";
        let found = self.connection()?.query_row(sql, [], |row| row.get(0));
        found.map_err(|error| StoreError::from_sqlite(&path, error))
    }

    /// The number of the newest event; 0 when there is none.
    pub fn newest(&mut self) -> Result<i64, StoreError> {
        let path = self.path.clone();
        let sql = "SELECT coalesce(max(number), 0) FROM events";
        let found = self.connection()?.query_row(sql, [], |row| row.get(0));
        found.map_err(|error| StoreError::from_sqlite(&path, error))
    }
}

fn read(
    connection: &Connection,
    path: &Path,
    number: i64,
    limit: u32,
) -> Result<Vec<StoredEvent>, StoreError> {
    let sql = "SELECT number, at, json FROM events WHERE number > ?1 ORDER BY number LIMIT ?2";
    collect(connection, path, sql, params![number, limit])
}

fn collect(
    connection: &Connection,
    path: &Path,
    sql: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<StoredEvent>, StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    let mut statement = connection.prepare_cached(sql).map_err(failed)?;
    let mut found = statement.query(values).map_err(failed)?;
    let mut events = Vec::new();
    while let Some(row) = found.next().map_err(failed)? {
        let json: String = row.get(2).map_err(failed)?;
        let event = serde_json::from_str(&json).map_err(|error| {
            StoreError::damaged(path, format!("an event cannot be read: {error}"))
        })?;
        let (number, at) = (row.get(0).map_err(failed)?, Time(row.get(1).map_err(failed)?));
        events.push(StoredEvent { number, at, event });
    }
    Ok(events)
}

impl Store {
    pub fn event_reader(&self) -> EventReader {
        EventReader { path: self.path.clone(), connection: None, _file: Arc::clone(&self.file) }
    }

    /// At most `limit` events after this number, oldest first.
    pub fn events_after(&self, number: i64, limit: u32) -> Result<Vec<StoredEvent>, StoreError> {
        read(&self.connection, &self.path, number, limit)
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
