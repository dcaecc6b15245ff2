//! The server itself: is it there, who am I to it, stop it.

use super::caller::Caller;
use super::{Api, ApiError};
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use danlu_core::Input;
use danlu_core::TaskId;
use danlu_wire::api::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

pub(super) async fn whoami(caller: Caller) -> Json<Value> {
    Json(json!({ "v": 1, "user": caller.name, "admin": caller.admin }))
}

pub(super) async fn config(State(api): State<Api>, _caller: Caller) -> Json<Document<Value>> {
    Json(Document::new(json!({ "config": api.config.entries() })))
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Stop {
    cancel_tasks: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Stopping {
    cancelled: usize,
}

/// Running tasks go on, unless told to cancel them; the queue is kept.
pub(super) async fn stop(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Stop>, JsonRejection>,
) -> Result<Json<Document<Stopping>>, ApiError> {
    if !caller.admin {
        return Err(danlu_core::Refusal::AdminOnly.into());
    }
    let Json(Stop { cancel_tasks }) = body?;
    let mut cancelled = 0;
    if cancel_tasks {
        let model = api.handle.model();
        let running: Vec<TaskId> = model.active_runs().map(|run| run.task).collect();
        cancelled = running.len();
        for task in &running {
            let _ = api.handle.ask(Input::Cancel { by: caller.actor(), task: *task }).await;
        }
        wait_until_over(&api, &running).await;
    }
    // Full means that somebody has asked already.
    let _ = api.stop.try_send(());
    Ok(Json(Document::new(Stopping { cancelled })))
}

async fn wait_until_over(api: &Api, tasks: &[TaskId]) {
    let mut news = api.handle.reader().news();
    let over = |id: &TaskId| api.handle.model().tasks.get(id).is_none_or(|task| task.is_finished());
    while !tasks.iter().all(over) {
        if let Err(tokio::sync::broadcast::error::RecvError::Closed) = news.recv().await {
            return;
        }
    }
}
