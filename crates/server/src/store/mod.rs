//! The durable store: SQLite, written by the engine thread only, one transaction per batch.

mod audit;
pub mod disk;
pub(crate) mod environment;
mod error;
mod events;
pub mod history;
mod log_room;
mod records;
pub mod restore_guard;
mod schema;
mod snapshot;
mod tidy;
mod unreadable;
mod unused_environments;

pub use audit::{AuditEntry, Deed};
pub use environment::Environment;
pub use error::StoreError;
pub use events::{EventReader, StoredEvent};
pub use records::RecordChange;
pub use snapshot::Contents;
pub(crate) use snapshot::Snapshot;
pub(crate) use unreadable::set_aside;

use self::history::HistoryWriter;
use self::unused_environments::{EnvironmentSweep, forget_spec};
use danlu_core::rows::Ledger;
use danlu_core::state::Retired;
use danlu_core::{Row, RowKey, SpecId, TaskId, Time};
use danlu_node::private;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    connection: Connection,
    newest_event: i64,
    /// No checkpoint is made while the file is copied.
    frozen: Cell<bool>,
    /// No event is old enough to be taken away before.
    events_due: Cell<Time>,
    sweep: RefCell<EnvironmentSweep>,
    /// Closed after the connection: to close any descriptor of the file gives SQLite's locks away.
    file: Arc<File>,
}

/// What one transaction commits.
pub type Batch = danlu_engine::Batch<Extras>;

/// What is stored with the rows of the core.
#[derive(Debug, Default)]
pub struct Extras {
    pub environments: Vec<Environment>,
    pub records: Vec<RecordChange>,
    pub deeds: Vec<(Time, Deed)>,
    /// Ended tasks from an archive: those whose ids are free become history.
    pub imported: Vec<Retired>,
    /// These are in the archive now, as they ended at this time.
    pub archived: Vec<(TaskId, Time)>,
}

impl danlu_engine::Extras for Extras {
    fn append(&mut self, mut other: Extras) {
        self.environments.append(&mut other.environments);
        self.records.append(&mut other.records);
        self.deeds.append(&mut other.deeds);
        self.imported.append(&mut other.imported);
        self.archived.append(&mut other.archived);
    }

    fn is_empty(&self) -> bool {
        let Extras { environments, records, deeds, imported, archived } = self;
        environments.is_empty()
            && records.is_empty()
            && deeds.is_empty()
            && imported.is_empty()
            && archived.is_empty()
    }
}

