//! `POST /archive`: moves ended tasks to the archive.

use super::body::Json;
use super::caller::{Caller, user_named};
use super::{Api, ApiError};
use crate::daemon::archive;
use axum::extract::State;
use danlu_core::{Refusal, Span, Task, TaskId, Time};
use danlu_wire::api::{Archive, Archived, Document};

pub(super) async fn archive(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Archive>, ApiError>,
) -> Result<Json<Document<Archived>>, ApiError> {
    let Json(wanted) = body?;
    let archived = run(&api, &caller, &wanted).await?;
    Ok(Json(Document::new(Archived { archived })))
}

/// Ended tasks only: the caller's own, or for administrators those of a named user.
pub(crate) async fn run(api: &Api, caller: &Caller, wanted: &Archive) -> Result<usize, ApiError> {
    let model = api.handle.model();
    let owner = match wanted.user.as_deref() {
        Some("*") => None,
        Some(name) => Some(user_named(api, name).ok_or(Refusal::NoSuchUser)?.id),
        None if wanted.ids.is_empty() => Some(caller.id),
        None => None,
    };
    if owner != Some(caller.id) && wanted.ids.is_empty() {
        caller.require_admin()?;
    }
    for id in &wanted.ids {
        let task = model.tasks.get(&TaskId(*id)).ok_or(Refusal::NoSuchTask(TaskId(*id)))?;
        caller.may_see_inside(&model, task)?;
    }
    let before = wanted.older_than.map(|seconds| {
        let now = crate::daemon::clock::now();
        Time(now.0 - i64::try_from(Span::from_secs(seconds).0).unwrap_or(i64::MAX).min(now.0))
    });
    let is_wanted = |task: &Task| {
        let listed = wanted.ids.is_empty() || wanted.ids.contains(&task.id.0);
        let old = before.is_none_or(|before| task.ended_at().is_some_and(|at| at <= before));
        listed && old && owner.is_none_or(|owner| owner == task.owner)
    };
    let ended = model.tasks.values().filter(|task| task.is_finished());
    let mut ids: Vec<TaskId> = ended.filter(|task| is_wanted(task)).map(|task| task.id).collect();
    if let Some(keep) = wanted.keep {
        ids.truncate(ids.len().saturating_sub(keep));
    }
    if let Some(first) = wanted.first {
        ids.truncate(first);
    }
    archive::archive(api, (caller.actor(), &caller.asker()), &ids).await
}
