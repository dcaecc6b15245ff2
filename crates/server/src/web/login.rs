//! The page for logging in.

use super::form::{encode, own_path};
use super::look::Look;
use super::page::page;
use crate::api::Api;
use askama::Template;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use serde::Deserialize;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    look: &'a Look,
    next: &'a str,
    name: &'a str,
    problem: Option<&'a str>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Wanted {
    next: String,
}

pub(super) async fn form(
    State(api): State<Api>,
    headers: HeaderMap,
    uri: Uri,
    Query(wanted): Query<Wanted>,
) -> Response {
    let look = Look::new(&api, &headers, &uri, None);
    let next = own_path(&wanted.next).unwrap_or("/");
    page(&LoginPage { look: &look, next, name: "", problem: None })
}

/// Where to log in, and then go on.
pub(super) fn address(next: &str) -> String {
    match next {
        "/" => "/login".to_owned(),
        next => format!("/login?next={}", encode(next)),
    }
}
