//! The archive: ended tasks as JSON lines in a file. They stay where they are; lines can be read again.
//!
//! After a crash a task may have two lines; none is missing.

use crate::api::{Api, ApiError};
use crate::daemon::archive_line::{ElementSpec, line};
use crate::daemon::clock;
use crate::daemon::handle::{Asker, NotNow};
use crate::read_model::ReadModel;
use crate::store::history::HistoryQuery;
use crate::store::{Deed, Extras, Store};
use danlu_core::state::Retired;
use danlu_core::task::{Dependency, DependencyKind};
use danlu_core::{Task, TaskId, Time, UserId};
use danlu_messages::acts::Act;
use danlu_messages::errors;
use danlu_node::private;
use danlu_wire::api::ErrorCode;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Read and written together.
pub(crate) const AT_ONCE: usize = 100;

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("archive.jsonl")
}

/// Which ended tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ArchiveSelection {
    pub(crate) owner: Option<UserId>,
    /// These; empty: all that the rest allows.
    pub(crate) ids: Vec<TaskId>,
    pub(crate) ended_before: Option<Time>,
    /// With lower ids than this.
    pub(crate) below: Option<TaskId>,
}

impl ArchiveSelection {
    fn has(&self, task: &Task) -> bool {
        task.is_finished()
            && self.owner.is_none_or(|owner| owner == task.owner)
            && self.ended_before.is_none_or(|time| task.ended_at().is_some_and(|at| at < time))
            && self.below.is_none_or(|below| task.id < below)
    }

    /// Of those with ids beyond `after`, as many as are read together, in order; those in memory and the others.
    async fn some(
        &self,
        api: &Api,
        after: Option<TaskId>,
        ascending: bool,
    ) -> Result<Vec<Retired>, ApiError> {
        let model = api.handle.model();
        if !self.ids.is_empty() {
            let rest = self.ids.iter().copied().filter(|id| Some(*id) > after).take(AT_ONCE);
            let rest: Vec<TaskId> = rest.collect();
            let found = rest.iter().filter_map(|id| model.tasks.get(id));
            let mut found: Vec<Retired> = found.map(|task| with_runs(&model, task)).collect();
            let missing = rest.into_iter().filter(|id| !model.tasks.contains_key(id)).collect();
            found.extend(api.handle.history().tasks(missing).await.map_err(unreadable)?);
            found.retain(|retired| self.has(&retired.task));
            found.sort_by_key(|retired| retired.task.id);
            return Ok(found);
        }
        let query = HistoryQuery {
            owner: self.owner,
            ended_before: self.ended_before,
            ascending,
            after: after.map(|id| (0, id)),
            limit: AT_ONCE,
            ..HistoryQuery::default()
        };
        let page = api.handle.history().page(query).await.map_err(unreadable)?;
        let wanted = |(_, task): &(&TaskId, &Arc<Task>)| self.has(task);
        let bound = after.map_or(Bound::Unbounded, Bound::Excluded);
        let live = |(_, task): (&TaskId, &Arc<Task>)| with_runs(&model, task);
        let live: Vec<Retired> = match ascending {
            true => {
                let live_tasks = model.tasks.range((bound, Bound::Unbounded));
                live_tasks.filter(wanted).take(AT_ONCE).map(live).collect()
            }
            false => {
                let live_tasks = model.tasks.range((Bound::Unbounded, bound)).rev();
                live_tasks.filter(wanted).take(AT_ONCE).map(live).collect()
            }
        };
        let not_live = |it: &Retired| !model.tasks.contains_key(&it.task.id) && self.has(&it.task);
        let mut all = live;
        all.extend(page.tasks.into_iter().filter(not_live));
        all.sort_by_key(|retired| retired.task.id);
        if !ascending {
            all.reverse();
        }
        all.truncate(AT_ONCE);
        Ok(all)
    }

    /// The next ones after this, with the lowest ids first.
    pub(crate) async fn next(
        &self,
        api: &Api,
        after: Option<TaskId>,
    ) -> Result<Vec<Retired>, ApiError> {
        self.some(api, after, true).await
    }

    /// Without so many of the newest.
    pub(crate) async fn without_newest(mut self, api: &Api, keep: usize) -> Result<Self, ApiError> {
        let (mut left, mut after) = (keep, None);
        while left > 0 {
            let some = self.some(api, after, false).await?;
            let Some(last) = some.get(left.min(some.len()).wrapping_sub(1)) else {
                // There are not more.
                self.below = Some(TaskId(0));
                return Ok(self);
            };
            after = Some(last.task.id);
            left = left.saturating_sub(some.len());
        }
        self.below = after;
        Ok(self)
    }
}

