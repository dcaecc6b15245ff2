//! The database schema and its migrations.

use super::StoreError;
use danlu_core::{RowKey, RunId};
use rusqlite::Connection;
use std::path::Path;

/// "Dnlu": tells our databases from others.
const APPLICATION_ID: i32 = 0x446e_6c75;

/// Step `n` brings a database of version `n` to version `n + 1`. Only ever add to the end.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE rows (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        json TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    ) WITHOUT ROWID;
    CREATE TABLE events (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        json TEXT NOT NULL
    );
    CREATE TABLE environments (
        hash TEXT PRIMARY KEY,
        variables BLOB NOT NULL
    ) WITHOUT ROWID;
", "
    -- What a task is to do has a row of its own, which all elements of an array share.
    INSERT INTO rows (kind, id, json)
        SELECT 'spec', id, json_object('spec',
            json_object('id', CAST(id AS INTEGER), 'spec', json_extract(json, '$.task.spec')))
        FROM rows WHERE kind = 'task';
    UPDATE rows SET json = json_set(
            json_remove(json, '$.task.spec'), '$.task.spec_id', CAST(id AS INTEGER))
        WHERE kind = 'task';
    UPDATE rows SET json = json_set(json, '$.ledger.next_spec', json_extract(json, '$.ledger.next_task'))
        WHERE kind = 'ledger';
    UPDATE events SET json = json_set(json, '$.task_submitted.spec', json_extract(json, '$.task_submitted.task'))
        WHERE json LIKE '{\"task_submitted\":%';
    UPDATE events SET json = json_set(json, '$.task_edited.spec', json_extract(json, '$.task_edited.task'),
            '$.task_edited.was', json_extract(json, '$.task_edited.task'))
        WHERE json LIKE '{\"task_edited\":%';
    UPDATE events SET json = json_set(json, '$.task_removed.spec', json_extract(json, '$.task_removed.task'))
        WHERE json LIKE '{\"task_removed\":%';
", "
    -- Numbers as keys: what is new goes to the end, and neighbours share a page.
    CREATE TABLE numbered (
        kind INTEGER NOT NULL,
        major INTEGER NOT NULL,
        minor INTEGER NOT NULL,
        json TEXT NOT NULL,
        PRIMARY KEY (kind, major, minor)
    ) WITHOUT ROWID;
    INSERT INTO numbered
        SELECT CASE kind WHEN 'ledger' THEN 0 WHEN 'user' THEN 1 WHEN 'node' THEN 2 WHEN 'spec' THEN 3
                WHEN 'task' THEN 4 ELSE 5 END,
            CASE kind WHEN 'run' THEN json_extract(json, '$.run.id.epoch') ELSE CAST(id AS INTEGER) END,
            CASE kind WHEN 'run' THEN json_extract(json, '$.run.id.number') ELSE 0 END,
            json
        FROM rows;
    DROP TABLE rows;
    ALTER TABLE numbered RENAME TO rows;
", "
    -- What the core knows nothing of: passwords, tokens, sessions, what was archived; and who did what.
    CREATE TABLE records (
        kind TEXT NOT NULL,
        id TEXT NOT NULL,
        json TEXT NOT NULL,
        PRIMARY KEY (kind, id)
    ) WITHOUT ROWID;
    CREATE TABLE audit (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at INTEGER NOT NULL,
        user TEXT NOT NULL,
        origin TEXT NOT NULL,
        act TEXT NOT NULL,
        target TEXT NOT NULL,
        detail TEXT NOT NULL
    );
