//! JSON request and response bodies. A request body is an object; a list of values in place of one is refused.

use super::ApiError;
use crate::api::network::Refused;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use danlu_messages::errors;
use danlu_spec::Patch;
use danlu_wire::api::{ErrorCode, MOST_BODY_BYTES};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Json<T>, ApiError> {
        let axum::Json(body) = axum::Json::from_bytes(&object(request, state).await?)?;
        Ok(Json(body))
    }
}

/// The description of a task in a request.
#[derive(Debug)]
pub(super) struct TaskBody(pub(super) Patch);

impl<S: Send + Sync> FromRequest<S> for TaskBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<TaskBody, ApiError> {
        let body = object(request, state).await?;
        serde_json::from_slice(&body).map(TaskBody).map_err(|error| {
            let message = errors::bad_task_description(&error);
            let hint = errors::see_task_help();
            ApiError::bad_request(message, hint)
        })
    }
}

async fn object<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, ApiError> {
    // Browsers send cross-site forms without a preflight request; JSON they do not.
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(ApiError::bad_request(errors::not_declared_json(), errors::send_json()));
    }
    let bytes = Bytes::from_request(request, state).await?;
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(ApiError::bad_request(errors::not_a_json_object(), errors::send_json()));
    }
    Ok(with_whole_numbers(bytes))
}

/// `2.0` is a whole number too, and some languages write all of them so.
pub(super) fn with_whole_numbers(bytes: Bytes) -> Bytes {
    if !bytes.windows(2).any(|two| two == b".0") {
        return bytes;
    }
    let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else { return bytes };
    make_whole(&mut value);
    Bytes::from(value.to_string())
}

fn make_whole(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0);
            // Larger ones are not exact any more.
            if let Some(whole) = whole.filter(|number| number.abs() < 9e15) {
                *number = Number::from(whole as i64);
            }
        }
        _ => {}
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> ApiError {
        ApiError::bad_request(rejection.body_text(), errors::send_json())
    }
}

impl From<BytesRejection> for ApiError {
    fn from(rejection: BytesRejection) -> ApiError {
        if let Some(refused) = Refused::behind(&rejection) {
            return refused.into();
        }
        if rejection.status() != StatusCode::PAYLOAD_TOO_LARGE {
            return ApiError::bad_request(rejection.body_text(), errors::send_json());
        }
        let most = MOST_BODY_BYTES >> 20;
        ApiError::new(ErrorCode::TooLarge, errors::request_too_large_mb(&most), errors::send_less())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
        let check = |given: &'static str, expect: &str| {
            assert_eq!(with_whole_numbers(Bytes::from(given)), expect.as_bytes(), "{given}");
        };
        check(r#"{"a":2.0,"b":[-3.0,0.5]}"#, r#"{"a":2,"b":[-3,0.5]}"#);
        check(r#"{"a": "v2.0"}"#, r#"{"a":"v2.0"}"#);
        check(r#"{"a": 2.5}"#, r#"{"a": 2.5}"#);
        check("{ 2.0", "{ 2.0");
    }
}
