//! Points that are not written yet, in a file of its own (`influxdb.db`): over restarts, and while a database is away.
//!
//! Invariant: bounded. The oldest points of a database go first.

use danlu_core::Time;
use danlu_node::private;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use thiserror::Error;
use tracing::warn;

#[derive(Debug)]
pub(crate) struct PointBuffer {
    connection: Mutex<Connection>,
    most_bytes: i64,
}

/// Points of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PointBatch {
    pub(crate) number: i64,
    pub(crate) points: u32,
    /// Lines, compressed.
    pub(crate) body: Vec<u8>,
}

#[derive(Debug, Error)]
pub(crate) enum BufferError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    File(#[from] std::io::Error),
}

/// Of each database: days, for most.
const MOST_BYTES: i64 = 64 << 20;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS batches (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        target TEXT NOT NULL,
        at INTEGER NOT NULL,
        points INTEGER NOT NULL,
        body BLOB NOT NULL
    );
    CREATE INDEX IF NOT EXISTS batches_of ON batches (target, number);
    CREATE TABLE IF NOT EXISTS sizes (
        target TEXT PRIMARY KEY, bytes INTEGER NOT NULL, points INTEGER NOT NULL
    ) WITHOUT ROWID;
";

impl PointBuffer {
    /// In memory where the file cannot be used: then a restart forgets what waits.
    pub(crate) fn open(path: &Path) -> PointBuffer {
        let connection = open_file(path).unwrap_or_else(|cause| {
            warn!(%cause, "influxdb.db cannot be used: points that wait are kept in memory");
            in_memory()
        });
        PointBuffer { connection: Mutex::new(connection), most_bytes: MOST_BYTES }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many older points went for it.
    pub(crate) fn add(&self, target: &str, at: Time, points: u32, body: &[u8]) -> u64 {
        let mut connection = self.lock();
        let most = self.most_bytes;
        match add(&mut connection, target, at, points, body, most) {
            Ok(dropped) => dropped,
            Err(cause) => {
                warn!(%cause, "influxdb.db cannot be written: points that wait are kept in memory");
                *connection = in_memory();
                add(&mut connection, target, at, points, body, most).unwrap_or(points.into())
            }
        }
    }

    pub(crate) fn oldest(&self, target: &str) -> Option<PointBatch> {
        let sql =
            "SELECT number, points, body FROM batches WHERE target = ?1 ORDER BY number LIMIT 1";
        let connection = self.lock();
        let found = connection.prepare_cached(sql).and_then(|mut statement| {
            let batch = |row: &rusqlite::Row<'_>| {
                Ok(PointBatch { number: row.get(0)?, points: row.get(1)?, body: row.get(2)? })
            };
            statement.query_row([target], batch).optional()
        });
        found.inspect_err(|cause| warn!(%cause, "influxdb.db")).ok().flatten()
    }

    /// It is written, or will never be.
    pub(crate) fn remove(&self, number: i64) {
        let mut connection = self.lock();
        if let Err(cause) = remove(&mut connection, number) {
            // It would be sent again and again.
            warn!(%cause, "influxdb.db cannot be written: points that wait are kept in memory");
            *connection = in_memory();
        }
    }

    /// Points that wait.
    pub(crate) fn waiting(&self, target: &str) -> u64 {
        let sql = "SELECT points FROM sizes WHERE target = ?1";
        let found: rusqlite::Result<i64> = self.lock().query_row(sql, [target], |row| row.get(0));
        found.map_or(0, |points| u64::try_from(points).unwrap_or(0))
    }

    /// Forgets those of databases that are not configured any more.
    pub(crate) fn keep_only(&self, targets: &BTreeSet<&str>) {
        let connection = self.lock();
        let known = connection.prepare("SELECT target FROM sizes").and_then(|mut statement| {
            statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()
        });
        for gone in known.unwrap_or_default().iter().filter(|it| !targets.contains(it.as_str())) {
            let forgotten = connection
                .execute("DELETE FROM batches WHERE target = ?1", [gone])
                .and_then(|_| connection.execute("DELETE FROM sizes WHERE target = ?1", [gone]));
            let _ = forgotten.inspect_err(|cause| warn!(%cause, "influxdb.db"));
        }
    }
}

