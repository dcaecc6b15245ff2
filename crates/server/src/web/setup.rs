//! The page behind the set-up link that the server prints while there is no administrator.

use super::form::is_of_another_site;
use super::page::{PageError, PageResult, page};
use super::page_context::PageContext;
use crate::api::setup::{SetUp, first_admin, used_up};
use crate::api::{Api, ApiError, Peer};
use askama::Template;
use axum::extract::{ConnectInfo, Form, Query, State};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Redirect};
use danlu_messages::web::pages;
use danlu_wire::api::Secret;
use serde::Deserialize;

#[derive(Template)]
#[template(path = "setup.html")]
struct SetUpPage<'a> {
    context: &'a PageContext,
    key: &'a str,
    name: &'a str,
    problem: Option<&'a str>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct SetupForm {
    key: String,
    name: String,
    password: String,
}

pub(super) async fn form(
    State(api): State<Api>,
    headers: HeaderMap,
    uri: Uri,
    Query(form): Query<SetupForm>,
) -> PageResult {
    let context = PageContext::new(&api, &headers, &uri, None);
    if !api.auth.is_setup_key(&form.key) {
        return Err(PageError::new(context, used_up()));
    }
    Ok(page(&SetUpPage { context: &context, key: &form.key, name: "admin", problem: None }))
}

pub(super) async fn send(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    uri: Uri,
    Form(form): Form<SetupForm>,
) -> PageResult {
    let context = PageContext::new(&api, &headers, &uri, None);
    if is_of_another_site(&headers) {
        return Err(PageError::new(context, ApiError::of_another_site()));
    }
    let SetupForm { key, name, password } = form;
    let wanted = SetUp { key: Secret(key.clone()), name: name.clone(), password: Secret(password) };
    match first_admin(&api, peer, wanted).await {
        Ok(()) => Ok(Redirect::to("/login").into_response()),
        Err(error) => {
            let problem = Some(error.words().0);
            Ok(page(&SetUpPage { context: &context, key: &key, name: &name, problem }))
        }
    }
}
