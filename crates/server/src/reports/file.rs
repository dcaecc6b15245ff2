//! `reports.db`: the pieces of all runs that have ended, also of tasks that were removed since. Written by one thread.
//!
//! Invariant: pieces and the cursor over the events change in one transaction, so that an event is booked exactly once.

use super::codes::{failure_code, failure_of, run_number, run_of};
use super::names::{NameId, Names};
use super::piece::{Measured, Piece, TaskCount};
use danlu_core::{Epoch, GpuId, UserId};
use danlu_node::private;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

pub(super) type BookResult<T> = rusqlite::Result<T>;

#[derive(Debug)]
pub(super) struct Book {
    connection: Connection,
}

/// Up to where all is booked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Booked {
    pub(super) epoch: Epoch,
    pub(super) event: i64,
}

const APPLICATION: i64 = 0x6461_6e72;
const VERSION: i64 = 1;
const BUSY: Duration = Duration::from_secs(5);
/// Rows that are taken away at once.
const SLICE: i64 = 2_000;

/// A report reads a stretch of time: the rows are in the order of their ends.
const SCHEMA: &str = "
    CREATE TABLE fact (key TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE gpu (id TEXT PRIMARY KEY, model TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE piece (
        ended INTEGER NOT NULL, run INTEGER NOT NULL, place INTEGER NOT NULL,
        begun INTEGER NOT NULL, user INTEGER NOT NULL, project INTEGER NOT NULL, node INTEGER NOT NULL,
        model INTEGER NOT NULL, gpus INTEGER NOT NULL, cpu INTEGER NOT NULL,
        task INTEGER, failure INTEGER, waited INTEGER,
        held INTEGER NOT NULL, idle INTEGER NOT NULL, used INTEGER NOT NULL, known INTEGER NOT NULL,
        energy INTEGER NOT NULL,
        PRIMARY KEY (ended, run, place)) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX piece_of_run ON piece (run, place);
";

impl Book {
    pub(super) fn open(path: &Path) -> BookResult<Book> {
        private::append(path).map_err(unusable)?;
        let connection = Connection::open_with_flags(path, flags(true))?;
        connection.busy_timeout(BUSY)?;
        let number =
            |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let (application, version) = (number("application_id")?, number("user_version")?);
        if (application, version) != (0, 0) && (application != APPLICATION || version > VERSION) {
            let what = format!("it is of kind {application:x} and version {version}");
            return Err(unusable(what));
        }
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 4194304;
             PRAGMA cache_size = -256;",
        )?;
        if version == 0 {
            connection.execute_batch(&format!(
                "BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
            ))?;
        }
        connection.set_prepared_statement_cache_capacity(16);
        Ok(Book { connection })
    }

    /// For questions, while another connection writes.
    pub(super) fn open_to_read(path: &Path) -> BookResult<Book> {
        let connection = Connection::open_with_flags(path, flags(false))?;
        connection.busy_timeout(BUSY)?;
        Ok(Book { connection })
    }

    /// All or nothing.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&Book) -> BookResult<T>,
    ) -> BookResult<T> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done =
            work(self).and_then(|done| self.connection.execute_batch("COMMIT").map(|()| done));
        if done.is_err() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn fact(&self, key: &str) -> BookResult<Option<i64>> {
        let mut statement =
            self.connection.prepare_cached("SELECT value FROM fact WHERE key = ?1")?;
        statement.query_row([key], |row| row.get(0)).optional()
    }

    fn put_fact(&self, key: &str, value: Option<i64>) -> BookResult<()> {
        let sql = match value {
            Some(_) => "REPLACE INTO fact (key, value) VALUES (?1, ?2)",
            None => "DELETE FROM fact WHERE key = ?1 AND ?2 IS NULL",
        };
        self.connection.prepare_cached(sql)?.execute(params![key, value]).map(drop)
    }

    pub(super) fn booked(&self) -> BookResult<Option<Booked>> {
        let (epoch, event) = (self.fact("epoch")?, self.fact("event")?);
        let epoch = epoch.and_then(|epoch| u32::try_from(epoch).ok());
        Ok(epoch.zip(event).map(|(epoch, event)| Booked { epoch: Epoch(epoch), event }))
    }

    pub(super) fn put_booked(&self, booked: Booked) -> BookResult<()> {
        self.put_fact("epoch", Some(i64::from(booked.epoch.0)))?;
        self.put_fact("event", Some(booked.event))
    }

    /// The last task of the history that was read, while that is not all; `None` where it is.
    pub(super) fn reading_history(&self) -> BookResult<Option<i64>> {
        self.fact("history")
    }

    pub(super) fn put_reading_history(&self, last: Option<i64>) -> BookResult<()> {
        self.put_fact("history", last)
    }

    pub(super) fn names(&self) -> BookResult<Names> {
        let mut statement = self.connection.prepare("SELECT id, name FROM name ORDER BY id")?;
        let mut rows = statement.query([])?;
        let mut names = Names::default();
        while let Some(row) = rows.next()? {
            let id = names.id(row.get_ref(1)?.as_str()?);
            if i64::from(id.0) != row.get::<_, i64>(0)? {
                return Err(unusable("the names are not in order"));
            }
        }
        Ok(names)
    }

    pub(super) fn put_name(&self, id: NameId, name: &str) -> BookResult<()> {
        let sql = "INSERT INTO name (id, name) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute(params![id.0, name]).map(drop)
    }

    pub(super) fn gpus(&self) -> BookResult<BTreeMap<GpuId, String>> {
        let mut statement = self.connection.prepare("SELECT id, model FROM gpu")?;
        let rows = statement.query_map([], |row| {
            Ok((GpuId::from(row.get_ref(0)?.as_str()?), row.get::<_, String>(1)?))
        })?;
        rows.collect()
    }

    pub(super) fn put_gpu(&self, gpu: &GpuId, model: &str) -> BookResult<()> {
        let sql = "REPLACE INTO gpu (id, model) VALUES (?1, ?2)";
        self.connection.prepare_cached(sql)?.execute(params![&*gpu.0, model]).map(drop)
    }

    /// In place of what was booked of it before.
    pub(super) fn put(&self, piece: &Piece) -> BookResult<()> {
        let Measured { held, idle, used, known, energy } = piece.measured;
        let sql = "REPLACE INTO piece (ended, run, place, begun, user, project, node, model, gpus, cpu, task, failure,
            waited, held, idle, used, known, energy)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
        self.connection.prepare_cached(sql)?.execute(params![
            piece.ended,
            run_number(piece.run),
            piece.place,
            piece.begun,
            piece.user.0,
            piece.project.0,
            piece.node.0,
            piece.model.0,
            piece.gpus,
            piece.cpu,
            piece.task.map(TaskCount::code),
            piece.failure.map(failure_code),
            piece.waited,
            held,
            idle,
            used,
            known,
            energy,
        ])?;
        Ok(())
    }

    /// Those that ended at `from` or later and began before `to`, until `take` says that it is enough.
    pub(super) fn between(
        &self,
        from: i64,
        to: i64,
        mut take: impl FnMut(&Piece) -> bool,
    ) -> BookResult<()> {
        let sql = "SELECT ended, run, place, begun, user, project, node, model, gpus, cpu, task, failure, waited,
            held, idle, used, known, energy FROM piece WHERE ended >= ?1 AND begun < ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([from, to])?;
        while let Some(row) = rows.next()? {
            let name = |column| Ok::<_, rusqlite::Error>(NameId(row.get(column)?));
            let piece = Piece {
                ended: row.get(0)?,
                run: run_of(row.get(1)?),
                place: row.get(2)?,
                begun: row.get(3)?,
                user: UserId(row.get(4)?),
                project: name(5)?,
                node: name(6)?,
                model: name(7)?,
                gpus: row.get(8)?,
                cpu: row.get(9)?,
                task: row.get::<_, Option<i64>>(10)?.and_then(TaskCount::of_code),
                failure: row.get::<_, Option<i64>>(11)?.and_then(failure_of),
                waited: row.get(12)?,
                measured: Measured {
                    held: row.get(13)?,
                    idle: row.get(14)?,
                    used: row.get(15)?,
                    known: row.get(16)?,
                    energy: row.get(17)?,
                },
            };
            if !take(&piece) {
                break;
            }
        }
        Ok(())
    }

    /// A slice of what ended before this; how many that were.
    pub(super) fn prune(&self, before: i64) -> BookResult<usize> {
        let sql = "DELETE FROM piece WHERE (ended, run, place) IN
            (SELECT ended, run, place FROM piece WHERE ended < ?1 ORDER BY ended LIMIT ?2)";
        self.connection.prepare_cached(sql)?.execute([before, SLICE])
    }

    /// The file alone is complete afterwards.
    pub(super) fn settle(&self) {
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }
}

fn flags(write: bool) -> OpenFlags {
    let access =
        if write { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    access | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn unusable(why: impl std::fmt::Display) -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
    rusqlite::Error::SqliteFailure(code, Some(why.to_string()))
}
