//! What happens, as it happens, and what has happened since: `GET /events?after=`.

use super::caller::Caller;
use super::view::rfc3339;
use super::{Api, ApiError};
use crate::store::{Store, StoredEvent};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_core::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::convert::Infallible;
use tokio::sync::broadcast::error::RecvError;

/// Read from the store at once.
const PAGE: u32 = 500;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Wanted {
    /// The id of the last one that is known; 0 for all that are kept. Unless told, what happens from now on.
    after: Option<i64>,
}

pub(super) async fn stream(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let Query(Wanted { after }) = wanted?;
    // A browser that was cut off says where.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    let after = match last.or(after) {
        Some(after) => after,
        None => api.handle.look(|_, store: &Store, _| store.newest_event()).await?,
    };
    Ok(Sse::new(follow(api, caller, after)).keep_alive(KeepAlive::default()))
}

fn follow(
    api: Api,
    caller: Caller,
    mut after: i64,
) -> impl Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        // Before the store is read: what comes in between wakes us.
        let mut news = api.handle.reader().news();
        loop {
            loop {
                let page = move |_: &danlu_core::State, store: &Store, _| store.events_after(after, PAGE);
                let Ok(Ok(events)) = api.handle.look(page).await else { return };
                let Some(last) = events.last() else { break };
                after = last.number;
                if !caller.is_still_in(&api) {
                    return;
                }
                for event in events {
                    if let Some(event) = told(&api, &caller, &event) {
                        yield Ok(event);
                    }
                }
            }
            if let Err(RecvError::Closed) = news.recv().await {
                return;
            }
        }
    }
}

/// `{"type": "run_ended", "at": …, "task": 12, …}`; `None` where it is none of the caller's business.
fn told(api: &Api, caller: &Caller, stored: &StoredEvent) -> Option<Event> {
    let model = api.handle.model();
    let event = caller.sight(&model).event(stored.event.clone())?;
    let (kind, mut fields) = match serde_json::to_value(&event).ok()? {
        Value::String(kind) => (kind, Map::new()),
        Value::Object(tagged) => {
            let (kind, fields) = tagged.into_iter().next()?;
            (kind, fields.as_object().cloned().unwrap_or_default())
        }
        _ => return None,
    };
    fields.insert(String::from("type"), json!(kind));
    fields.insert(String::from("at"), json!(rfc3339(stored.at)));
    let event = Event::default().id(stored.number.to_string());
    event.json_data(Value::Object(fields)).ok()
}
