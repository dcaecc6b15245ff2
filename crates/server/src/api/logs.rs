//! Output of a run: a range, the tail, or everything as it is written.

use super::caller::Caller;
use super::streams::StreamPermit;
use super::{Api, ApiError};
use crate::fleet::remote::LastOutput;
use crate::fleet::run_logs::{self as store, RunLog, Which};
use crate::read_model::{News, ReadModel};
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use danlu_core::{NodeId, Refusal, RowKey, Run, RunId, TaskId};
use danlu_messages::errors;
use danlu_wire::agent::{LogPlace, LogStart};
use danlu_wire::launch::Sink;
use futures_core::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use std::convert::Infallible;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::broadcast;

/// Bytes in one answer, unless less is asked for.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LogQuery {
    /// The attempt, 1 for the first; the last unless told.
    run: Option<u32>,
    /// Which part of a run on several machines; the first unless told.
    node: Option<String>,
    stream: Option<Which>,
    offset: Option<u64>,
    /// The last so many lines.
    tail: Option<u64>,
    limit: Option<u64>,
}

pub(super) async fn logs(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
    query: Result<Query<LogQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let Path(id) = path?;
    let Query(mut query) = query?;
    // A reconnecting browser says where it stopped.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    query.offset = last.or(query.offset);
    let run = find_run(&api, &caller, TaskId(id), query.run).await?;
    let model = api.model_with(&[TaskId(id)]).await?;
    let part = query.node.as_deref().map(|name| find_part(&model, run, name)).transpose()?;
    let which = (query.stream.unwrap_or_default(), part);
    let follow = headers.get(header::ACCEPT).is_some_and(|accept| accept == "text/event-stream");
    let log = open_part(&api, TaskId(id), run, which).await?;
    let mut log = log;
    let start = match query.start(&mut log).await {
        // A follower gets more when the machine is back.
        Err(error) if follow && error.kind() == ErrorKind::NotConnected => {
            query.offset.unwrap_or(0)
        }
        Err(error) => return last_lines(&api, run, &query, error),
        Ok(start) => start,
    };
    if follow {
        let open = api.streams.open(&caller)?;
        let log = follow_log(api, (caller, open), TaskId(id), run, which, log, start);
        return Ok(Sse::new(log).into_response());
    }
    let over = is_over(&api, run);
    match query.part(log, start, over).await {
        Ok(answer) => Ok(answer),
        Err(error) => last_lines(&api, run, &query, error),
    }
}

/// The saved last lines of a log whose machine is away.
fn last_lines(
    api: &Api,
    run: RunId,
    query: &LogQuery,
    error: std::io::Error,
) -> Result<Response, ApiError> {
    let away = error.kind() == ErrorKind::NotConnected;
    let kept = away.then(|| api.nodes.last_lines(run)).flatten();
    let Some(LastOutput { at, offset, bytes }) =
        kept.map(|kept| match (query.offset, query.tail) {
            (None, Some(lines)) => kept.tail(lines),
            (Some(_), _) | (None, None) => kept,
        })
    else {
        return Err(unreadable(error));
    };
    let end = offset + bytes.len() as u64;
    let from = query.offset.unwrap_or(0).clamp(offset, end);
    let skipped = usize::try_from(from - offset).unwrap_or(bytes.len());
    let answer = Response::builder()
        .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
        .header("x-danlu-offset", end)
        .header("x-danlu-size", end)
        .header("x-danlu-ended", "false")
        .header("x-danlu-kept-at", super::rfc3339(at))
        .body(Body::from(bytes[skipped..].to_vec()));
    Ok(answer.unwrap_or_default())
}

impl LogQuery {
    async fn start(&self, log: &mut RunLog) -> std::io::Result<u64> {
        let from = match (self.offset, self.tail) {
            (Some(offset), _) => LogStart::Offset(offset),
            (None, Some(lines)) => LogStart::Tail(lines),
            (None, None) => LogStart::Offset(0),
        };
        log.start(from).await
    }

    async fn part(&self, mut log: RunLog, start: u64, over: bool) -> std::io::Result<Response> {
        let limit = self.limit.unwrap_or(MOST_BYTES).min(MOST_BYTES);
        let (bytes, size) = log.read(start, limit).await?;
        let answer = Response::builder()
            .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
            .header("x-danlu-offset", start + bytes.len() as u64)
            .header("x-danlu-size", size)
            .header("x-danlu-ended", if over { "true" } else { "false" })
            .body(Body::from(bytes));
        Ok(answer.unwrap_or_default())
    }
}

pub(crate) async fn find_run(
    api: &Api,
    caller: &Caller,
    id: TaskId,
    attempt: Option<u32>,
) -> Result<RunId, ApiError> {
    let model = api.model_with(&[id]).await?;
    let task = model.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    caller.may_see_inside(&model, task)?;
    let query = |run: &&Run| attempt.is_none_or(|attempt| run.attempt == attempt);
    let run = model.runs_of(id).filter(query).last().map(|run| run.id);
    run.ok_or_else(|| match attempt {
        None => ApiError::not_found(
            errors::task_id_has_not_run_yet(&id),
            errors::danlu_why_id_tells_why_it_waits(),
        ),
        Some(attempt) => ApiError::not_found(
            errors::task_id_has_no_attempt_attempt(&id, &attempt),
            errors::danlu_show_id_lists_them(),
        ),
    })
}

fn find_part(model: &ReadModel, run: RunId, name: &str) -> Result<NodeId, ApiError> {
    let parts = model.runs.get(&run).into_iter().flat_map(|run| &run.parts);
    let mut nodes = parts.filter_map(|part| model.nodes.get(&part.node));
    let node = nodes.find(|node| node.name == name).map(|node| node.id);
    node.ok_or_else(|| {
        ApiError::not_found(
            errors::did_not_run_on(&name),
            errors::danlu_show_id_lists_where_it_ran(),
        )
    })
}

