//! Templates as answers, and problems as pages that say what to do next.

use super::language::Language;
use super::look::{Look, Visit};
use crate::api::ApiError;
use askama::Template;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use danlu_wire::api::ErrorCode;

pub(super) type PageResult = Result<Response, PageError>;

/// Pages show what is true now and what is somebody's own: nobody keeps them.
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

/// A "no" that a person reads.
#[derive(Debug)]
pub(super) struct PageError {
    look: Box<Look>,
    error: ApiError,
    /// Where it is better to be.
    elsewhere: Option<&'static str>,
}

impl PageError {
    pub(super) fn new(look: Look, error: impl Into<ApiError>) -> PageError {
        PageError { look: Box::new(look), error: error.into(), elsewhere: None }
    }

    pub(super) fn go_to(look: Look, elsewhere: &'static str) -> PageError {
        let error = ApiError::not_permitted("not yet", "");
        PageError { look: Box::new(look), error, elsewhere: Some(elsewhere) }
    }
}

impl Visit {
    /// For `map_err`.
    pub(super) fn no<E: Into<ApiError>>(&self) -> impl FnOnce(E) -> PageError + use<E> {
        let look = self.look.clone();
        move |error| PageError::new(look, error)
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    look: &'a Look,
    title: &'a str,
    message: &'a str,
    hint: &'a str,
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let PageError { look, error, elsewhere } = self;
        if let Some(elsewhere) = elsewhere {
            return Redirect::to(elsewhere).into_response();
        }
        let code = error.0.code;
        if code == ErrorCode::Unauthenticated {
            return Redirect::to(&super::login::address(&look.path)).into_response();
        }
        let (message, hint) = look.words_of(&error);
        let shown =
            page(&ProblemPage { look: &look, title: title(code, look.language), message, hint });
        let status = StatusCode::from_u16(code.http_status());
        (status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), shown).into_response()
    }
}

fn title(code: ErrorCode, language: Language) -> &'static str {
    match code {
        ErrorCode::NotFound => language.say("This is not here", "找不到"),
        ErrorCode::NotPermitted | ErrorCode::Unauthenticated => {
            language.say("You may not do this", "没有权限")
        }
        ErrorCode::BadRequest => language.say("This was not understood", "无法理解该请求"),
        ErrorCode::Refused | ErrorCode::TooLarge => language.say("This was refused", "请求被拒绝"),
        ErrorCode::TooOften => language.say("Too often", "请求过于频繁"),
        ErrorCode::Unavailable => language.say("Not now", "暂时无法完成"),
        ErrorCode::Internal => language.say("Something is broken here", "服务器出错"),
    }
}
