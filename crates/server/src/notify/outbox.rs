//! The file of messages, `notify.db`: what waits, what was sent, and up to which event all is expanded.
//!
//! Invariant: messages and the cursor change in one transaction, so that an event is expanded exactly once.

mod rows;

use super::digest::{Bundle, Collected};
use super::lanes::Waiting;
use super::letter::Letter;
use danlu_core::{Epoch, Time, UserId};
use danlu_node::private;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, params};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use thiserror::Error;

#[derive(Debug)]
pub(crate) struct Outbox {
    connection: Connection,
}

#[derive(Debug, Error)]
pub(crate) enum OutboxError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    File(#[from] io::Error),
    #[error(transparent)]
    Content(#[from] serde_json::Error),
    #[error("it was written by a newer release")]
    Newer,
}

impl OutboxError {
    /// It will not go away by itself.
    pub(crate) fn is_of_the_file(&self) -> bool {
        match self {
            OutboxError::Database(error) => matches!(
                error.sqlite_error_code(),
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
            ),
            OutboxError::File(_) => false,
            OutboxError::Content(_) | OutboxError::Newer => true,
        }
    }
}

type Done<T> = Result<T, OutboxError>;

/// Where a reader of events stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) epoch: Epoch,
    pub(crate) event: i64,
}

