//! `usage.db`: blocks of samples, the newest samples as a journal, and a summary of every run. Written by one thread.

mod blocks;
mod upkeep;

use super::codec::Table;
use super::subject::Subject;
use super::summary::RunSummary;
use crate::store::set_aside;
use danlu_core::RunId;
use danlu_node::private;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, params};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tracing::warn;

const APPLICATION: i64 = 0x6461_6e75;
const VERSION: i64 = 1;
const SCHEMA: &str = "
    -- A number is never given out again: the journal may still name it.
    CREATE TABLE subject (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, run TEXT) STRICT;
    CREATE INDEX subject_of_run ON subject (run) WHERE run IS NOT NULL;
    -- `first` of a rolled block is the beginning of its window; times are in milliseconds.
    CREATE TABLE block (
        subject INTEGER NOT NULL, tier INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
        data BLOB NOT NULL) STRICT;
    CREATE UNIQUE INDEX block_place ON block (subject, tier, first);
    CREATE INDEX block_age ON block (tier, last);
    -- Samples that are in no block yet.
    CREATE TABLE journal (id INTEGER PRIMARY KEY, last INTEGER NOT NULL, data BLOB NOT NULL) STRICT;
    CREATE TABLE run (run TEXT PRIMARY KEY, summary TEXT NOT NULL) STRICT;
";

/// An older process may still have the file open for a moment.
const BUSY: Duration = Duration::from_secs(5);
/// Blocks are read and written once: to keep pages of them would take memory for nothing.
const SMALL: &str = "PRAGMA cache_size = -256; PRAGMA mmap_size = 0;";

pub(super) type FileResult<T> = rusqlite::Result<T>;

#[derive(Debug)]
pub(super) struct UsageFile {
    connection: Connection,
}

/// A number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SubjectId(i64);

impl SubjectId {
    pub(super) fn to_bytes(self) -> [u8; 8] {
        self.0.to_le_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; 8]) -> SubjectId {
        SubjectId(i64::from_le_bytes(bytes))
    }
}

/// Samples of one subject, as the journal has them.
#[derive(Debug)]
pub(super) struct Journalled {
    pub(super) subject: SubjectId,
    pub(super) samples: Table,
}

impl UsageFile {
    /// A file that cannot be used is set aside, and a new one begins: samples must never keep the server from starting.
    /// With the name that the old one has got.
    pub(super) fn open(path: &Path) -> FileResult<(UsageFile, Option<PathBuf>)> {
        match UsageFile::try_open(path) {
            Ok(file) => Ok((file, None)),
            Err(cause) => {
                warn!(%cause, path = %path.display(), "the history of use cannot be read");
                let aside = set_aside(path);
                Ok((UsageFile::try_open(path)?, aside))
            }
        }
    }

