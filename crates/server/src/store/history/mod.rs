//! Ended tasks that have left the rows: written with the batch in which they left, read through connections of their own.

mod text;

pub(crate) use text::searched_text;

use super::{Store, StoreError};
use danlu_core::state::Retired;
use danlu_core::{NodeId, TaskId, Time, UserId};
use danlu_wire::api::TaskStateName;

/// Reads the history. Cheap to clone; queries run on threads of their own and never wait for the engine.
#[derive(Debug, Clone, Default)]
pub struct History {}

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
    /// Part of the name, the command or the description, in any case.
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
    pub limit: usize,
    /// Also count all that it lets through, whatever `after` and `limit` are.
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
    /// If it was asked for.
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
    /// How many elements of these arrays it has, without those that are live.
    #[allow(clippy::unused_async, reason = "queries run elsewhere")]
    pub async fn elements(&self, _arrays: Vec<TaskId>) -> Result<Vec<RetiredElements>, StoreError> {
        Ok(Vec::new())
    }

    #[allow(clippy::unused_async, reason = "queries run elsewhere")]
    pub async fn task(&self, _task: TaskId) -> Result<Option<Retired>, StoreError> {
        Ok(None)
    }

    /// Those of them that it has, in the order of their ids.
    #[allow(clippy::unused_async, reason = "queries run elsewhere")]
    pub async fn tasks(&self, _tasks: Vec<TaskId>) -> Result<Vec<Retired>, StoreError> {
        Ok(Vec::new())
    }

    #[allow(clippy::unused_async, reason = "queries run elsewhere")]
    pub async fn page(&self, _query: HistoryQuery) -> Result<HistoryPage, StoreError> {
        Ok(HistoryPage::default())
    }
}

impl Store {
    pub fn retired(&self, _task: TaskId) -> Result<Option<Retired>, StoreError> {
        Ok(None)
    }

    pub fn retired_with_key(
        &self,
        _user: UserId,
        _key: &str,
    ) -> Result<Option<TaskId>, StoreError> {
        Ok(None)
    }
}
