//! Tells open pages that something has changed, so that they reload their contents.

use super::page_context::Visit;
use crate::api::{Api, ApiError};
use crate::read_model::News;
use async_stream::stream;
use axum::extract::{Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use danlu_core::{RowKey, TaskId};
use futures_core::Stream;
use serde::Deserialize;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// Updates more often than this cannot be read.
const AT_MOST_EVERY: Duration = Duration::from_millis(500);
/// Proxies close what is quiet for a minute.
const STILL_THERE: Duration = Duration::from_secs(45);

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LiveQuery {
    /// The page is about this task.
    task: Option<u64>,
}

pub(super) async fn live(
    State(api): State<Api>,
    visit: Visit,
    Query(query): Query<LiveQuery>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let open = api.streams.open(&visit.caller)?;
    let mut news = api.handle.reader().news();
    let changes = stream! {
        let _open = open;
        let (watched, caller) = (api.clone(), visit.caller.clone());
        let mut thrown_out = pin!(caller.thrown_out(&watched));
        yield Ok(Event::default().event("hello").data("1"));
        loop {
            let first = tokio::select! {
                news = news.recv() => news,
                () = &mut thrown_out => return,
            };
            if !visit.caller.is_still_in(&api) {
                return;
            }
            let mut concerns = match &first {
                Ok(piece) => is_about(&api, query.task, piece),
                Err(RecvError::Lagged(_)) => true,
                Err(RecvError::Closed) => return,
            };
            // All that has come by now is in the same change.
            loop {
                concerns |= match news.try_recv() {
                    Ok(piece) => is_about(&api, query.task, &piece),
                    Err(TryRecvError::Lagged(_)) => true,
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                };
            }
            if !concerns {
                continue;
            }
            yield Ok(Event::default().event("changed").data("1"));
            tokio::time::sleep(AT_MOST_EVERY).await;
        }
    };
    Ok(Sse::new(changes).keep_alive(KeepAlive::new().interval(STILL_THERE)))
}

/// Why a task waits depends on all others; one that runs or has ended changes by its own events.
fn is_about(api: &Api, task: Option<u64>, news: &News) -> bool {
    let Some(id) = task.map(TaskId) else { return true };
    let model = api.handle.model();
    let is_of_task = |row: &RowKey| match row {
        RowKey::Task(task) => *task == id,
        RowKey::Run(run) => model.runs.get(run).is_none_or(|run| run.task == id),
        // Its machine is away, or back.
        RowKey::Node(node) => {
            model.runs_of(id).last().is_some_and(|run| run.part_on(*node).is_some())
        }
        RowKey::Ledger
        | RowKey::User(_)
        | RowKey::Spec(_)
        | RowKey::LogRemoval(_)
        | RowKey::PastWork(_) => false,
    };
    let waits = model.briefs.get(&id).is_some_and(crate::read_model::Brief::is_waiting);
    waits || news.events.iter().any(|(_, event)| event.rows().iter().any(is_of_task))
}
