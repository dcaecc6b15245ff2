//! Live tasks and those of the history as one.
//!
//! The read model is taken before the history is asked: a task that is retired in between is in both, and what is live
//! counts; the other way round it could be in neither.

use super::caller::Caller;
use super::{Api, ApiError};
use crate::daemon::handle::NotNow;
use crate::read_model::ReadModel;
use crate::store::StoreError;
use crate::store::history::HistoryQuery;
use danlu_core::{TaskId, UserId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Asked for at once, so that other readers get in between.
const AT_ONCE: usize = 1_000;

impl Api {
    /// A read model that has these tasks, as far as they exist.
    pub(crate) async fn model_with(&self, ids: &[TaskId]) -> Result<Arc<ReadModel>, ApiError> {
        self.with_retired(self.handle.model(), ids).await
    }

    /// A read model that tells whose tasks these are, for a caller who does not see everybody's.
    pub(crate) async fn model_for(
        &self,
        caller: &Caller,
        ids: &[TaskId],
    ) -> Result<Arc<ReadModel>, ApiError> {
        let model = self.handle.model();
        match caller.visibility(&model).is_whole() {
            true => Ok(model),
            false => self.with_retired(model, ids).await,
        }
    }

    /// The same model, in which these tasks are visible, too.
    pub(crate) async fn with_retired(
        &self,
        model: Arc<ReadModel>,
        ids: &[TaskId],
    ) -> Result<Arc<ReadModel>, ApiError> {
        let missing = ids.iter().filter(|id| !model.tasks.contains_key(*id));
        let missing: Vec<TaskId> = missing.copied().collect();
        let mut found = Vec::new();
        for some in missing.chunks(AT_ONCE) {
            found.extend(self.handle.history().tasks(some.to_vec()).await?);
        }
        Ok(if found.is_empty() { model } else { Arc::new(model.with_retired(found)) })
    }

    /// The ids of a user's newest tasks, the newest first.
    pub(crate) async fn newest_of(
        &self,
        user: UserId,
        count: usize,
    ) -> Result<Vec<TaskId>, ApiError> {
        let model = self.handle.model();
        let live = model.briefs.iter().rev().filter(|(_, brief)| brief.owner == user);
        let mut ids: BTreeSet<TaskId> = live.map(|(id, _)| *id).take(count).collect();
        let query = HistoryQuery { owner: Some(user), limit: count, ..HistoryQuery::default() };
        ids.extend(self.handle.history().page(query).await?.tasks.iter().map(|it| it.task.id));
        Ok(ids.into_iter().rev().take(count).collect())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> ApiError {
        NotNow::from(&error).into()
    }
}