fn open_file(path: &Path) -> Result<Connection, BufferError> {
    private::append(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // What the system has not written when its power fails is missing; a crash of the server loses nothing.
    connection.execute_batch(
        "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         PRAGMA journal_size_limit = 4194304; PRAGMA cache_size = -256;",
    )?;
    connection.execute_batch(SCHEMA)?;
    Ok(connection)
}

fn in_memory() -> Connection {
    let connection = Connection::open_in_memory().and_then(|connection| {
        connection.execute_batch(SCHEMA)?;
        Ok(connection)
    });
    connection.expect("a database in memory can be made")
}

fn add(
    connection: &mut Connection,
    target: &str,
    at: Time,
    points: u32,
    body: &[u8],
    most: i64,
) -> Result<u64, BufferError> {
    let transaction = connection.transaction()?;
    let size = i64::try_from(body.len()).unwrap_or(i64::MAX);
    transaction
        .prepare_cached("INSERT INTO batches (target, at, points, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![target, at.0, points, body])?;
    transaction
        .prepare_cached(
            "INSERT INTO sizes (target, bytes, points) VALUES (?1, ?2, ?3) ON CONFLICT (target)
             DO UPDATE SET bytes = bytes + ?2, points = points + ?3",
        )?
        .execute(params![target, size, points])?;
    let mut dropped = 0;
    loop {
        let sql = "SELECT bytes FROM sizes WHERE target = ?1";
        let bytes: i64 = transaction.prepare_cached(sql)?.query_row([target], |row| row.get(0))?;
        if bytes <= most {
            break;
        }
        let sql = "SELECT min(number) FROM batches WHERE target = ?1";
        let oldest: Option<i64> =
            transaction.prepare_cached(sql)?.query_row([target], |row| row.get(0))?;
        let Some(oldest) = oldest else { break };
        dropped += u64::from(delete(&transaction, oldest)?);
    }
    transaction.commit()?;
    Ok(dropped)
}

fn remove(connection: &mut Connection, number: i64) -> Result<(), BufferError> {
    let transaction = connection.transaction()?;
    delete(&transaction, number)?;
    transaction.commit()?;
    Ok(())
}

/// How many points it had.
fn delete(connection: &Connection, number: i64) -> rusqlite::Result<u32> {
    let sql = "DELETE FROM batches WHERE number = ?1 RETURNING target, points, length(body)";
    let gone = connection
        .prepare_cached(sql)?
        .query_row([number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let Some((target, points, bytes)): Option<(String, u32, i64)> = gone else { return Ok(0) };
    let sql = "UPDATE sizes SET bytes = bytes - ?2, points = points - ?3 WHERE target = ?1";
    connection.prepare_cached(sql)?.execute(params![target, bytes, points])?;
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_there_after_a_restart_in_its_order() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("influxdb.db");
        let buffer = PointBuffer::open(&path);
        for (target, number) in [("a", 1), ("b", 2), ("a", 3)] {
            assert_eq!(buffer.add(target, Time(number), 10, &[number as u8]), 0);
        }
        drop(buffer);
        let buffer = PointBuffer::open(&path);
        assert_eq!((buffer.waiting("a"), buffer.waiting("b")), (20, 10));
        let first = buffer.oldest("a").expect("it waits");
        assert_eq!((first.points, first.body.as_slice()), (10, &[1_u8][..]));
        buffer.remove(first.number);
        assert_eq!(buffer.oldest("a").map(|batch| batch.body), Some(vec![3]));
        buffer.keep_only(&BTreeSet::from(["a"]));
        assert_eq!((buffer.oldest("b"), buffer.waiting("b"), buffer.waiting("a")), (None, 0, 10));
    }

    #[test]
    fn the_oldest_go_when_there_are_too_many() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut buffer = PointBuffer::open(&directory.path().join("influxdb.db"));
        buffer.most_bytes = 250;
        buffer.add("other", Time(0), 1, &[9; 200]);
        let dropped: u64 = (0..5).map(|at| buffer.add("a", Time(at), 7, &[at as u8; 100])).sum();
        assert_eq!((dropped, buffer.waiting("a")), (21, 14));
        assert_eq!(buffer.oldest("a").map(|batch| batch.body[0]), Some(3));
        assert_eq!(buffer.waiting("other"), 1, "each has room of its own");
    }

    #[test]
    fn without_a_file_it_is_kept_in_memory() {
        let buffer = PointBuffer::open(Path::new("/proc/no/influxdb.db"));
        buffer.add("a", Time(0), 1, b"x");
        assert_eq!(buffer.waiting("a"), 1);
    }
}
