//! The page with the server's own log.

use crate::api::{Api, server_log};
use crate::daemon::config::LogLevel;
use crate::daemon::logging;
use crate::web::page::{PageError, PageResult, page};
use crate::web::page_context::{PageContext, Visit};
use askama::Template;
use axum::extract::{Query, State};
use danlu_core::Refusal;
use danlu_messages::web::pages;
use serde::Deserialize;

/// Lines on the page.
const LINES: u64 = 500;

#[derive(Template)]
#[template(path = "admin_log.html")]
struct ServerLogPage<'a> {
    context: &'a PageContext,
    query: &'a LogPageQuery,
    levels: [&'static str; 5],
    path: String,
    lines: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct LogPageQuery {
    level: String,
    text: String,
    since: String,
}

pub(in crate::web) async fn show(
    State(api): State<Api>,
    visit: Visit,
    Query(query): Query<LogPageQuery>,
) -> PageResult {
    if !visit.caller.admin {
        return Err(PageError::new(visit.context, Refusal::AdminOnly));
    }
    let wanted = server_log::ServerLogQuery {
        tail: Some(LINES),
        level: Some(query.level.clone()),
        text: Some(query.text.clone()),
        since: Some(query.since.trim().to_owned()),
        ..server_log::ServerLogQuery::default()
    };
    let lines = server_log::last_lines(&api, &wanted).await.map_err(visit.no())?;
    Ok(page(&ServerLogPage {
        context: &visit.context,
        query: &query,
        levels: LogLevel::ALL.map(LogLevel::as_str),
        path: logging::path(&api.config.data, &api.config.log).display().to_string(),
        lines,
    }))
}
