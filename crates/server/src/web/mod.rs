//! The pages that people see in a browser: rendered here, live where JavaScript is there.

mod acts;
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
mod moment;
mod new;
mod overview;
mod page;
mod preferences;
mod reasons;
mod rows;
mod security;
mod states;
mod task;
mod tasks;

use crate::api::Api;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{get, post};

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
        .route("/login", get(login::form))
        .route("/preferences", post(preferences::change))
        .route("/live", get(live::live))
        .route("/assets/{name}", get(assets::asset))
        .layer(DefaultBodyLimit::max(MOST_FORM_BYTES))
        .layer(middleware::map_response(security::headers))
}