    fn try_open(path: &Path) -> FileResult<UsageFile> {
        // So that it is private from its first moment on.
        drop(private::append(path).map_err(unusable)?);
        let connection = Connection::open_with_flags(path, flags(true))?;
        connection.busy_timeout(BUSY)?;
        connection.execute_batch(SMALL)?;
        let number =
            |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let (application, version) = (number("application_id")?, number("user_version")?);
        if (application, version) == (0, 0) {
            connection.execute_batch("PRAGMA auto_vacuum = INCREMENTAL;")?;
        } else if application != APPLICATION || version > VERSION {
            return Err(unusable(format!("it is of kind {application:x} and version {version}")));
        }
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 8388608;",
        )?;
        if version == 0 {
            connection.execute_batch(&format!(
                "BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; COMMIT;"
            ))?;
        }
        connection
            .query_row("SELECT count(*) FROM (SELECT 1 FROM block LIMIT 1)", [], |_| Ok(()))?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(UsageFile { connection })
    }

    /// For questions, while another connection writes.
    pub(super) fn open_to_read(path: &Path) -> FileResult<UsageFile> {
        let connection = Connection::open_with_flags(path, flags(false))?;
        connection.busy_timeout(BUSY)?;
        connection.execute_batch(SMALL)?;
        connection.set_prepared_statement_cache_capacity(16);
        Ok(UsageFile { connection })
    }

    /// All or nothing.
    pub(super) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&UsageFile) -> FileResult<T>,
    ) -> FileResult<T> {
        self.connection.execute_batch("BEGIN IMMEDIATE")?;
        let done =
            work(self).and_then(|done| self.connection.execute_batch("COMMIT").map(|()| done));
        if done.is_err() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    pub(super) fn subject(&self, subject: &Subject) -> FileResult<SubjectId> {
        if let Some(id) = self.known(subject)? {
            return Ok(id);
        }
        let run = subject.run().map(|run| run.to_string());
        self.connection
            .prepare_cached("INSERT INTO subject (name, run) VALUES (?1, ?2)")?
            .execute(params![name(subject), run])?;
        Ok(SubjectId(self.connection.last_insert_rowid()))
    }

    /// `None` of something that has no history.
    pub(super) fn known(&self, subject: &Subject) -> FileResult<Option<SubjectId>> {
        self.connection
            .prepare_cached("SELECT id FROM subject WHERE name = ?1")?
            .query_row([name(subject)], |row| Ok(SubjectId(row.get(0)?)))
            .optional()
    }

    pub(super) fn subject_of(&self, id: SubjectId) -> FileResult<Option<Subject>> {
        let name: Option<String> = self
            .connection
            .prepare_cached("SELECT name FROM subject WHERE id = ?1")?
            .query_row([id.0], |row| row.get(0))
            .optional()?;
        Ok(name.and_then(|name| serde_json::from_str(&name).ok()))
    }

    pub(super) fn subjects_of_run(&self, run: RunId) -> FileResult<Vec<Subject>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT name FROM subject WHERE run = ?1 ORDER BY id")?;
        let names = statement.query_map([run.to_string()], |row| row.get::<_, String>(0))?;
        let names: Vec<String> = names.collect::<FileResult<_>>()?;
        Ok(names.iter().filter_map(|name| serde_json::from_str(name).ok()).collect())
    }

    pub(super) fn add_to_journal(&self, last: i64, data: &[u8]) -> FileResult<()> {
        self.connection
            .prepare_cached("INSERT INTO journal (last, data) VALUES (?1, ?2)")?
            .execute(params![last, data])?;
        Ok(())
    }

    /// All that is before this is in blocks.
    pub(super) fn drop_journal(&self, before: i64) -> FileResult<()> {
        self.connection.prepare_cached("DELETE FROM journal WHERE last < ?1")?.execute([before])?;
        Ok(())
    }

    /// In the order in which they were written.
    pub(super) fn journal(&self) -> FileResult<Vec<Vec<u8>>> {
        let mut statement = self.connection.prepare("SELECT data FROM journal ORDER BY id")?;
        let entries = statement.query_map([], |row| row.get(0))?;
        entries.collect()
    }

    pub(super) fn put_summary(&self, run: RunId, summary: &RunSummary) -> FileResult<()> {
        let json = serde_json::to_string(summary).unwrap_or_default();
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO run (run, summary) VALUES (?1, ?2)")?
            .execute(params![run.to_string(), json])?;
        Ok(())
    }

    pub(super) fn summary(&self, run: RunId) -> FileResult<Option<RunSummary>> {
        let json: Option<String> = self
            .connection
            .prepare_cached("SELECT summary FROM run WHERE run = ?1")?
            .query_row([run.to_string()], |row| row.get(0))
            .optional()?;
        Ok(json.and_then(|json| serde_json::from_str(&json).ok()))
    }
}

fn name(subject: &Subject) -> String {
    serde_json::to_string(subject).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::usage::rollup::Tier;
    use danlu_core::NodeId;
    use std::fs;

    fn samples(first_minute: i64, minutes: i64) -> Table {
        let mut table = Table::new(1);
        for place in 0..minutes * 30 {
            table.push(first_minute * 600 + place * 20, [place % 30]);
        }
        table
    }

    #[test]
    fn a_file_that_is_none_is_set_aside() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("usage.db");
        fs::write(&path, "this is not a database, however long one looks at it".repeat(99))
            .unwrap();
        let (file, aside) = UsageFile::open(&path).unwrap();
        assert_eq!(aside, Some(directory.path().join("usage.db.unreadable")));
        assert!(file.size().unwrap() > 0);
        drop(file);
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", VERSION + 1).unwrap();
        drop(connection);
        assert!(UsageFile::open(&path).unwrap().1.is_some(), "it is of a newer release");
        assert!(UsageFile::open(&path).unwrap().1.is_none());
    }

    #[test]
    fn what_is_pruned_is_still_known_less_finely() {
        let directory = tempfile::tempdir().unwrap();
        let (mut file, _) = UsageFile::open(&directory.path().join("usage.db")).unwrap();
        let subject = Subject::MachineMetric { node: NodeId(1), name: "flow".into() };
        let id = file.subject(&subject).unwrap();
        let day = 20_000 * 1440;
        file.transaction(|file| {
            (0..4).try_for_each(|half| file.close(id, &samples(day + half * 30, 30)))
        })
        .unwrap();
        let (from, to) = (day * 60_000, (day + 120) * 60_000);
        assert_eq!(file.range(id, Tier::Raw, from, to).unwrap().len(), 4 * 900);
        let cutoff = (day + 60) * 60_000;
        assert_eq!(file.prune(Tier::Raw, cutoff).unwrap(), 2);
        let rows = file.range(id, Tier::Raw, from, to).unwrap();
        assert_eq!(rows.len(), 60 + 2 * 900, "an hour of minutes, and an hour of samples");
        let hours = file.range(id, Tier::Hours, from, to).unwrap();
        assert_eq!(hours.len(), 2);
        let means: Vec<i64> =
            hours.values().map(|row| row.values[0].map_or(0, |value| value.mean)).collect();
        assert_eq!(means, [15, 15]);
    }
}
