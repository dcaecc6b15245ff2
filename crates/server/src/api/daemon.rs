//! The server itself: version and health, stop.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::daemon::secrets::Secrets;
use axum::extract::State;
use danlu_core::{Input, TaskId};
use danlu_messages::errors;
use danlu_wire::api::{Document, ErrorCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

pub(super) async fn whoami(caller: Caller) -> Json<Value> {
    Json(json!({
        "v": 1,
        "user": caller.name,
        "admin": caller.admin,
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

pub(super) async fn config(State(api): State<Api>, _caller: Caller) -> Json<Document<Value>> {
    Json(Document::new(json!({ "config": api.config.entries() })))
}

/// What the file says now is checked. What it says about GPUs, machines and limits is taken over; of the rest it tells what will be
/// different after the next start.
pub(super) async fn reload(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<Value>>, ApiError> {
    caller.require_admin()?;
    let newer = api.config.again().map_err(|error| {
        let hint = errors::configuration_kept();
        ApiError::new(ErrorCode::Refused, error.to_string(), hint)
    })?;
    let secrets = Secrets::open(&newer).map_err(|error| {
        ApiError::new(ErrorCode::Refused, error.to_string(), errors::configuration_kept())
    })?;
    api.take_over(secrets).await;
    crate::daemon::serve::configure_node(&api.handle, &newer).await?;
    api.count_if(newer.counts());
    api.set_limits(&newer.limits);
    api.set_sampling(&newer.sampling);
    api.nodes.apply(&api.handle, &newer).await;
    Ok(Json(Document::new(json!({ "after_restart": api.config.changed(&newer) }))))
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
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
    body: Result<Json<Stop>, ApiError>,
) -> Result<Json<Document<Stopping>>, ApiError> {
    caller.require_admin()?;
    let Json(Stop { cancel_tasks }) = body?;
    let cancelled = match cancel_tasks {
        true => cancel_and_stop(&api, &caller).await.unwrap_or(0),
        false => 0,
    };
    stop_soon(&api);
    Ok(Json(Document::new(Stopping { cancelled })))
}

pub(crate) fn stop_soon(api: &Api) {
    // A full channel means that a stop was already requested.
    let _ = api.stop.try_send(());
}

/// Runs to its end even if the caller has gone.
pub(crate) fn cancel_and_stop(api: &Api, caller: &Caller) -> tokio::task::JoinHandle<usize> {
    let (api, caller) = (api.clone(), caller.clone());
    tokio::spawn(async move {
        let cancelled = cancel_running(&api, &caller).await;
        stop_soon(&api);
        cancelled
    })
}

/// No other tasks are started in their place.
async fn cancel_running(api: &Api, caller: &Caller) -> usize {
    let by = caller.actor();
    api.handle.close_queue();
    // After a reply of the engine, all earlier launches have been published.
    let _ = api.handle.read(|_| ()).await;
    let model = api.handle.model();
    let running: Vec<TaskId> = model.active_runs().map(|run| run.task).collect();
    let asked: Vec<_> =
        running.iter().map(|task| caller.begin(api, Input::Cancel { by, task: *task })).collect();
    for answer in asked {
        // A task that has ended meanwhile need not be cancelled.
        let _ = answer.wait().await;
    }
    wait_until_over(api, &running).await;
    running.len()
}

async fn wait_until_over(api: &Api, tasks: &[TaskId]) {
    let mut news = api.handle.reader().news();
    // A machine that is away gets the order when it is back, which may take any time.
    let over = |id: &TaskId| {
        let model = api.handle.model();
        let lost = |run: &danlu_core::Run| super::view::is_lost(&model, run);
        model.tasks.get(id).is_none_or(|task| task.is_finished())
            || model.runs_of(*id).filter(|run| !run.is_ended()).all(lost)
    };
    while !tasks.iter().all(over) {
        if let Err(tokio::sync::broadcast::error::RecvError::Closed) = news.recv().await {
            return;
        }
    }
}