/// A message as it is put into the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewPost {
    /// Receivers tell by it that they have it already.
    pub(crate) id: String,
    pub(crate) target: String,
    pub(crate) user: Option<UserId>,
    pub(crate) letter: Letter,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Post {
    pub(crate) number: i64,
    pub(crate) id: String,
    pub(crate) target: String,
    pub(crate) user: Option<UserId>,
    pub(crate) letter: Letter,
    pub(crate) state: PostState,
    pub(crate) created_at: Time,
    pub(crate) due_at: Time,
    pub(crate) attempts: u32,
    /// What the other side has said last.
    pub(crate) answer: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostState {
    Waiting,
    Sent,
    Failed,
    Dropped,
}

impl PostState {
    const ALL: [PostState; 4] =
        [PostState::Waiting, PostState::Sent, PostState::Failed, PostState::Dropped];

    fn stored(number: i64) -> PostState {
        let found = usize::try_from(number).ok().and_then(|at| PostState::ALL.get(at));
        found.copied().unwrap_or(PostState::Dropped)
    }
}

/// The bundle of a target and what is in it.
pub(crate) type BundleKey = (String, Bundle);

/// What one transaction changes.
#[derive(Debug, Default)]
pub(crate) struct OutboxBatch {
    pub(crate) cursor: Option<Cursor>,
    pub(crate) new: Vec<NewPost>,
    /// With whom each is for; `None` where it has become a message.
    pub(crate) bundles: BTreeMap<BundleKey, Option<(Option<UserId>, Collected)>>,
    /// Causes that are told of once.
    pub(crate) told: Vec<String>,
    pub(crate) announced: Option<String>,
    /// It is told of now, and not again.
    pub(crate) month: Option<String>,
}

/// Those that have been sent or given up; the oldest go.
const KEPT: i64 = 2_000;
/// Causes that are remembered.
const TOLD: i64 = 20_000;
const FORMAT: i64 = 1;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS posts (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        target TEXT NOT NULL,
        user INTEGER,
        state INTEGER NOT NULL,
        created INTEGER NOT NULL,
        due INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        answer TEXT NOT NULL,
        json TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS posts_waiting ON posts (number) WHERE state = 0;
    CREATE INDEX IF NOT EXISTS posts_failed ON posts (number) WHERE state >= 2;
    CREATE TABLE IF NOT EXISTS bundles (
        target TEXT NOT NULL, bundle TEXT NOT NULL, user INTEGER, json TEXT NOT NULL,
        PRIMARY KEY (target, bundle)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS told (number INTEGER PRIMARY KEY, cause TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS watches (
        id INTEGER PRIMARY KEY AUTOINCREMENT, user INTEGER NOT NULL, json TEXT NOT NULL
    );
";

impl Outbox {
    /// For us alone: there are people's addresses and lines of their output in it.
    pub(crate) fn open(path: &Path) -> Done<Outbox> {
        private::append(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.execute_batch(
            "PRAGMA cache_size = -256; PRAGMA mmap_size = 0;
            PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 4194304;",
        )?;
        let format: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if format > FORMAT {
            return Err(OutboxError::Newer);
        }
        connection.execute_batch(SCHEMA)?;
        connection.pragma_update(None, "user_version", FORMAT)?;
        connection.set_prepared_statement_cache_capacity(32);
        Ok(Outbox { connection })
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    fn fact(&self, key: &str) -> Done<Option<String>> {
        let sql = "SELECT value FROM facts WHERE key = ?1";
        Ok(self.connection.query_row(sql, [key], |row| row.get(0)).optional()?)
    }

    pub(crate) fn cursor(&self) -> Done<Option<Cursor>> {
        let parse = |text: String| {
            let (epoch, event) = text.split_once(' ')?;
            Some(Cursor { epoch: Epoch(epoch.parse().ok()?), event: event.parse().ok()? })
        };
        Ok(self.fact("cursor")?.and_then(parse))
    }

    pub(crate) fn announced(&self) -> Done<Option<String>> {
        self.fact("announced")
    }

    /// The last month that was told of, such as `2026-10`.
    pub(crate) fn month(&self) -> Done<Option<String>> {
        self.fact("month")
    }

    /// Nothing is expanded until there is a channel again: what happens until then is not told later.
    pub(crate) fn forget_cursor(&self) -> Done<()> {
        self.connection.execute("DELETE FROM facts WHERE key = 'cursor'", [])?;
        Ok(())
    }

    pub(crate) fn is_told(&self, cause: &str) -> Done<bool> {
        let sql = "SELECT 1 FROM told WHERE cause = ?1";
        Ok(self.connection.query_row(sql, [cause], |_| Ok(())).optional()?.is_some())
    }

    /// All of it, or nothing. The numbers of the messages that were not there yet.
    pub(crate) fn commit(&mut self, batch: &OutboxBatch, now: Time) -> Done<Vec<(i64, Waiting)>> {
        let transaction = self.connection.transaction()?;
        if let Some(cursor) = batch.cursor {
            put_fact(&transaction, "cursor", &format!("{} {}", cursor.epoch, cursor.event))?;
        }
        if let Some(text) = &batch.announced {
            put_fact(&transaction, "announced", text)?;
        }
        if let Some(month) = &batch.month {
            put_fact(&transaction, "month", month)?;
        }
        let mut added = Vec::new();
        for post in &batch.new {
            let sql = "INSERT OR IGNORE INTO posts (id, target, user, state, created, due, attempts, answer, json)
                VALUES (?1, ?2, ?3, 0, ?4, ?4, 0, '', ?5)";
            let user = post.user.map(|user| user.0);
            let json = serde_json::to_string(&post.letter)?;
            let mut insert = transaction.prepare_cached(sql)?;
            if insert.execute(params![post.id, post.target, user, now.0, json])? > 0 {
                let subject = post.letter.subject();
                let target = post.target.clone();
                let waiting = Waiting { target, subject, due: now, attempts: 0, since: now };
                added.push((transaction.last_insert_rowid(), waiting));
            }
        }
        for ((target, bundle), content) in &batch.bundles {
            let bundle = serde_json::to_string(bundle)?;
            match content {
                Some((user, collected)) => {
                    let json = serde_json::to_string(collected)?;
                    let sql =
                        "REPLACE INTO bundles (target, bundle, user, json) VALUES (?1, ?2, ?3, ?4)";
                    let user = user.map(|user| user.0);
                    transaction
                        .prepare_cached(sql)?
                        .execute(params![target, bundle, user, json])?;
                }
                None => {
                    let sql = "DELETE FROM bundles WHERE target = ?1 AND bundle = ?2";
                    transaction.prepare_cached(sql)?.execute(params![target, bundle])?;
                }
            }
        }
        for cause in &batch.told {
            let sql = "INSERT OR IGNORE INTO told (cause) VALUES (?1)";
            transaction.prepare_cached(sql)?.execute([cause])?;
            let sql = "DELETE FROM told WHERE number <= (SELECT max(number) FROM told) - ?1";
            transaction.prepare_cached(sql)?.execute([TOLD])?;
        }
        transaction.commit()?;
        Ok(added)
    }

    pub(crate) fn retry(&self, number: i64, waiting: &Waiting, answer: &str) -> Done<()> {
        let sql = "UPDATE posts SET due = ?2, attempts = ?3, answer = ?4 WHERE number = ?1";
        let values = params![number, waiting.due.0, waiting.attempts, answer];
        self.connection.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    pub(crate) fn settle(
        &self,
        number: i64,
        state: PostState,
        answer: &str,
        now: Time,
    ) -> Done<()> {
        let sql = "UPDATE posts SET state = ?2, answer = ?3, attempts = attempts + 1, due = ?4 WHERE number = ?1";
        let values = params![number, state as i64, answer, now.0];
        self.connection.prepare_cached(sql)?.execute(values)?;
        let sql =
            "DELETE FROM posts WHERE state > 0 AND number <= (SELECT max(number) FROM posts) - ?1";
        self.connection.prepare_cached(sql)?.execute([KEPT])?;
        Ok(())
    }
}

fn put_fact(transaction: &Transaction<'_>, key: &str, value: &str) -> rusqlite::Result<()> {
    let sql = "REPLACE INTO facts (key, value) VALUES (?1, ?2)";
    transaction.prepare_cached(sql)?.execute([key, value])?;
    Ok(())
}
