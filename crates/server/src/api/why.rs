//! The full explanation why one task waits.

use super::caller::Caller;
use super::tasks::{LONGEST_READ, visible};
use super::{Api, ApiError, view};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use danlu_core::explain::constraint::Constraint;
use danlu_core::explain::why::{Scene, Why};
use danlu_core::{Request, TaskId, Time};
use danlu_wire::api::{Document, ErrorCode, TaskView};
use serde::Serialize;
use tokio::time::timeout;

#[derive(Debug, Serialize)]
pub(super) struct WhyAnswer {
    why: WhyBody,
}

#[derive(Debug, Serialize)]
struct WhyBody {
    task: TaskView,
    words: Option<String>,
    expected_start_at: Option<String>,
    #[serde(flatten)]
    more: Option<Explained>,
}

/// What lists leave out.
#[derive(Debug, Serialize)]
pub(crate) struct Explained {
    /// What it asks for.
    pub(crate) needs: Request,
    #[serde(skip)]
    pub(crate) starts_at: Option<Time>,
    #[serde(flatten)]
    pub(crate) why: Why,
}

pub(super) async fn why(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
) -> Result<super::body::Json<Document<WhyAnswer>>, ApiError> {
    let Path(id) = path?;
    let model = api.model_with(&[TaskId(id)]).await?;
    let task = visible(&api, &caller, &model, TaskId(id)).await?;
    let more = explained(&api, &caller, TaskId(id)).await?;
    let starts_at = more.as_ref().and_then(|more| more.starts_at);
    let (words, expected_start_at) = (task.why.clone(), starts_at.map(view::rfc3339));
    let why = WhyBody { task, words, expected_start_at, more };
    Ok(super::body::Json(Document::new(WhyAnswer { why })))
}

/// `None` for a task that does not wait. What may be seen of it has been asked before.
pub(crate) async fn explained(
    api: &Api,
    caller: &Caller,
    id: TaskId,
) -> Result<Option<Explained>, ApiError> {
    let question = move |state: &danlu_core::State, now| {
        let needs = Request::clone(&state.tasks.get(&id)?.spec.request);
        let starts_at = danlu_core::expected_start(state, id, now);
        Some((Scene::of(state, id, now)?, needs, starts_at))
    };
    // The engine knows ended tasks too. It may wait for the disk; readers do not.
    let asked = timeout(LONGEST_READ, api.handle.look(move |state, _, now| question(state, now)));
    let found = match asked.await {
        Ok(Ok(found)) => found,
        Ok(Err(_)) | Err(_) => api.handle.consider(question)?,
    };
    let Some((scene, needs, starts_at)) = found else { return Ok(None) };
    // Not on the engine thread.
    let found = tokio::task::spawn_blocking(move || scene.why()).await;
    let why = found.map_err(|error| {
        ApiError::new(
            ErrorCode::Internal,
            error.to_string(),
            danlu_messages::errors::see_server_log(),
        )
    })?;
    let known = |it: &Constraint| !matches!(it, Constraint::RunEnds(run) if run.ends_at.is_none());
    let starts_at = starts_at.filter(|_| why.constraints.iter().all(known));
    let why = caller.visibility(&api.handle.model()).why(why);
    Ok(Some(Explained { needs, starts_at, why }))
}
