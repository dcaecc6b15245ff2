//! A "no" as an HTTP answer: a status and `{"error": {"code", "message", "hint"}}`.

use crate::auth::AuthError;
use crate::handle::{AskError, NotNow};
use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use danlu_core::Refusal;
use danlu_wire::api::{ErrorBody, ErrorCode, ErrorDocument, MOST_BODY_BYTES};

#[derive(Debug, Clone)]
pub(crate) struct ApiError(pub(crate) ErrorBody);

impl ApiError {
    pub(crate) fn new(
        code: ErrorCode,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> ApiError {
        ApiError(ErrorBody { code, message: message.into(), hint: hint.into() })
    }

    pub(crate) fn not_found(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::NotFound, message, hint)
    }

    pub(crate) fn bad_request(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::BadRequest, message, hint)
    }

    pub(crate) fn not_permitted(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::NotPermitted, message, hint)
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
            AuthError::Unfit(_) => (ErrorCode::Refused, "choose another one"),
            AuthError::Locked => (ErrorCode::NotPermitted, "ask an administrator"),
            AuthError::TooMany(_) => (ErrorCode::Refused, "revoke some that are not used"),
            AuthError::Missing("token") => (ErrorCode::NotFound, "danlu token list lists them"),
            AuthError::Missing(_) => (ErrorCode::NotFound, "see the list of them"),
            AuthError::NoRandomness => (ErrorCode::Internal, "see that /dev/urandom is there"),
            AuthError::NotNow(not_now) => return not_now.clone().into(),
        };
        ApiError::new(code, error.to_string(), hint)
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
        ApiError::new(code, refusal.to_string(), refusal.hint())
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> ApiError {
        if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
            let most = MOST_BODY_BYTES >> 20;
            return ApiError::new(
                ErrorCode::TooLarge,
                format!("the request is larger than {most} MB"),
                "ask for less at once: a smaller array, a shorter command, fewer variables",
            );
        }
        ApiError::bad_request(rejection.body_text(), "the body is a JSON document")
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