impl Store {
    /// Open the database, or make it. One that is damaged, not ours or of a newer release is refused and left
    /// as it is.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let failed = |error| StoreError::from_sqlite(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = Arc::new(keep_private(path)?);
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(std::time::Duration::ZERO).map_err(failed)?;
        schema::check_is_ours(path, &connection)?;
        tidy::make_shrinkable(&connection).map_err(failed)?;
        // Others read it while it is written: the lock on the file keeps other servers away.
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
                 PRAGMA journal_size_limit = 16777216; PRAGMA cache_size = -1024;",
            )
            .map_err(failed)?;
        schema::migrate(path, &mut connection)?;
        log_room::make(path);
        // Two for each table of rows, and the others.
        connection.set_prepared_statement_cache_capacity(64);
        let sql = "SELECT coalesce(max(number), 0) FROM events";
        let newest_event = connection.query_row(sql, [], |row| row.get(0)).map_err(failed)?;
        Ok(Store {
            path: path.to_owned(),
            connection,
            newest_event,
            frozen: Cell::new(false),
            events_due: Cell::new(Time(i64::MIN)),
            sweep: RefCell::new(EnvironmentSweep::new()),
            file,
        })
    }

    /// Every row, as it was committed last.
    pub fn rows(&self) -> Result<Vec<Row>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let mut rows = Vec::new();
        for table in schema::TABLES {
            let sql = format!("SELECT json, id FROM {table}");
            let mut statement = self.connection.prepare(&sql).map_err(failed)?;
            let mut found = statement.query([]).map_err(failed)?;
            while let Some(row) = found.next().map_err(failed)? {
                let json = row.get_ref(0).and_then(|json| Ok(json.as_str()?)).map_err(failed)?;
                let parsed = serde_json::from_str(json).map_err(|error| {
                    let id: i64 = row.get(1).unwrap_or_default();
                    self.damaged(format!("row {id} of {table} cannot be read: {error}"))
                })?;
                rows.push(parsed);
            }
        }
        Ok(rows)
    }

    /// All of the batch becomes durable, or nothing of it does.
    pub fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        let written = self.write(batch);
        self.newest_event = written.map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        Ok(())
    }

    /// The number of the newest event then.
    fn write(&mut self, batch: &Batch) -> rusqlite::Result<i64> {
        let mut newest_event = self.newest_event;
        let sweep = self.sweep.get_mut();
        let transaction = self.connection.transaction()?;
        let mut history = HistoryWriter::new(&transaction);
        let retired: BTreeMap<TaskId, &Retired> =
            batch.retired.iter().map(|retired| (retired.task.id, retired)).collect();
        let to_history: BTreeSet<SpecId> =
            batch.retired.iter().map(|retired| retired.task.spec_id).collect();
        let mut environments = BTreeSet::new();
        {
            let mut log =
                transaction.prepare_cached("INSERT INTO events (at, json) VALUES (?1, ?2)")?;
            let mut keep = transaction.prepare_cached(
                "INSERT OR IGNORE INTO environments (hash, variables) VALUES (?1, ?2)",
            )?;
            for (key, row) in &batch.rows {
                let (table, id) = schema::filed(*key);
                if let (RowKey::Spec(spec), None) = (key, row)
                    && !to_history.contains(spec)
                {
                    sweep.suspect(forget_spec(&transaction, id)?);
                    continue;
                }
                if let Some(Row::Spec { spec, .. }) = row {
                    environments.extend(spec.launch.environment.as_deref());
                }
                match row {
                    Some(row) => transaction
                        .prepare_cached(&format!(
                            "REPLACE INTO {table} (id, json) VALUES (?1, ?2)"
                        ))?
                        .execute(params![id, to_json(row)?])?,
                    None => transaction
                        .prepare_cached(&format!("DELETE FROM {table} WHERE id = ?1"))?
                        .execute([id])?,
                };
                if let RowKey::Task(task) = *key {
                    match (row, retired.get(&task)) {
                        // What is live counts more.
                        (Some(_), _) => {
                            history.hide(task)?;
                        }
                        (None, Some(retired)) => history.put(retired)?,
                        (None, None) => history.delete(task)?,
                    }
                }
            }
            history.import(&batch.extras.imported)?;
            history.mark_archived(&batch.extras.archived)?;
            sweep.suspect(history.finish()?);
            for (at, event) in &batch.events {
                newest_event = log.insert(params![at.0, to_json(event)?])?;
            }
            for Environment { hash, variables } in &batch.extras.environments {
                // Of a submit that was refused.
                if keep.execute(params![hash, variables])? > 0
                    && !environments.contains(hash.as_str())
                {
                    sweep.suspect([hash.clone()]);
                }
                environments.insert(hash);
            }
            environments.into_iter().for_each(|environment| sweep.need(environment));
        }
        records::write(&transaction, &batch.extras.records)?;
        audit::write(&transaction, &batch.extras.deeds)?;
        transaction.commit()?;
        Ok(newest_event)
    }

    /// The row of what is not a list; `None` in a database that was made just now.
    pub fn ledger(&self) -> Result<Option<Ledger>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT json FROM ledger";
        let json = self.connection.query_row(sql, [], |row| row.get(0)).optional();
        match json.map_err(failed)?.map(|json: String| serde_json::from_str(&json)) {
            None => Ok(None),
            Some(Ok(Row::Ledger(ledger))) => Ok(Some(*ledger)),
            Some(_) => Err(self.damaged("the ledger cannot be read".to_owned())),
        }
    }

    /// The number of the newest event; 0 when there is none.
    pub fn newest_event(&self) -> i64 {
        self.newest_event
    }

    /// The data directory.
    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// Everything that is in the log goes to the database itself: a copy of that alone is whole. Not while somebody
    /// still reads what was there before, or copies the file: whether it is done.
    pub fn settle(&self) -> Result<bool, StoreError> {
        if self.frozen.get() {
            return Ok(false);
        }
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        // Pages in the log, and how many of them are in the database now.
        let counts = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| {
            Ok((row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        });
        counts.map(|(log, moved)| log == moved).map_err(failed)
    }

    /// The error for a database that lacks acknowledged events.
    pub(crate) fn behind(&self, found: i64, known: i64) -> StoreError {
        StoreError::Behind { path: self.path.clone(), found, known }
    }

    /// Rows that contradict each other.
    pub(crate) fn damaged(&self, what: String) -> StoreError {
        StoreError::damaged(&self.path, what)
    }
}

/// It holds people's environments: for us alone, and locked. What SQLite puts beside it gets the same permissions.
fn keep_private(path: &Path) -> Result<File, StoreError> {
    let failed = |error| StoreError::from_file(path, error);
    let file = private::append(path).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    // An older version, or a copy, may have left these open to others.
    for ending in ["-wal", "-shm"] {
        let beside = beside(path, ending);
        if beside.symlink_metadata().is_ok() {
            private::append(&beside).map_err(failed)?;
        }
    }
    Ok(file)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn to_json(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
