//! Reads ended tasks back from the rows of the history.

use danlu_core::state::Retired;
use danlu_core::task::TaskSpec;
use danlu_core::{Run, SpecId, Task, TaskId};
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::HashMap;
use std::sync::Arc;

/// One that cannot be read, and why.
#[derive(Debug)]
pub(super) struct BadHistoryRow {
    pub(super) task: TaskId,
    pub(super) why: String,
}

impl std::fmt::Display for BadHistoryRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "task {} of the history cannot be read: {}", self.task, self.why)
    }
}

/// Loads tasks; elements of one array share what they were to do.
#[derive(Debug)]
pub(super) struct HistoryLoader<'a> {
    connection: &'a Connection,
    specs: HashMap<i64, Arc<TaskSpec>>,
}

impl<'a> HistoryLoader<'a> {
    pub(super) fn new(connection: &'a Connection) -> Self {
        HistoryLoader { connection, specs: HashMap::new() }
    }

    /// `None` if there is none, and for one that was brought back into the rows and has lost the rest.
    pub(super) fn load(
        &mut self,
        id: i64,
    ) -> rusqlite::Result<Option<Result<Retired, BadHistoryRow>>> {
        let sql = "SELECT task, runs, spec FROM history_rows WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut found = statement.query([id])?;
        let Some(row) = found.next()? else { return Ok(None) };
        let spec_id: i64 = row.get(2)?;
        let task = TaskId(u64::try_from(id).unwrap_or_default());
        let bad = |why: String| Ok(Some(Err(BadHistoryRow { task, why })));
        let spec = match self.spec(spec_id)? {
            Some(Ok(spec)) => spec,
            Some(Err(why)) => return bad(why),
            None => return bad(format!("what it was to do (spec {spec_id}) is missing")),
        };
        let parsed = (
            serde_json::from_slice::<Task>(row.get_ref(0)?.as_bytes()?),
            serde_json::from_slice::<Vec<Arc<Run>>>(row.get_ref(1)?.as_bytes()?),
        );
        match parsed {
            (Ok(mut task), Ok(runs)) => {
                task.spec = spec;
                Ok(Some(Ok(Retired { task: Arc::new(task), runs })))
            }
            (Err(why), _) | (_, Err(why)) => bad(why.to_string()),
        }
    }

    /// What tasks were to do; `None` if it is missing.
    pub(super) fn spec(
        &mut self,
        id: i64,
    ) -> rusqlite::Result<Option<Result<Arc<TaskSpec>, String>>> {
        if let Some(spec) = self.specs.get(&id) {
            return Ok(Some(Ok(Arc::clone(spec))));
        }
        let mut statement =
            self.connection.prepare_cached("SELECT json FROM history_specs WHERE id = ?1")?;
        let json: Option<String> = statement.query_row([id], |row| row.get(0)).optional()?;
        let Some(json) = json else { return Ok(None) };
        Ok(Some(match serde_json::from_str::<TaskSpec>(&json) {
            Ok(spec) => {
                let spec = Arc::new(spec);
                // Lists of a few hundred; what is not an array does not come twice.
                if spec.array.is_some() {
                    self.specs.insert(id, Arc::clone(&spec));
                }
                Ok(spec)
            }
            Err(why) => Err(format!("spec {id}: {why}")),
        }))
    }
}

pub(super) fn number(id: TaskId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

pub(super) fn spec_number(id: SpecId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}
