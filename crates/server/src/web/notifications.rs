//! What the reader is told, and where; and a test of it.

use super::acts::done;
use super::form::Sent;
use super::page::{PageResult, page};
use super::page_context::PageContext;
use crate::api::{Api, ApiError, me as account, notify};
use crate::daemon::config::EMAIL;
use askama::Template;
use axum::extract::State;
use axum::response::Response;
use danlu_core::user::UserChange;
use danlu_messages::web::pages;
use danlu_wire::api::{Notify, QuietHours, TestedTarget};

#[derive(Template)]
#[template(path = "notify_tested.html")]
struct TestedPage<'a> {
    context: &'a PageContext,
    tests: Vec<TestedTarget>,
    back: &'a str,
}

/// Keeps what is chosen; with the other button, sends a message there and shows what the other side says.
pub(super) async fn change(State(api): State<Api>, sent: Sent) -> PageResult {
    let caller = &sent.visit.caller;
    let wanted = wanted(&api, &sent);
    if let Err(error) = notify::check_wanted(&api, &wanted) {
        return done(&sent, Err(error));
    }
    let email = Some(sent.field("email").trim().to_owned());
    let change = UserChange { email, ..UserChange::default() };
    if let Err(error) = account::set(&api, caller, change).await {
        return done(&sent, Err(error));
    }
    let kept = api.auth.set_notify(&api.handle, caller.id, wanted, &caller.asker()).await;
    if let Err(error) = kept {
        return done(&sent, Err(ApiError::from(error)));
    }
    if sent.field("test").is_empty() {
        return done(&sent, Ok(()));
    }
    let done = notify::send_test(&api, caller, None).await.map_err(sent.visit.no())?;
    Ok(tested(&sent, done.tests))
}

/// What became of test messages.
pub(super) fn tested(sent: &Sent, tests: Vec<TestedTarget>) -> Response {
    page(&TestedPage { context: &sent.visit.context, tests, back: sent.back() })
}

fn wanted(api: &Api, sent: &Sent) -> Notify {
    let wants = |name: &str| !sent.field(name).is_empty();
    let text = |name: &str| sent.field(name).trim().to_owned();
    let known = api.notifier.channels().known();
    let names = known.names.iter().map(String::as_str).chain([EMAIL]);
    let chosen: Vec<&str> = sent.all("to").collect();
    let quiet = QuietHours {
        from: text("quiet_from"),
        to: text("quiet_to"),
        zone: Some(text("zone")).filter(|zone| !zone.is_empty()),
    };
    Notify {
        start: wants("start"),
        success: wants("success"),
        failure: wants("failure"),
        warning: wants("warning"),
        trouble: wants("trouble"),
        announcement: wants("announcement"),
        channels: names.filter(|name| chosen.contains(name)).map(str::to_owned).collect(),
        quiet: (!quiet.from.is_empty() || !quiet.to.is_empty()).then_some(quiet),
    }
}