fn with_runs(model: &ReadModel, task: &Arc<Task>) -> Retired {
    let runs = model.runs_of(task.id).map(|run| Arc::new(run.clone())).collect();
    Retired { task: Arc::clone(task), runs }
}

/// In the order of the tasks.
pub(crate) fn lines(model: &ReadModel, tasks: &[Retired]) -> Vec<Vec<u8>> {
    let model = model.with_retired(tasks.iter().cloned());
    let mut specs = ElementSpec::default();
    tasks.iter().map(|retired| line(&model, retired, &mut specs)).collect()
}

/// Writes these to the server's own file. How many.
pub(crate) async fn archive(
    api: &Api,
    asker: &Asker,
    wanted: &ArchiveSelection,
    first: usize,
) -> Result<usize, ApiError> {
    let (mut written, mut after) = (0, None);
    while written < first {
        let mut some = wanted.next(api, after).await?;
        some.truncate(first - written);
        let Some(last) = some.last() else { break };
        after = Some(last.task.id);
        written += write(api, some).await?;
    }
    note(api, asker, written).await?;
    Ok(written)
}

/// In the audit log.
pub(crate) async fn note(api: &Api, asker: &Asker, written: usize) -> Result<(), ApiError> {
    let deed = Deed {
        user: asker.name.clone(),
        origin: asker.origin.clone(),
        act: Act::Archive,
        target: format!("{written} tasks"),
        detail: String::new(),
    };
    Ok(api.handle.keep(Vec::new(), Some(deed)).await?)
}

pub(crate) async fn write(api: &Api, tasks: Vec<Retired>) -> Result<usize, ApiError> {
    let model = api.handle.model();
    let path = api.config.archive_file();
    let with_end = |task: &Task| Some((task.id, task.ended_at()?));
    let archived: Vec<(TaskId, Time)> =
        tasks.iter().filter_map(|retired| with_end(&retired.task)).collect();
    let append = move || append(&path, &lines(&model, &tasks));
    let appended = tokio::task::spawn_blocking(append).await;
    appended.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(unwritable)?;
    let count = archived.len();
    api.handle.store(Extras { archived, ..Extras::default() }).await?;
    Ok(count)
}

fn append(path: &Path, lines: &[Vec<u8>]) -> io::Result<()> {
    let mut file = private::append(path)?;
    file.write_all(&lines.concat())?;
    file.sync_data()
}

#[allow(clippy::needless_pass_by_value, reason = "handed to map_err")]
fn unwritable(error: io::Error) -> ApiError {
    let message = errors::archive_not_written(&error);
    ApiError::new(ErrorCode::Unavailable, message, errors::see_that_there_is_room_on_the_disk())
}

#[allow(clippy::needless_pass_by_value, reason = "handed to map_err")]
pub(crate) fn unreadable(error: crate::store::StoreError) -> ApiError {
    ApiError::from(NotNow::from(&error))
}

/// Earlier than so long ago.
pub(crate) fn ago(seconds: u64) -> Time {
    let now = clock::now().0;
    Time(now - i64::try_from(seconds.saturating_mul(1_000)).unwrap_or(i64::MAX).min(now))
}
/// Dependencies without those on archived tasks that are fulfilled; a task that could never start is refused.
pub(crate) async fn resolve(
    api: &Api,
    after: Vec<Dependency>,
) -> Result<Vec<Dependency>, ApiError> {
    let model = api.handle.model();
    if after.iter().all(|dependency| model.tasks.contains_key(&dependency.task)) {
        return Ok(after);
    }
    let missing: Vec<TaskId> =
        after.iter().map(|it| it.task).filter(|task| !model.tasks.contains_key(task)).collect();
    let look = move |store: &Store| {
        let found = |task: TaskId| Some((task, store.archived(task).ok()??));
        missing.into_iter().filter_map(found).collect::<BTreeMap<TaskId, bool>>()
    };
    let archived =
        api.handle.read(look).await.map_err(|not_now: NotNow| ApiError::from(not_now))?;
    let mut left = Vec::new();
    for dependency in after {
        match (archived.get(&dependency.task), dependency.kind) {
            (None, _) => left.push(dependency),
            (Some(_), DependencyKind::AfterAny)
            | (Some(true), DependencyKind::AfterOk)
            | (Some(false), DependencyKind::AfterNotOk) => {}
            (Some(_), _) => {
                let message = errors::archived_dependency(&dependency.task);
                let hint = errors::drop_archived_dependency();
                return Err(ApiError::new(ErrorCode::Refused, message, hint));
            }
        }
    }
    Ok(left)
}
