//! Tells open pages that something has changed, so that they reload their contents.

use super::page_context::Visit;
use crate::api::{Api, ApiError};
use async_stream::stream;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_core::Stream;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// Updates more often than this cannot be read.
const AT_MOST_EVERY: Duration = Duration::from_millis(500);
/// Proxies close what is quiet for a minute.
const STILL_THERE: Duration = Duration::from_secs(45);

pub(super) async fn live(
    State(api): State<Api>,
    visit: Visit,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let open = api.streams.open(&visit.caller)?;
    let mut news = api.handle.reader().news();
    let changes = stream! {
        let _open = open;
        let (watched, caller) = (api.clone(), visit.caller.clone());
        let mut thrown_out = pin!(caller.thrown_out(&watched));
        yield Ok(Event::default().event("hello").data("1"));
        loop {
            let closed = tokio::select! {
                news = news.recv() => matches!(news, Err(RecvError::Closed)),
                () = &mut thrown_out => return,
            };
            if closed || !visit.caller.is_still_in(&api) {
                return;
            }
            // All that has come by now is in the same change.
            while let Ok(_) | Err(TryRecvError::Lagged(_)) = news.try_recv() {}
            yield Ok(Event::default().event("changed").data("1"));
            tokio::time::sleep(AT_MOST_EVERY).await;
        }
    };
    Ok(Sse::new(changes).keep_alive(KeepAlive::new().interval(STILL_THERE)))
}
