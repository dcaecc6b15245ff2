//! `/api/v1` over HTTP. Reads come from the read model; changes go to the engine and are answered when durable.

mod accounts;
pub(crate) mod audit;
pub(crate) mod caller;
mod cluster;
mod daemon;
mod error;
mod events;
mod filter;
mod logs;
pub(crate) mod me;
mod overview;
mod reports;
pub(crate) mod session;
mod settings;
pub(crate) mod setup;
mod submit;
mod tasks;
pub(crate) mod tokens;
pub(crate) mod users;
mod view;
mod words;

pub use accounts::Accounts;
pub use caller::Peer;
pub(crate) use error::ApiError;

use crate::auth::Auth;
use crate::handle::Handle;
use crate::launch::RunFiles;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{delete, get, patch, post};
use danlu_wire::api::MOST_BODY_BYTES;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What every handler can reach.
#[derive(Debug, Clone)]
pub struct Api {
    pub handle: Handle,
    pub files: Arc<RunFiles>,
    pub config: Arc<crate::config::Config>,
    pub live: crate::backend::LiveGpus,
    pub accounts: Arc<Accounts>,
    pub auth: Arc<Auth>,
    /// Tells the process to end.
    pub stop: mpsc::Sender<()>,
    /// The user the daemon runs as, who is an admin like root.
    pub own_uid: u32,
}

/// For the Unix socket, whose callers are known by their credentials, and for the network, where they have a token or a
/// session.
pub fn router(api: Api) -> Router {
    let v1 = Router::new()
        .route("/tasks", get(tasks::list).post(submit::submit))
        .route("/tasks/act", post(tasks::act_on_many))
        .route("/tasks/{id}", get(tasks::one).patch(submit::edit).delete(tasks::remove))
        .route("/tasks/{id}/why", get(tasks::why))
        .route("/tasks/{id}/logs", get(logs::logs))
        .route("/tasks/{id}/{act}", post(tasks::act))
        .route("/overview", get(overview::overview))
        .route("/events", get(events::stream))
        .route("/wait", get(tasks::wait))
        .route("/dependents", get(tasks::dependents))
        .route("/gpus", get(cluster::gpus))
        .route("/gpus/act", post(cluster::manage))
        .route("/nodes", get(cluster::nodes))
        .route("/status", get(cluster::status))
        .route("/settings", get(settings::show).patch(settings::change))
        .route("/users", get(users::list).post(users::add))
        .route("/users/{name}", patch(users::change).delete(users::remove))
        .route("/users/{name}/password", post(users::password))
        .route("/me", get(me::show).patch(me::change))
        .route("/me/password", post(me::password))
        .route("/me/template", get(me::show_template).put(me::set_template))
        .route("/session", post(session::log_in).delete(session::log_out))
        .route("/setup", post(setup::set_up))
        .route("/sessions", get(session::list))
        .route("/sessions/{id}", delete(session::end))
        .route("/tokens", get(tokens::list).post(tokens::make))
        .route("/tokens/{id}", delete(tokens::revoke))
        .route("/audit", get(audit::list))
        .route("/reports/predictions", get(reports::predictions))
        .route("/config", get(daemon::config))
        .route("/whoami", get(daemon::whoami))
        .route("/server/logs", get(logs::of_server))
        .route("/server/reload", post(daemon::reload))
        .route("/server/stop", post(daemon::stop))
        .layer(DefaultBodyLimit::max(MOST_BODY_BYTES));
    Router::new()
        .nest("/api/v1", v1)
        .route("/healthz", get(daemon::healthz))
        .fallback(no_such_page)
        .method_not_allowed_fallback(wrong_method)
        .with_state(api)
}

async fn no_such_page() -> ApiError {
    ApiError::not_found("there is no such page", "danlu --help lists what there is")
}

async fn wrong_method() -> (StatusCode, ApiError) {
    let error = ApiError::bad_request("this page does not answer that method", "GET it");
    (StatusCode::METHOD_NOT_ALLOWED, error)
}