/// Of the first part of a run.
pub(crate) async fn open(
    api: &Api,
    task: TaskId,
    run: RunId,
    which: Which,
) -> Result<RunLog, ApiError> {
    open_part(api, task, run, (which, None)).await
}

async fn open_part(
    api: &Api,
    task: TaskId,
    run: RunId,
    (which, part): (Which, Option<NodeId>),
) -> Result<RunLog, ApiError> {
    let model = api.model_with(&[task]).await?;
    let (node, place, shared, owner) = {
        let task = model.tasks.get(&task).ok_or(Refusal::NoSuchTask(task))?;
        let first = || model.runs.get(&run).and_then(|run| Some(run.parts.first()?.node));
        let node = part.or_else(first);
        let there = node.filter(|node| api.nodes.is_remote(&model, *node));
        let place = store::place_of(&model, &api.logins, task, run, node, which);
        let name = node.and_then(|node| Some(&model.nodes.get(&node)?.name));
        let shared = there.and(name).and_then(|name| api.nodes.shared_logs(name));
        (there, place, shared, task.owner)
    };
    drop(model);
    if let Some(directory) = shared.filter(|_| place.sink == Sink::Log) {
        let shared = LogPlace { sink: store::shared(&directory, run), ..place.clone() };
        if let Ok(log) = open_theirs(api, shared.clone()).await {
            return Ok(log);
        }
        // The run's user may be another one here. One that began before the directory was shared is on its machine.
        if let Some(log) = node.map(|node| api.nodes.log(node, shared, owner)) {
            match log.read(LogStart::Offset(0), 0).await {
                Ok(_) => return Ok(RunLog::There(log)),
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(unreadable(error));
                }
                Err(_) => {}
            }
        }
    }
    match (node, &place.sink) {
        (Some(node), _) => Ok(RunLog::There(api.nodes.log(node, place, owner))),
        (None, Sink::File { .. }) => open_theirs(api, place).await.map_err(unreadable),
        (None, Sink::Log | Sink::Discard) => {
            RunLog::here(&api.files, &place).await.map_err(unreadable)
        }
    }
}

/// A server without root runs everything as itself.
async fn open_theirs(api: &Api, place: LogPlace) -> std::io::Result<RunLog> {
    let user = (api.own_uid == 0).then(|| place.owner.clone());
    RunLog::theirs(&api.user_files, user, place).await
}

#[allow(clippy::too_many_arguments, reason = "where the log is and how far it has been read")]
fn follow_log(
    api: Api,
    (caller, open): (Caller, StreamPermit),
    task: TaskId,
    run: RunId,
    which: (Which, Option<NodeId>),
    mut log: RunLog,
    mut offset: u64,
) -> impl Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        let _open = open;
        let (watched, watching) = (api.clone(), caller.clone());
        let mut thrown_out = pin!(watching.thrown_out(&watched));
        let mut news = api.handle.reader().news();
        loop {
            // Checked before the file is read: output in between comes with the next round.
            let over = is_over(&api, run);
            log.start_watching();
            loop {
                // The machine may come back.
                let (bytes, _) = log.read(offset, MOST_BYTES).await.unwrap_or_default();
                if bytes.is_empty() {
                    break;
                }
                offset += bytes.len() as u64;
                let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
                let event = Event::default().event("data").id(offset.to_string()).json_data(serde_json::json!({
                    "offset": offset,
                    "base64": text,
                }));
                if let Ok(event) = event {
                    yield Ok(event);
                }
            }
            if !caller.is_still_in(&api) {
                return;
            }
            if over {
                yield Ok(Event::default().event("end").data("{}"));
                return;
            }
            tokio::select! {
                () = log.changed(offset) => {}
                () = news_of(&mut news, task) => {}
                () = &mut thrown_out => return,
            }
            if log.may_move()
                && let Ok(reopened) = open_part(&api, task, run, which).await {
                log = reopened.keeping_watch(log);
            }
        }
    }
}

/// Returns when the task has changed, or may have.
async fn news_of(news: &mut broadcast::Receiver<Arc<News>>, task: TaskId) {
    let is_of_task = |event: &danlu_core::Event| event.rows().contains(&RowKey::Task(task));
    while let Ok(piece) = news.recv().await {
        if piece.events.iter().any(|(_, event)| is_of_task(event)) {
            return;
        }
    }
}

/// One that has left the read model has ended.
fn is_over(api: &Api, run: RunId) -> bool {
    api.handle.model().runs.get(&run).is_none_or(|run| run.is_ended())
}

#[allow(clippy::needless_pass_by_value, reason = "handed to map_err")]
pub(super) fn unreadable(error: std::io::Error) -> ApiError {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            ApiError::not_found(errors::no_log_yet(), errors::see_task_state())
        }
        std::io::ErrorKind::PermissionDenied => ApiError::not_permitted(
            errors::log_of_another_owner(),
            errors::look_at_the_file_itself(),
        ),
        std::io::ErrorKind::TimedOut | std::io::ErrorKind::ResourceBusy => ApiError::new(
            danlu_wire::api::ErrorCode::Unavailable,
            errors::log_file_system_stuck(),
            errors::check_log_disk(),
        ),
        std::io::ErrorKind::NotConnected => ApiError::new(
            danlu_wire::api::ErrorCode::Unavailable,
            errors::log_machine_unreachable(),
            errors::log_after_reconnect(),
        ),
        _ => ApiError::new(
            danlu_wire::api::ErrorCode::Internal,
            errors::log_unreadable(&error),
            errors::see_that_the_disk_is_in_order(),
        ),
    }
}
