//! How many ended tasks are in the history: read with the commit that changes it, so that it fits to the read model.

use super::HistoryQuery;
use super::entry::state_of;
use crate::store::{Batch, Store, StoreError};
use danlu_core::{Event, UserId};
use danlu_wire::api::TaskStateName;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PastCounts(BTreeMap<(UserId, TaskStateName), usize>);

impl PastCounts {
    /// Of this user and in these states, or of all.
    pub fn of(&self, owner: Option<UserId>, states: Option<&[TaskStateName]>) -> usize {
        let counts = self.0.iter().filter(|((user, state), _)| {
            owner.is_none_or(|owner| owner == *user)
                && states.is_none_or(|states| states.contains(state))
        });
        counts.map(|(_, count)| count).sum()
    }
}

/// Whether a commit may have changed them.
pub(crate) fn are_changed_by(batch: &Batch) -> bool {
    let moves =
        |event: &Event| matches!(event, Event::TaskRecalled { .. } | Event::TaskRemoved { .. });
    !batch.retired.is_empty()
        || !batch.extras.imported.is_empty()
        || batch.events.iter().any(|(_, event)| moves(event))
}

impl HistoryQuery {
    /// The counts tell how many it lets through.
    pub(crate) fn is_counted(&self) -> bool {
        self.text.is_none()
            && self.node.is_none()
            && self.label.is_none()
            && self.project.is_none()
            && self.array.is_none()
            && !self.folded
            && self.ended_from.is_none()
            && self.ended_before.is_none()
    }
}

impl Store {
    pub(crate) fn past_counts(&self) -> Result<PastCounts, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let sql = "SELECT user, state, tasks FROM history_counts WHERE tasks > 0";
        let mut statement = self.connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut counts = BTreeMap::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let (user, code) = (UserId(row.get(0).map_err(failed)?), row.get(1).map_err(failed)?);
            let count: i64 = row.get(2).map_err(failed)?;
            if let Some(state) = state_of(code) {
                *counts.entry((user, state)).or_default() +=
                    usize::try_from(count).unwrap_or_default();
            }
        }
        Ok(PastCounts(counts))
    }
}
