//! Templates as responses, and errors as pages that say what to do next.

use super::page_context::{PageContext, Visit};
use crate::api::ApiError;
use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use danlu_messages::web::page as msg;
use danlu_messages::web::pages;
use danlu_wire::api::ErrorCode;

pub(super) type PageResult = Result<Response, PageError>;

/// Pages show the current state and private data: they must not be cached.
pub(super) fn page(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => (HTML, html).into_response(),
        Err(cause) => {
            tracing::error!(%cause, "a page could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

pub(super) const HTML: [(header::HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];

/// An error as a page.
#[derive(Debug)]
pub(super) struct PageError {
    context: Box<PageContext>,
    error: ApiError,
    /// The page to redirect to instead.
    elsewhere: Option<&'static str>,
}

impl PageError {
    pub(super) fn new(context: PageContext, error: impl Into<ApiError>) -> PageError {
        PageError { context: Box::new(context), error: error.into(), elsewhere: None }
    }

    pub(super) fn go_to(context: PageContext, elsewhere: &'static str) -> PageError {
        let error = ApiError::not_permitted("not yet", "");
        PageError { context: Box::new(context), error, elsewhere: Some(elsewhere) }
    }
}

impl Visit {
    /// For `map_err`.
    pub(super) fn no<E: Into<ApiError>>(&self) -> impl FnOnce(E) -> PageError + use<E> {
        let context = self.context.clone();
        move |error| PageError::new(context, error)
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    context: &'a PageContext,
    title: &'a str,
    message: &'a str,
    hint: &'a str,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let PageError { context, error, elsewhere } = self;
        if let Some(elsewhere) = elsewhere {
            return Redirect::to(elsewhere).into_response();
        }
        let code = error.0.code;
        if code == ErrorCode::Unauthenticated {
            return Redirect::to(&super::login::address(&context.path)).into_response();
        }
        let (message, hint) = error.words();
        let shown = page(&ProblemPage { context: &context, title: title(code), message, hint });
        let status = StatusCode::from_u16(code.http_status());
        (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), shown).into_response()
    }
}

fn title(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotFound => msg::not_found(),
        ErrorCode::NotPermitted | ErrorCode::Unauthenticated => msg::permission_denied(),
        ErrorCode::BadRequest => msg::invalid_request(),
        ErrorCode::Refused | ErrorCode::TooLarge => msg::request_refused(),
        ErrorCode::TooOften => msg::too_often(),
        ErrorCode::Unavailable => msg::not_now(),
        ErrorCode::Internal => msg::something_is_broken_here(),
    }
}
