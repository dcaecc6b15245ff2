//! Who waits for tasks is answered when they are as far.

use super::body::Json;
use super::caller::Caller;
use super::tasks::{numbers, views};
use super::{Api, ApiError, view};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use danlu_core::TaskId;
use danlu_wire::api::{Document, TaskStateName, Tasks};
use schemars::JsonSchema;
use serde::Deserialize;
use std::pin::pin;
use std::time::Duration;

/// A client that waits is answered at the latest after this, and asks again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Separated by commas.
    #[schemars(regex(pattern = r"^[0-9]{1,18}(,[0-9]{1,18})*$"))]
    ids: String,
    #[serde(default)]
    until: Until,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Until {
    Running,
    #[default]
    Ended,
}

/// Answers when all of these have ended, or run, or after a while with what there is.
pub(super) async fn wait(
    State(api): State<Api>,
    caller: Caller,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Document<Tasks>>, ApiError> {
    let Query(Wanted { ids, until }) = wanted?;
    let ids: Vec<TaskId> = numbers(&ids)?.into_iter().map(TaskId).collect();
    let open = api.streams.open(&caller)?;
    let mut thrown_out = pin!(caller.thrown_out(&api));
    let mut news = api.handle.reader().news();
    let deadline = tokio::time::sleep(LONGEST_WAIT);
    tokio::pin!(deadline);
    loop {
        let model = api.handle.model();
        let sight = caller.sight(&model);
        let there = |id: &TaskId| model.tasks.contains_key(id) && sight.task(*id);
        if let Some(missing) = ids.iter().find(|id| !there(id)) {
            return Err(danlu_core::Refusal::NoSuchTask(*missing).into());
        }
        let reached = |id: &TaskId| match (until, view::state_name(&model, *id)) {
            (Until::Ended, state) => state.is_over(),
            (Until::Running, state) => !state.is_waiting() && state != TaskStateName::Starting,
        };
        if ids.iter().all(reached) {
            break;
        }
        tokio::select! {
            // Lagging behind or a closed channel only means: look again.
            _ = news.recv() => {}
            () = &mut deadline => break,
            () = &mut thrown_out => return Err(ApiError::unauthenticated()),
        }
        // Many who wait look at what has come meanwhile in one go.
        if let Some(pause) = open.pause() {
            tokio::time::sleep(pause).await;
        }
    }
    let total = ids.len();
    let tasks = views(&api, &caller, ids).await?;
    Ok(Json(Document::new(Tasks { tasks, total, next: None })))
}
