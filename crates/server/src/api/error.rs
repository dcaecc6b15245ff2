//! API errors as HTTP responses: a status and `{"error": {"code", "message", "hint"}}`.

use crate::auth::AuthError;
use crate::daemon::handle::{AskError, NotNow};
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use danlu_core::Refusal;
use danlu_messages::{errors, refusals};
use danlu_wire::api::{ErrorBody, ErrorCode, ErrorDocument};

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

    /// What is wrong, and what to do about it.
    pub(crate) fn words(&self) -> (&str, &str) {
        (&self.0.message, &self.0.hint)
    }

    pub(crate) fn not_found(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::NotFound, message, hint)
    }

    pub(crate) fn bad_request(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::BadRequest, message, hint)
    }

    /// The request is well-formed, but refused.
    pub(crate) fn refused(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::Refused, message, hint)
    }

    pub(crate) fn not_permitted(message: impl Into<String>, hint: &str) -> ApiError {
        ApiError::new(ErrorCode::NotPermitted, message, hint)
    }

    pub(crate) fn of_another_site() -> ApiError {
        ApiError::not_permitted(errors::not_from_our_page(), errors::reload_page())
    }

    pub(crate) fn no_such_page() -> ApiError {
        ApiError::not_found(errors::no_such_page(), errors::see_menu())
    }

    pub(crate) fn unauthenticated() -> ApiError {
        ApiError::new(
            ErrorCode::Unauthenticated,
            errors::who_asks_is_not_known(),
            errors::log_in_or_token(),
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
        ApiError::new(ErrorCode::Unavailable, not_now.message(), not_now.hint())
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> ApiError {
        let (code, hint) = match &error {
            AuthError::Wrong => {
                (ErrorCode::Unauthenticated, errors::try_again_or_ask_an_administrator())
            }
            AuthError::Wait(_) => (ErrorCode::TooOften, errors::then_try_again()),
            AuthError::TooLong => (ErrorCode::BadRequest, errors::type_them_again()),
            AuthError::Unfit(_) => (ErrorCode::Refused, errors::choose_another()),
            AuthError::Locked => (ErrorCode::NotPermitted, errors::ask_an_administrator()),
            AuthError::TooMany(_) => (ErrorCode::Refused, errors::revoke_some_that_are_not_used()),
            AuthError::NoSuchToken => (ErrorCode::NotFound, errors::danlu_token_list_lists_them()),
            AuthError::NoSuchSession => (ErrorCode::NotFound, errors::see_the_list_of_them()),
            AuthError::NoRandomness => {
                (ErrorCode::Internal, errors::see_that_dev_urandom_is_there())
            }
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
            Refusal::BadSlots { .. }
            | Refusal::ShareWithoutMemory
            | Refusal::BadUtilization
            | Refusal::Oneself
            | Refusal::BadUserName
            | Refusal::BadEmail
            | Refusal::BadLanguage
            | Refusal::WrongState { .. }
            | Refusal::RunEnded(_)
            | Refusal::NodeReachable(_)
            | Refusal::NodeHeard { .. }
            | Refusal::MayStillRun { .. }
            | Refusal::StillNeeded { .. }
            | Refusal::NameTaken { .. }
            | Refusal::NameMissing
            | Refusal::NodeBusy { .. }
            | Refusal::Impossible { .. }
            | Refusal::UnknownName { .. }
            | Refusal::TooFewNodes { .. }
            | Refusal::UnequalNodes { .. }
            | Refusal::GangNamesOne { .. }
            | Refusal::TooMany { .. }
            | Refusal::TooLong { .. }
            | Refusal::ControlCharacter { .. }
            | Refusal::BadVariable { .. }
            | Refusal::BadTimeLimit
            | Refusal::NoTimeLimit(_)
            | Refusal::ExtendedTooFar(_)
            | Refusal::KeptTooLong(_)
            | Refusal::NotIdle(_)
            | Refusal::IdleOrder
            | Refusal::OutOfRange { .. }
            | Refusal::OverQuota(_)
            | Refusal::LogsFull { .. }
            | Refusal::KeyReused
            | Refusal::Circle(_)
            | Refusal::NoRoom(_)
            | Refusal::BadArray
            | Refusal::BadAxis { .. }
            | Refusal::EmptyCommand
            | Refusal::RunsUnknown { .. }
            | Refusal::NoUnknownRuns { .. }
            | Refusal::EpochGoesBack => ErrorCode::Refused,
        };
        let (message, hint) = refusals::refusal(&refusal);
        ApiError::new(code, message, hint)
    }
}

impl From<PathRejection> for ApiError {
    fn from(_: PathRejection) -> ApiError {
        ApiError::bad_request(
            errors::that_is_not_the_id_of_a_task(),
            errors::ids_are_numbers_danlu_ls_lists_them(),
        )
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> ApiError {
        ApiError::bad_request(rejection.body_text(), errors::see_parameters())
    }
}
