//! `GET /events?after=`: past events, then new ones as they are committed.

use super::caller::Caller;
use super::streams::StreamPermit;
use super::view::rfc3339;
use super::{Api, ApiError};
use crate::read_model::{News, ReadModel};
use crate::store::{Store, StoredEvent};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use danlu_core::{RowKey, TaskId, Time};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::broadcast::error::RecvError;

/// Read from the store at once.
const PAGE: u32 = 500;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EventsQuery {
    /// The id of the last one that is known; 0 for all that are kept. Unless told, what happens from now on.
    after: Option<i64>,
}

pub(super) async fn stream(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
    query: Result<Query<EventsQuery>, QueryRejection>,
) -> Result<Sse<impl futures_core::Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let Query(EventsQuery { after }) = query?;
    // A reconnecting browser says where it stopped.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let after = match last.or(after) {
        Some(after) => after,
        None => api.handle.read(Store::newest_event).await?,
    };
    let open = api.streams.open(&caller)?;
    Ok(Sse::new(follow(api, caller, after, open)).keep_alive(KeepAlive::default()))
}

fn follow(
    api: Api,
    caller: Caller,
    mut after: i64,
    open: StreamPermit,
) -> impl futures_core::Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        let (watched, watching) = (api.clone(), caller.clone());
        let mut thrown_out = pin!(watching.thrown_out(&watched));
        // Subscribed before the store is read, so that no event is missed.
        let mut news = api.handle.reader().news();
        loop {
            // What has happened before.
            loop {
                let page = move |store: &Store| store.events_after(after, PAGE);
                let Ok(Ok(events)) = api.handle.read(page).await else { return };
                let Some(last) = events.last() else { break };
                after = last.number;
                if !caller.is_still_in(&api) {
                    return;
                }
                let Ok(told) = of_store(&api, &caller, events).await else { return };
                for event in told {
                    yield Ok(event);
                }
            }
            // New events come from the read model's publisher, so that not every stream asks the engine.
            loop {
                let piece = tokio::select! {
                    piece = news.recv() => piece,
                    () = &mut thrown_out => return,
                };
                let piece = match piece {
                    Ok(piece) => piece,
                    Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return,
                };
                if piece.first() > after + 1 {
                    break;
                }
                if !caller.is_still_in(&api) {
                    return;
                }
                let Ok(told) = of_news(&api, &caller, &piece, after).await else { return };
                for (number, data) in told {
                    yield Ok(Event::default().id(number.to_string()).data(data));
                }
                after = after.max(piece.first() + piece.events.len() as i64 - 1);
                // Many streams send the events of an interval together.
                if let Some(pause) = open.pause() {
                    tokio::time::sleep(pause).await;
                }
            }
        }
    }
}

/// What the caller may see of them.
async fn of_store(
    api: &Api,
    caller: &Caller,
    stored: Vec<StoredEvent>,
) -> Result<Vec<Event>, ApiError> {
    let model = model_of(api, caller, stored.iter().map(|stored| &stored.event)).await?;
    let visibility = caller.visibility(&model);
    let told = stored.into_iter().filter_map(|StoredEvent { number, at, event }| {
        let data = encoded(at, &visibility.event(event)?)?;
        Some(Event::default().id(number.to_string()).data(data))
    });
    Ok(told.collect())
}

/// A read model that tells whose tasks the events are about, for callers who do not see them all.
async fn model_of(
    api: &Api,
    caller: &Caller,
    events: impl Iterator<Item = &danlu_core::Event>,
) -> Result<Arc<ReadModel>, ApiError> {
    let task = |key| match key {
        RowKey::Task(id) => Some(id),
        _ => None,
    };
    // What has to do with the history only is told to nobody.
    let told = events.filter(|event| !is_internal(event));
    let rows = told.flat_map(danlu_core::Event::rows);
    let tasks: BTreeSet<TaskId> = match caller.visibility(&api.handle.model()).is_whole() {
        true => BTreeSet::new(),
        false => rows.filter_map(task).collect(),
    };
    api.model_with(&tasks.into_iter().collect::<Vec<_>>()).await
}

/// The events after the number that the caller may see.
async fn of_news(
    api: &Api,
    caller: &Caller,
    news: &News,
    after: i64,
) -> Result<Vec<(i64, String)>, ApiError> {
    let model = model_of(api, caller, news.events.iter().map(|(_, event)| event)).await?;
    let visibility = caller.visibility(&model);
    let numbered = (news.first()..).zip(&news.events).enumerate();
    let new = numbered.filter(|(_, (number, _))| *number > after);
    let told = new.filter_map(|(index, (number, (at, event)))| {
        let data = if visibility.is_whole() {
            news.encoded(encoded).get(index)?.clone()
        } else {
            encoded(*at, &visibility.event(event.clone())?)
        };
        Some((number, data?))
    });
    Ok(told.collect())
}

/// A task is the same whether it is live or in the history.
fn is_internal(event: &danlu_core::Event) -> bool {
    use danlu_core::Event::{TaskRecalled, TasksRetired};
    matches!(event, TasksRetired { .. } | TaskRecalled { .. })
}

/// `{"type": "run_ended", "at": …, "task": 12, …}`; `None` for what is internal.
fn encoded(at: Time, event: &danlu_core::Event) -> Option<String> {
    if is_internal(event) {
        return None;
    }
    let (kind, mut fields) = match serde_json::to_value(event).ok()? {
        Value::String(kind) => (kind, Map::new()),
        Value::Object(tagged) => {
            let (kind, fields) = tagged.into_iter().next()?;
            (kind, fields.as_object().cloned().unwrap_or_default())
        }
        _ => return None,
    };
    fields.insert(String::from("type"), json!(kind));
    fields.insert(String::from("at"), json!(rfc3339(at)));
    serde_json::to_string(&fields).ok()
}
