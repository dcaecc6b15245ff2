//! A "no" as an HTTP answer: a status and `{"error": {"code", "message", "hint"}}`.

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
            "nobody is known over the network yet",
            "use the socket on the machine itself",
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

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        let code = match refusal {
            Refusal::NoSuchTask(_)
            | Refusal::NoSuchRun(_)
            | Refusal::NoSuchNode(_)
            | Refusal::NoSuchGpu { .. }
            | Refusal::NoSuchUser => ErrorCode::NotFound,
            Refusal::NotPermitted | Refusal::AdminOnly | Refusal::PassesEverybody => {
                ErrorCode::NotPermitted
            }
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
