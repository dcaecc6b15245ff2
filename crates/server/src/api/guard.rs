//! Who may ask for an address at all, looked at before anything else of the request is.

use super::caller::{Caller, Peer};
use super::routes::Who;
use super::{Api, ApiError};
use axum::extract::{FromRequestParts as _, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use danlu_wire::api::{ErrorCode, Scope};

pub(super) async fn guard(api: Api, who: Who, request: Request, next: Next) -> Response {
    if who == Who::Anybody {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    match admitted(&api, who, &mut parts).await {
        Ok(caller) => {
            parts.extensions.insert(caller);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(error) => error.into_response(),
    }
}

async fn admitted(
    api: &Api,
    who: Who,
    parts: &mut axum::http::request::Parts,
) -> Result<Caller, ApiError> {
    let address = Peer::of(parts).and_then(Peer::address);
    let caller = match Caller::from_request_parts(parts, api).await {
        Ok(caller) => caller,
        Err(error) if error.0.code == ErrorCode::Unauthenticated => {
            api.auth.strangers.count(address).map_err(|wait| {
                let message = format!("too many requests of somebody unknown: wait {wait} s");
                ApiError::new(ErrorCode::TooOften, message, "log in, or send a token")
            })?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    match who {
        Who::Anybody | Who::Reader => {}
        Who::Submitter if caller.scope == Scope::Read => {
            return Err(ApiError::not_permitted(
                "this token may only read",
                "make one of scope submit: danlu token new NAME --scope submit",
            ));
        }
        Who::Submitter => {}
        Who::Person => caller.require_person()?,
        Who::Admin => caller.require_admin()?,
    }
    Ok(caller)
}
