//! Gives back what is not needed any more, a little at a time while nothing else happens: old events, unused
//! environments, free pages of the file.

use super::{Store, StoreError};
use danlu_core::Time;
use rusqlite::Connection;

/// Pages that stay free for what comes: a file that grows and shrinks all the time helps nobody.
const SPARE_PAGES: i64 = 1_024;
/// Given back at once.
const PAGES_AT_ONCE: i64 = 256;
/// A database up to this size is written anew at its start if that is needed to make it shrinkable.
const SMALL_PAGES: i64 = 2_048;
/// `auto_vacuum = INCREMENTAL`.
const INCREMENTAL: i64 = 2;

/// A new database, and an old one while it is small.
pub(super) fn make_shrinkable(connection: &Connection) -> rusqlite::Result<()> {
    if number(connection, "auto_vacuum")? == INCREMENTAL {
        return Ok(());
    }
    let pages = number(connection, "page_count")?;
    connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL")?;
    if (1..SMALL_PAGES).contains(&pages) {
        connection.execute_batch("VACUUM")?;
    }
    Ok(())
}

fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

impl Store {
    /// A slice of it. Whether there is more to do.
    pub fn tidy(&self, now: Time) -> Result<bool, StoreError> {
        if self.frozen.get() {
            return Ok(false);
        }
        let more = |more: bool, next: &dyn Fn() -> rusqlite::Result<bool>| Ok(more || next()?);
        let done = self
            .drop_events(now)
            .and_then(|is_more| more(is_more, &|| self.drop_environments()))
            .and_then(|is_more| more(is_more, &|| self.give_pages_back()));
        done.map_err(|error| StoreError::from_sqlite(&self.path, error))
    }

    fn give_pages_back(&self) -> rusqlite::Result<bool> {
        let free = number(&self.connection, "freelist_count")?;
        if free <= SPARE_PAGES || number(&self.connection, "auto_vacuum")? != INCREMENTAL {
            return Ok(false);
        }
        let sql = format!("PRAGMA incremental_vacuum({PAGES_AT_ONCE})");
        let mut statement = self.connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        // A page each.
        while rows.next()?.is_some() {}
        Ok(true)
    }
}
