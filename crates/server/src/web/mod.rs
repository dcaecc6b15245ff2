//! The web pages: rendered by the server, updated by JavaScript where it is available.

mod acts;
mod admin;
mod amounts;
mod assets;
mod charts;
mod form;
mod gpu_map;
mod gpus;
mod live;
mod log_file;
mod login;
mod manual;
mod me;
mod moment;
mod new;
mod nodes;
mod notifications;
mod overview;
mod page;
mod page_context;
mod preferences;
mod reasons;
pub(crate) mod report_svg;
mod reports;
mod rows;
mod secrets;
mod security;
mod setup;
mod states;
mod task;
mod task_query;
mod tasks;

use crate::api::{Api, ApiError};
use axum::extract::{DefaultBodyLimit, FromRequestParts as _, Request, State};
use axum::http::header;
use axum::middleware;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use page::PageError;
use page_context::{PageContext, Visit};
use std::sync::Arc;

/// A form: a pasted script is the largest thing in one.
const MOST_FORM_BYTES: usize = 2 << 20;

/// For browsers a page; for programs, and for everything under `/api`, JSON.
pub(crate) async fn no_such_page(State(api): State<Api>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let accepted = parts.headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok());
    let browser = accepted.is_some_and(|kinds| kinds.contains("text/html"));
    let error = ApiError::no_such_page();
    if !browser || parts.uri.path().starts_with("/api") {
        return error.into_response();
    }
    let context = match Visit::from_request_parts(&mut parts, &api).await {
        Ok(visit) => visit.context,
        Err(_) => PageContext::new(&api, &parts.headers, &parts.uri, None),
    };
    security::headers(PageError::new(context, error).into_response()).await
}

pub(crate) fn router() -> Router<Api> {
    // These requests are unauthenticated, so their bodies are limited.
    let short = DefaultBodyLimit::max(crate::api::session::MOST_BYTES);
    Router::new()
        .route("/", get(overview::overview))
        .route("/tasks", get(tasks::tasks))
        .route("/tasks/act", post(acts::act))
        .route("/tasks/{id}", get(task::task))
        .route("/tasks/{id}/keep", get(acts::keep))
        .route("/tasks/{id}/log", get(log_file::download))
        .route("/new", get(new::form).post(new::send))
        .route("/gpus", get(gpus::gpus))
        .route("/gpus/act", post(gpus::act))
        .route("/gpus/{gpu}", get(gpus::one))
        .route("/nodes", get(nodes::list).post(nodes::add))
        .route("/nodes/{name}", get(nodes::one).post(nodes::act))
        .route("/reports", get(reports::reports))
        .route("/login", get(login::form).post(login::log_in).layer(short))
        .route("/setup", get(setup::form).post(setup::send).layer(short))
        .route("/me", get(me::me))
        .route("/me/session", post(login::log_out))
        .route("/me/password", post(me::password))
        .route("/me/profile", post(me::profile))
        .route("/me/notify", post(notifications::change))
        .route("/me/nodes", post(me::nodes))
        .route("/me/template", post(me::template))
        .route("/me/tokens", post(me::tokens))
        .route("/me/sessions", post(me::sessions))
        .route("/admin", get(admin::users::list).post(admin::users::change))
        .route("/admin/users", post(admin::users::add))
        .route("/admin/settings", get(admin::settings::list).post(admin::settings::change))
        .route("/admin/quotas", get(admin::quotas::list).post(admin::quotas::change))
        .route("/admin/commands", get(admin::commands::form).post(admin::commands::send))
        .route("/admin/notices", post(admin::notices::acknowledge))
        .route("/admin/notify", get(admin::notify::list))
        .route("/admin/notify/test", post(admin::notify::test))
        .route("/admin/audit", get(admin::audit::list))
        .route("/admin/log", get(admin::server_log::show))
        .route("/preferences", post(preferences::change))
        .route("/docs/api", get(manual::manual))
        .route("/live", get(live::live))
        .route("/assets/{name}", get(assets::asset))
        .layer(Extension(Arc::new(overview::OverviewCache::default())))
        .layer(DefaultBodyLimit::max(MOST_FORM_BYTES))
        .layer(middleware::map_response(security::headers))
}
