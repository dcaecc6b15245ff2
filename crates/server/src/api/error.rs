//! A "no" as an HTTP answer: a status and `{"error": {"code", "message", "hint"}}`.

use super::chinese;
use crate::auth::AuthError;
use crate::handle::{AskError, NotNow};
use crate::language::Language;
use crate::reasons;
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use danlu_core::Refusal;
use danlu_wire::api::{ErrorBody, ErrorCode, ErrorDocument};
use std::borrow::Cow;

#[derive(Debug, Clone)]
pub(crate) struct ApiError(pub(crate) ErrorBody, Option<Box<(String, Cow<'static, str>)>>);

impl ApiError {
    pub(crate) fn new(
        code: ErrorCode,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> ApiError {
        ApiError(ErrorBody { code, message: message.into(), hint: hint.into() }, None)
    }

    /// The same for who reads Chinese.
    pub(crate) fn or_chinese(
        mut self,
        message: impl Into<String>,
        hint: impl Into<Cow<'static, str>>,
    ) -> ApiError {
        self.1 = Some(Box::new((message.into(), hint.into())));
        self
    }

    /// What is wrong and what to do, where it is known in Chinese.
    pub(crate) fn in_chinese(&self) -> Option<(&str, &str)> {
        self.1.as_deref().map(|(message, hint)| (message.as_str(), hint.as_ref()))
    }

    pub(crate) fn not_found(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::NotFound, message, hint)
    }

    pub(crate) fn bad_request(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::BadRequest, message, hint)
    }

    /// It is well said, but cannot be.
    pub(crate) fn refused(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::Refused, message, hint)
    }

    pub(crate) fn not_permitted(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::NotPermitted, message, hint)
    }

    pub(crate) fn of_another_site() -> ApiError {
        ApiError::not_permitted(
            "this did not come from a page of this server",
            "load the page again (over plain HTTP with JavaScript), or log in again; programs use a token, or send X-CSRF-Token",
        )
        .or_chinese(
            "该请求不是来自本服务器的页面",
            "请重新加载页面或重新登录；未加密的连接需要启用 JavaScript",
        )
    }

    pub(crate) fn no_such_page() -> ApiError {
        ApiError::not_found(
            "there is no such page",
            "see where the menu leads; /docs/api has the API",
        )
        .or_chinese("没有这个页面", "请使用上方菜单；API 见 /docs/api")
    }

    pub(crate) fn unauthenticated() -> ApiError {
        ApiError::new(
            ErrorCode::Unauthenticated,
            "who asks is not known",
            "log in, or send a token: danlu token new NAME on the machine, then DANLU_TOKEN",
        )
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.code.http_status());
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(ErrorDocument { error: self.0 })).into_response()
    }
}

impl From<AskError> for ApiError {
    fn from(error: AskError) -> ApiError {
        match error {
            AskError::Refused(refusal) => refusal.into(),
            AskError::NotNow(not_now) => not_now.into(),
        }
    }
}

impl From<NotNow> for ApiError {
    fn from(not_now: NotNow) -> ApiError {
        ApiError::new(ErrorCode::Unavailable, not_now.message, not_now.hint)
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> ApiError {
        let (code, hint) = match &error {
            AuthError::Wrong => (ErrorCode::Unauthenticated, "try again, or ask an administrator"),
            AuthError::Wait(_) => (ErrorCode::TooOften, "then try again"),
            AuthError::TooLong => (ErrorCode::BadRequest, "type them again"),
            AuthError::Unfit(_) => (ErrorCode::Refused, "choose another one"),
            AuthError::Locked => (ErrorCode::NotPermitted, "ask an administrator"),
            AuthError::TooMany(_) => (ErrorCode::Refused, "revoke some that are not used"),
            AuthError::Missing("token") => (ErrorCode::NotFound, "danlu token list lists them"),
            AuthError::Missing(_) => (ErrorCode::NotFound, "see the list of them"),
            AuthError::NoRandomness => (ErrorCode::Internal, "see that /dev/urandom is there"),
            AuthError::NotNow(not_now) => return not_now.clone().into(),
        };
        let told = ApiError::new(code, error.to_string(), hint);
        match chinese::auth(&error) {
            Some((message, hint)) => told.or_chinese(message, hint),
            None => told,
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        let code = match refusal {
            Refusal::NoSuchTask(_)
            | Refusal::NoSuchRun(_)
            | Refusal::NoSuchNode(_)
            | Refusal::NoSuchGpu { .. }
            | Refusal::NoSuchUser => ErrorCode::NotFound,
            Refusal::NotPermitted
            | Refusal::AdminOnly
            | Refusal::Locked
            | Refusal::PassesEverybody => ErrorCode::NotPermitted,
            _ => ErrorCode::Refused,
        };
        let worded = |language: Language| language.within(|| reasons::refused(&refusal));
        if let (Some((message, hint)), Some((in_chinese, chinese_hint))) =
            (worded(Language::English), worded(Language::Chinese))
        {
            return ApiError::new(code, message, hint).or_chinese(in_chinese, chinese_hint);
        }
        let (message, hint) = chinese::refusal(&refusal);
        ApiError::new(code, refusal.to_string(), refusal.hint()).or_chinese(message, hint)
    }
}

impl From<PathRejection> for ApiError {
    fn from(_: PathRejection) -> ApiError {
        ApiError::bad_request(
            "that is not the id of a task",
            "ids are numbers: danlu ls lists them",
        )
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> ApiError {
        ApiError::bad_request(rejection.body_text(), "see the names and values of the parameters")
    }
}
