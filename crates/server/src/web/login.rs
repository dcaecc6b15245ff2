//! The log-in page.

use super::form::Sent;
use super::form::{encode, is_of_another_site, own_path};
use super::page::{PageResult, page};
use super::page_context::PageContext;
use crate::api::{Api, ApiError, Peer, session};
use askama::Template;
use axum::extract::{ConnectInfo, Form, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use danlu_messages::web::pages;
use serde::Deserialize;

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    context: &'a PageContext,
    next: &'a str,
    name: &'a str,
    problem: Option<String>,
}

/// Gives the browser its CSRF token.
#[derive(Template)]
#[template(path = "entered.html")]
struct EnteredPage<'a> {
    context: &'a PageContext,
    key: &'a str,
    next: &'a str,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LoginPageQuery {
    next: String,
}

pub(super) async fn form(
    State(api): State<Api>,
    headers: HeaderMap,
    uri: Uri,
    Query(query): Query<LoginPageQuery>,
) -> Response {
    let context = PageContext::new(&api, &headers, &uri, None);
    let next = own_path(&query.next).unwrap_or("/");
    page(&LoginPage { context: &context, next, name: "", problem: None })
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct LoginForm {
    name: String,
    password: String,
    next: String,
}

pub(super) async fn log_in(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    uri: Uri,
    Form(form): Form<LoginForm>,
) -> Response {
    let next = own_path(&form.next).unwrap_or("/");
    let name = form.name.trim();
    let started = match is_of_another_site(&headers) {
        true => Err(ApiError::of_another_site()),
        false => session::start(&api, peer, &headers, (name, &form.password)).await,
    };
    match started {
        Ok((cookie, _)) if peer.is_encrypted() => {
            ([(header::SET_COOKIE, cookie)], Redirect::to(next)).into_response()
        }
        Ok((cookie, logged_in)) => {
            let context = PageContext::new(&api, &headers, &uri, None);
            let entered = page(&EnteredPage { context: &context, key: &logged_in.csrf.0, next });
            ([(header::SET_COOKIE, cookie)], entered).into_response()
        }
        Err(error) => {
            let context = PageContext::new(&api, &headers, &uri, None);
            let problem = Some(error.words().0.to_owned());
            let shown = page(&LoginPage { context: &context, next, name, problem });
            let status = StatusCode::from_u16(error.0.code.http_status());
            (status.unwrap_or(StatusCode::FORBIDDEN), shown).into_response()
        }
    }
}

pub(super) async fn log_out(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    sent: Sent,
) -> PageResult {
    let gone = session::end_own(&api, peer, &sent.visit.caller).await.map_err(sent.visit.no())?;
    Ok(([(header::SET_COOKIE, gone)], Redirect::to("/login")).into_response())
}

/// Where to log in, and then go on.
pub(super) fn address(next: &str) -> String {
    match next {
        "/" => "/login".to_owned(),
        next => format!("/login?next={}", encode(next)),
    }
}
