//! Channels with their state, and messages that could not be delivered.

use crate::api::{Api, ApiError, notify};
use crate::web::form::Sent;
use crate::web::moment::Moment;
use crate::web::notifications::tested;
use crate::web::page::{PageResult, page};
use crate::web::page_context::{PageContext, Visit};
use askama::Template;
use axum::extract::State;
use danlu_core::Refusal;
use danlu_messages::web::pages;
use danlu_wire::api::{ChannelView, MessageView};

/// Of each list: the command line shows more.
const ROWS: u32 = 50;

#[derive(Template)]
#[template(path = "admin_notify.html")]
struct NotifyPage<'a> {
    context: &'a PageContext,
    channels: Vec<ChannelView>,
    waiting: Vec<MessageView>,
    failed: Vec<MessageView>,
}

pub(in crate::web) async fn list(State(api): State<Api>, visit: Visit) -> PageResult {
    let caller = &visit.caller;
    let refused = || ApiError::from(Refusal::AdminOnly);
    caller.admin.then_some(()).ok_or_else(refused).map_err(visit.no())?;
    let failed = notify::message_views(&api, caller, true, ROWS).await.map_err(visit.no())?;
    let newest = notify::message_views(&api, caller, false, 1_000).await.map_err(visit.no())?;
    let waiting = newest.into_iter().filter(|it| it.state == "waiting").take(ROWS as usize);
    let (context, channels) = (&visit.context, notify::channel_views(&api, caller));
    Ok(page(&NotifyPage { context, channels, waiting: waiting.collect(), failed }))
}

pub(in crate::web) async fn test(State(api): State<Api>, sent: Sent) -> PageResult {
    let to = sent.field("to");
    let done = notify::send_test(&api, &sent.visit.caller, Some(to)).await;
    Ok(tested(&sent, done.map_err(sent.visit.no())?.tests))
}

impl NotifyPage<'_> {
    fn time(&self, text: &str) -> Moment {
        Moment::read(text, self.context.now)
            .unwrap_or(Moment::new(self.context.now, self.context.now))
    }

    fn in_a_row(&self, count: &u32) -> String {
        pages::failures_in_a_row(count)
    }
}
