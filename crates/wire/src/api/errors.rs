//! Error answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An error: `{"error": {...}}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorDocument {
    pub error: ErrorBody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    pub code: ErrorCode,
    pub message: String,
    pub hint: String,
}

/// Each has its HTTP status and its exit status of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The request itself makes no sense.
    BadRequest,
    Unauthenticated,
    NotPermitted,
    NotFound,
    /// Understood, and refused.
    Refused,
    TooLarge,
    /// Too often; after a while again.
    TooOften,
    /// Not now; later perhaps.
    Unavailable,
    /// Also a code that only a newer server knows.
    #[serde(other)]
    Internal,
}

impl ErrorCode {
    pub fn http_status(self) -> u16 {
        match self {
            ErrorCode::BadRequest => 400,
            ErrorCode::Unauthenticated => 401,
            ErrorCode::NotPermitted => 403,
            ErrorCode::NotFound => 404,
            ErrorCode::Refused => 409,
            ErrorCode::TooLarge => 413,
            ErrorCode::TooOften => 429,
            ErrorCode::Unavailable => 503,
            ErrorCode::Internal => 500,
        }
    }

    pub fn exit_status(self) -> u8 {
        match self {
            ErrorCode::BadRequest => 2,
            ErrorCode::Unauthenticated | ErrorCode::NotPermitted => 77,
            ErrorCode::NotFound => 69,
            ErrorCode::Refused | ErrorCode::TooLarge => 64,
            ErrorCode::Unavailable | ErrorCode::TooOften => 75,
            ErrorCode::Internal => 70,
        }
    }
}
