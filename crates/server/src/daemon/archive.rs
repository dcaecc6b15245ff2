//! Moves old ended tasks out of the lists: one JSON line each in `archive.jsonl` of the data directory.
//!
//! The line is written before the task leaves the lists. After a crash in between, a task may have two lines; none is lost.

use crate::api::{Api, ApiError, view};
use crate::daemon::handle::{AskError, Asker, NotNow};
use crate::read_model::ReadModel;
use crate::store::{ARCHIVED, RecordChange, Store};
use danlu_core::task::{Dependency, DependencyKind, Outcome};
use danlu_core::{Actor, Input, Task, TaskId, UserId};
use danlu_messages::{Language, errors};
use danlu_node::private;
use danlu_wire::api::ErrorCode;
use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tracing::{info, warn};

/// Written and removed together.
const AT_ONCE: usize = 1_000;
/// Interval of checks whether there are too many.
const LOOK_EVERY: Duration = Duration::from_secs(2);

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("archive.jsonl")
}

/// How many went. Those that a waiting task needs stay; those that `by` may not touch are refused before.
pub(crate) async fn archive(
    api: &Api,
    (by, asker): (Actor, &Asker),
    ids: &[TaskId],
) -> Result<usize, ApiError> {
    let mut gone = 0;
    for some in ids.chunks(AT_ONCE) {
        let model = api.handle.model();
        let tasks: Vec<Arc<Task>> = some
            .iter()
            .filter_map(|id| model.tasks.get(id))
            .filter(|task| task.is_finished())
            .cloned()
            .collect();
        let lines: Vec<Vec<u8>> = tasks.iter().map(|task| line(&model, task)).collect();
        let path = path(&api.config.data);
        let written = tokio::task::spawn_blocking(move || append(&path, &lines)).await;
        written.unwrap_or_else(|error| Err(io::Error::other(error))).map_err(unwritable)?;
        gone += take_out(api, (by, asker), &tasks).await?;
    }
    Ok(gone)
}

async fn take_out(
    api: &Api,
    (by, asker): (Actor, &Asker),
    tasks: &[Arc<Task>],
) -> Result<usize, ApiError> {
    // Later tasks that depend on them are answered from here.
    let kept = tasks.iter().map(|task| RecordChange::Put {
        kind: ARCHIVED,
        id: task.id.to_string(),
        json: matches!(task.outcome(), Some(Outcome::Succeeded)).to_string(),
    });
    api.handle.keep(kept.collect(), None).await?;
    let remove = |task: &Arc<Task>| {
        let input = Input::Remove { by, task: task.id };
        (task.id, api.handle.begin(input, None, Some(asker.clone())))
    };
    let asked: Vec<_> = tasks.iter().map(remove).collect();
    let mut stay = Vec::new();
    for (task, answer) in asked {
        match answer.wait().await {
            Ok(_) => {}
            Err(AskError::Refused(_)) => {
                stay.push(RecordChange::Delete { kind: ARCHIVED, id: task.to_string() });
            }
            Err(error @ AskError::NotNow(_)) => return Err(error.into()),
        }
    }
    let gone = tasks.len() - stay.len();
    if !stay.is_empty() {
        api.handle.keep(stay, None).await?;
    }
    Ok(gone)
}

/// The same as `danlu show --json` tells, without what only the owner may see.
fn line(model: &ReadModel, task: &Task) -> Vec<u8> {
    // What is stored is English.
    let mut view = Language::English.within(|| view::task(model, task, None));
    view.details = Some(view::details(model, task, None));
    let mut line = serde_json::to_vec(&view).unwrap_or_default();
    line.push(b'\n');
    line
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

/// The oldest part of every user's tasks, if there are too many in total.
pub(crate) fn overdue(model: &ReadModel) -> Vec<TaskId> {
    let settings = &model.ledger.settings.archive;
    let most = usize::try_from(settings.above).unwrap_or(usize::MAX);
    if settings.above == 0 || model.tasks.len() <= most {
        return Vec::new();
    }
    let mut ended: BTreeMap<UserId, Vec<TaskId>> = BTreeMap::new();
    for task in model.tasks.values().filter(|task| task.is_finished()) {
        ended.entry(task.owner).or_default().push(task.id);
    }
    if ended.values().map(Vec::len).sum::<usize>() <= most {
        return Vec::new();
    }
    let oldest = |ids: Vec<TaskId>| {
        let count = settings.share.of(ids.len() as u64);
        // Each user keeps their newest task.
        let count = usize::try_from(count).unwrap_or(0).min(ids.len() - 1);
        ids.into_iter().take(count)
    };
    ended.into_values().flat_map(oldest).collect()
}

/// Checks after changes, at a limited rate.
pub(crate) async fn tidy_up(api: Api) {
    let mut news = api.handle.reader().news();
    let by = Asker { name: String::from("danlu"), origin: String::from("automatic") };
    loop {
        if let Err(RecvError::Closed) = news.recv().await {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
        // All that came meanwhile is looked at together.
        news = news.resubscribe();
        let ids = overdue(&api.handle.model());
        if !ids.is_empty() {
            match archive(&api, (Actor::Daemon, &by), &ids).await {
                Ok(gone) => info!(tasks = gone, "moved to the archive"),
                Err(error) => warn!(cause = error.0.message, "nothing was archived"),
            }
        }
    }
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
