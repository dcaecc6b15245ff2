//! A consistent copy of the database while the engine goes on.
//!
//! After a checkpoint the database file is complete; while SQLite makes no further checkpoint, all changes go to its log and the
//! file does not change. So it can be copied slowly and without a second connection.

use super::{Store, StoreError};
use danlu_core::State;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::Arc;

/// Pages of the log after which SQLite makes a checkpoint by itself; its own default.
const PAGES: u32 = 1_000;

/// The database as it was at one moment, for as long as it is frozen.
#[derive(Debug)]
pub(crate) struct Snapshot {
    file: Arc<File>,
    pub(crate) bytes: u64,
}

/// What a check has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    pub tasks: usize,
    /// Tasks that have not ended.
    pub open_tasks: usize,
    pub runs: usize,
    pub users: usize,
    pub nodes: usize,
    pub events: i64,
}

impl Store {
    /// The file does not change until `thaw`. `None` while another copy has it frozen, and for the moment in which
    /// somebody reads what the last changes have replaced.
    pub(crate) fn freeze(&self) -> Result<Option<Snapshot>, StoreError> {
        if !self.settle()? {
            return Ok(None);
        }
        self.checkpoint_after(0)?;
        self.frozen.set(true);
        let facts = self.file.metadata();
        let bytes = facts.map_err(|error| StoreError::from_file(&self.path, error))?.len();
        Ok(Some(Snapshot { file: Arc::clone(&self.file), bytes }))
    }

    pub(crate) fn thaw(&self) -> Result<(), StoreError> {
        self.frozen.set(false);
        self.checkpoint_after(PAGES)
    }

    fn checkpoint_after(&self, pages: u32) -> Result<(), StoreError> {
        let set = self.connection.pragma_update(None, "wal_autocheckpoint", pages);
        match set {
            // It answers with the new value.
            Ok(()) | Err(rusqlite::Error::ExecuteReturnedResults) => Ok(()),
            Err(error) => Err(StoreError::from_sqlite(&self.path, error)),
        }
    }

    /// Everything in it, read and compared. For a copy, or while no server runs.
    pub fn check(path: &Path) -> Result<Contents, StoreError> {
        let store = Store::open(path)?;
        let sql = "PRAGMA integrity_check(10)";
        let failed = |error| StoreError::from_sqlite(path, error);
        let mut statement = store.connection.prepare(sql).map_err(failed)?;
        let found = statement.query_map([], |row| row.get(0)).map_err(failed)?;
        let found: Vec<String> = found.collect::<Result<_, _>>().map_err(failed)?;
        if found != ["ok"] {
            return Err(store.damaged(found.join("; ")));
        }
        let state = State::from_rows(store.rows()?).map_err(|what| store.damaged(what))?;
        let ended = store.check_history()?;
        Ok(Contents {
            tasks: state.tasks.len() + ended,
            open_tasks: state.tasks.values().filter(|task| !task.is_finished()).count(),
            runs: state.runs.len(),
            users: state.users.len(),
            nodes: state.nodes.len(),
            events: store.newest_event(),
        })
    }
}

impl Snapshot {
    pub(crate) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 20];
        let mut offset = 0;
        while offset < self.bytes {
            let read = self.file.read_at(&mut buffer, offset)?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            out.write_all(&buffer[..read])?;
            offset += read as u64;
        }
        Ok(())
    }
}