", "
    -- A table for each kind, by a single number: what is new goes to the end of each, only the last page of a table
    -- changes, and no row is in the inner pages of a tree.
    CREATE TABLE ledger (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE TABLE users (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE TABLE nodes (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE TABLE specs (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE TABLE tasks (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    CREATE TABLE runs (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
    INSERT INTO ledger SELECT major, json FROM rows WHERE kind = 0;
    INSERT INTO users SELECT major, json FROM rows WHERE kind = 1;
    INSERT INTO nodes SELECT major, json FROM rows WHERE kind = 2;
    INSERT INTO specs SELECT major, json FROM rows WHERE kind = 3;
    INSERT INTO tasks SELECT major, json FROM rows WHERE kind = 4;
    INSERT INTO runs SELECT (major << 40) | minor, json FROM rows WHERE kind = 5;
    DROP TABLE rows;
    -- Events are never taken away, so the next number needs no table that remembers it.
    CREATE TABLE happened (number INTEGER PRIMARY KEY, at INTEGER NOT NULL, json TEXT NOT NULL);
    INSERT INTO happened SELECT number, at, json FROM events;
    DROP TABLE events;
    ALTER TABLE happened RENAME TO events;
", "
    -- Logs of removed tasks that machines have not deleted yet.
    CREATE TABLE log_removals (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
", "
    -- What is remembered of users' ended tasks that have left the rows.
    CREATE TABLE past_work (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
", "
    -- Ended tasks that have left the rows. This table has what lists go by and nothing else, so that a walk over all
    -- of it is fast; the rest is in `history_rows`, under the same id.
    CREATE TABLE history (
        id INTEGER PRIMARY KEY,
        user INTEGER NOT NULL,
        state INTEGER NOT NULL,
        submitted INTEGER NOT NULL,
        started INTEGER,
        ended INTEGER NOT NULL,
        ran INTEGER NOT NULL,
        spec INTEGER NOT NULL,
        project TEXT,
        array INTEGER,
        element INTEGER,
        key TEXT,
        log_bytes INTEGER NOT NULL,
        archived INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX history_user ON history (user);
    CREATE INDEX history_user_state ON history (user, state);
    CREATE INDEX history_user_ended ON history (user, ended);
    CREATE INDEX history_state ON history (state);
    CREATE INDEX history_ended ON history (ended);
    CREATE INDEX history_ran ON history (ran);
    CREATE INDEX history_spec ON history (spec);
    CREATE INDEX history_array ON history (array) WHERE array IS NOT NULL;
    CREATE INDEX history_project ON history (project) WHERE project IS NOT NULL;
    CREATE INDEX history_key ON history (user, key) WHERE key IS NOT NULL;
    CREATE INDEX history_not_archived ON history (user) WHERE archived = 0;
    CREATE TABLE history_rows (id INTEGER PRIMARY KEY, spec INTEGER NOT NULL, task TEXT NOT NULL, runs TEXT NOT NULL);
    CREATE TABLE history_labels (
        key TEXT NOT NULL,
        id INTEGER NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (key, id)
    ) WITHOUT ROWID;
    CREATE INDEX history_label_values ON history_labels (key, value, id);
    CREATE TABLE history_nodes (node INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (node, id)) WITHOUT ROWID;
    -- What they were to do, once for all elements of an array. `block`: where its text is, for searches.
    CREATE TABLE history_specs (id INTEGER PRIMARY KEY, environment TEXT, block INTEGER, json TEXT NOT NULL);
    CREATE INDEX history_spec_environments ON history_specs (environment) WHERE environment IS NOT NULL;
    CREATE INDEX history_spec_blocks ON history_specs (block);
    CREATE TABLE history_texts (
        id INTEGER PRIMARY KEY,
        specs INTEGER NOT NULL,
        gone INTEGER NOT NULL,
        spans BLOB NOT NULL,
        text BLOB NOT NULL
    );
    -- Totals, so that nobody has to count.
    CREATE TABLE history_counts (
        user INTEGER NOT NULL,
        state INTEGER NOT NULL,
        tasks INTEGER NOT NULL,
        log_bytes INTEGER NOT NULL,
        PRIMARY KEY (user, state)
    ) WITHOUT ROWID;
", "
    -- What ended last, with one line for each array however large it is.
    CREATE INDEX history_user_folded ON history (user, ended) WHERE array IS NULL OR id = array;
    CREATE INDEX history_folded ON history (ended) WHERE array IS NULL OR id = array;
"];

const NEWEST: usize = MIGRATIONS.len();

/// An empty database, or one of ours that is sound and not newer than this program.
pub(super) fn check_is_ours(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    let number =
        |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let version = number("user_version").map_err(failed)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    let ours = number("application_id").map_err(failed)? == i64::from(APPLICATION_ID);
    if !ours && tables > 0 {
        return Err(StoreError::NotOurs { path: path.to_owned() });
    }
    if usize::try_from(version).is_ok_and(|version| version > NEWEST) {
        return Err(StoreError::Newer { path: path.to_owned(), version, known: NEWEST });
    }
    // What only grows with time is not read at every start: `danlu db check` does that.
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
        AND name NOT LIKE 'history%' AND name NOT IN ('events', 'audit')";
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let names = statement.query_map([], |row| row.get(0)).map_err(failed)?;
    let names: Vec<String> = names.collect::<Result<_, _>>().map_err(failed)?;
    for name in names {
        let sql = format!("PRAGMA quick_check('{name}')");
        let verdict: String = connection.query_row(&sql, [], |row| row.get(0)).map_err(failed)?;
        if verdict != "ok" {
            return Err(StoreError::damaged(path, verdict));
        }
    }
    Ok(())
}

pub(super) fn migrate(path: &Path, connection: &mut Connection) -> Result<(), StoreError> {
    let failed = |error| StoreError::from_sqlite(path, error);
    let version = connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .map_err(failed)?;
    let done = usize::try_from(version).unwrap_or(0);
    for (number, sql) in MIGRATIONS.iter().enumerate().skip(done) {
        let transaction = connection.transaction().map_err(failed)?;
        let stamp = format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};",
            number + 1
        );
        transaction.execute_batch(sql).map_err(failed)?;
        transaction.execute_batch(&stamp).map_err(failed)?;
        transaction.commit().map_err(failed)?;
    }
    Ok(())
}

/// The tables of rows.
pub(super) const TABLES: [&str; 8] =
    ["ledger", "users", "nodes", "specs", "tasks", "runs", "log_removals", "past_work"];

/// The table of a row, and its number there.
pub(super) fn filed(key: RowKey) -> (&'static str, i64) {
    // Ids are counted up from 1: none comes near the end of these.
    let number = |id: u64| i64::try_from(id).unwrap_or(i64::MAX);
    // A server would have to start a million million tasks without a restart.
    let of_run = |id: RunId| i64::from(id.epoch.0) << 40 | number(id.number);
    match key {
        RowKey::Ledger => ("ledger", 1),
        RowKey::User(id) => ("users", i64::from(id.0)),
        RowKey::Node(id) => ("nodes", i64::from(id.0)),
        RowKey::Spec(id) => ("specs", number(id.0)),
        RowKey::Task(id) => ("tasks", number(id.0)),
        RowKey::Run(id) => ("runs", of_run(id)),
        RowKey::LogRemoval(id) => ("log_removals", of_run(id)),
        RowKey::PastWork(id) => ("past_work", i64::from(id.0)),
    }
}
