//! The pages that people see in a browser: rendered here, live where JavaScript is there.

mod acts;
mod admin;
mod amounts;
mod assets;
mod charts;
mod form;
mod gpu_map;
mod gpus;
mod language;
mod live;
mod log_file;
mod login;
mod look;
mod me;
mod moment;
mod new;
mod overview;
mod page;
mod preferences;
mod reasons;
mod rows;
mod secrets;
mod security;
mod setup;
mod states;
mod task;
mod tasks;

use crate::api::Api;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};
use axum::{Extension, Router};
use std::sync::Arc;

/// A form: a pasted script is the largest thing in one.
const MOST_FORM_BYTES: usize = 2 << 20;

pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/", get(overview::overview))
        .route("/tasks", get(tasks::tasks))
        .route("/tasks/act", post(acts::act))
        .route("/tasks/{id}", get(task::task))
        .route("/tasks/{id}/log", get(log_file::download))
        .route("/tasks/{id}/usage", get(charts::usage))
        .route("/new", get(new::form).post(new::send))
        .route("/gpus", get(gpus::gpus))
        .route("/gpus/act", post(gpus::act))
        .route("/login", get(login::form).post(login::log_in))
        .route("/setup", get(setup::form).post(setup::send))
        .route("/me", get(me::me))
        .route("/me/session", post(login::log_out))
        .route("/me/password", post(me::password))
        .route("/me/profile", post(me::profile))
        .route("/me/template", post(me::template))
        .route("/me/tokens", post(me::tokens))
        .route("/me/sessions", post(me::sessions))
        .route("/admin", get(admin::users::list).post(admin::users::change))
        .route("/admin/users", post(admin::users::add))
        .route("/admin/settings", get(admin::settings::list).post(admin::settings::change))
        .route("/admin/commands", get(admin::commands::form).post(admin::commands::send))
        .route("/admin/audit", get(admin::audit::list))
        .route("/preferences", post(preferences::change))
        .route("/live", get(live::live))
        .route("/assets/{name}", get(assets::asset))
        .layer(Extension(Arc::new(overview::Kept::default())))
        .layer(DefaultBodyLimit::max(MOST_FORM_BYTES))
        .layer(middleware::map_response(security::headers))
}
