//! Ended tasks that have left the rows: written with the batch in which they left, read through connections of their own.

mod access_path;
mod archive_marks;
mod blocks;
mod check;
pub(crate) mod counts;
mod entry;
mod page;
mod plan;
mod put;
mod read;
mod readers;
mod text;
mod upkeep;

pub(super) use put::HistoryWriter;
pub use text::{needles, searched_text};
pub(crate) use upkeep::HistoryFacts;

use self::read::{HistoryLoader, number};
use self::readers::Readers;
use super::{Store, StoreError};
use danlu_core::state::Retired;
use danlu_core::{NodeId, TaskId, Time, UserId};
use danlu_wire::api::TaskStateName;
use rusqlite::OptionalExtension as _;
use std::sync::Arc;

/// Reads the history. Cheap to clone; queries run on threads of their own and never wait for the engine.
#[derive(Debug, Clone, Default)]
pub struct History {
    /// Without them it is empty.
    readers: Option<Arc<Readers>>,
}

/// Which ended tasks, in which order. Everything that is `None` lets all through.
#[derive(Debug, Clone, Default)]
pub struct HistoryQuery {
    pub owner: Option<UserId>,
    pub states: Option<Vec<TaskStateName>>,
    /// Its last run used this machine.
    pub node: Option<NodeId>,
    /// A key, and its value unless any will do.
    pub label: Option<(String, Option<String>)>,
    pub project: Option<String>,
    pub array: Option<TaskId>,
    /// Of every array only its first element.
    pub folded: bool,
    /// Words that all occur, those in double quotes as they stand there, in the name, the command, the description or the values of a sweep, in any case.
    pub text: Option<String>,
    /// Ended at this time or later …
    pub ended_from: Option<Time>,
    /// … and before this one.
    pub ended_before: Option<Time>,
    pub sort: HistorySort,
    /// The newest, or largest, first unless this is set.
    pub ascending: bool,
    /// Only what comes after this key and id in that order; the key is the id itself when sorted by id.
    pub after: Option<(i64, TaskId)>,
    /// And before this one.
    pub until: Option<(i64, TaskId)>,
    pub limit: usize,
    /// Also count all that it lets through, whatever `after`, `until` and `limit` are.
    pub count: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HistorySort {
    #[default]
    Id,
    /// By when they ended; milliseconds.
    Ended,
    /// By how long they ran; milliseconds.
    Ran,
}

#[derive(Debug, Clone, Default)]
pub struct HistoryPage {
    pub tasks: Vec<Retired>,
    /// There are more after the last one.
    pub more: bool,
    /// If it was asked for, and can be known soon: not of a common word, nor of a great many by several conditions.
    pub total: Option<u64>,
}

/// Elements of an array that ended in the same state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetiredElements {
    /// Its first element.
    pub array: TaskId,
    pub state: TaskStateName,
    pub count: usize,
    pub first: TaskId,
    pub last: TaskId,
}

impl History {
    /// How many elements of these arrays it has.
    pub async fn elements(&self, arrays: Vec<TaskId>) -> Result<Vec<RetiredElements>, StoreError> {
        let Some(readers) = self.readers.as_ref().filter(|_| !arrays.is_empty()) else {
            return Ok(Vec::new());
        };
        let question = move |reader: &readers::HistoryReader| {
            let mut found = Vec::new();
            for array in arrays {
                let of_array = page::elements(&reader.connection, array);
                found.extend(of_array.map_err(|error| reader.failed(error))?);
                reader.in_time().map_err(|error| reader.failed(error))?;
            }
            Ok(found)
        };
        readers.ask(question).await
    }

    pub async fn task(&self, task: TaskId) -> Result<Option<Retired>, StoreError> {
        Ok(self.tasks(vec![task]).await?.pop())
    }

    /// Those of them that it has, in the order of their ids.
    pub async fn tasks(&self, mut tasks: Vec<TaskId>) -> Result<Vec<Retired>, StoreError> {
        let Some(readers) = &self.readers else { return Ok(Vec::new()) };
        tasks.sort_unstable();
        tasks.dedup();
        let question = move |reader: &readers::HistoryReader| {
            let mut loader = HistoryLoader::new(&reader.connection);
            let mut found = Vec::with_capacity(tasks.len());
            for task in tasks {
                let loaded = loader.load(number(task)).map_err(|error| reader.failed(error))?;
                let loaded = loaded.transpose().map_err(|bad| reader.damaged(bad.to_string()))?;
                found.extend(loaded);
                reader.in_time().map_err(|error| reader.failed(error))?;
            }
            Ok(found)
        };
        readers.ask(question).await
    }

    pub async fn page(&self, query: HistoryQuery) -> Result<HistoryPage, StoreError> {
        let Some(readers) = &self.readers else { return Ok(HistoryPage::default()) };
        let question = move |reader: &readers::HistoryReader| {
            let made = page::page(&reader.connection, &query, &|| reader.is_in_time());
            made.map_err(|error| reader.failed(error))
        };
        readers.ask(question).await
    }

    /// Returns when nothing is read any more. Questions are refused from now on.
    pub(crate) fn stop(&self) {
        self.readers.iter().for_each(|readers| readers.stop());
    }
}

impl Store {
    /// Readers of what has left the rows.
    pub fn history(&self) -> History {
        History { readers: Some(Arc::new(Readers::start(&self.path, &self.file))) }
    }

    /// For the engine: an ended task that has left the rows.
    pub fn retired(&self, task: TaskId) -> Result<Option<Retired>, StoreError> {
        let loaded = HistoryLoader::new(&self.connection).load(number(task));
        let loaded = loaded.map_err(|error| StoreError::from_sqlite(&self.path, error))?;
        loaded.transpose().map_err(|bad| self.damaged(bad.to_string()))
    }

    pub fn retired_with_key(&self, user: UserId, key: &str) -> Result<Option<TaskId>, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT id FROM history INDEXED BY history_key WHERE user = ?1 AND key = ?2 AND key IS NOT NULL
            ORDER BY id DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let found = statement.query_row((user.0, key), |row| row.get::<_, i64>(0)).optional();
        Ok(found.map_err(failed)?.map(|id| TaskId(u64::try_from(id).unwrap_or_default())))
    }
}
