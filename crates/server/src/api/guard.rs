//! Whether the caller may use an address at all; checked before anything else of the request.

use super::caller::{Caller, Peer, bearer};
use super::encoding::{ContentNegotiation, shaped};
use super::routes::Access;
use super::{Api, ApiError};
use axum::extract::{FromRequestParts as _, Request};
use axum::http::Method;
use axum::response::{IntoResponse as _, Response};
use danlu_messages::errors;
use danlu_wire::api::{ErrorCode, Scope};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// Of one address.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) api: Api,
    pub(super) who: Access,
}

#[derive(Debug, Clone)]
pub(super) struct Guarded<S> {
    guard: Guard,
    inner: S,
}

impl<S> Layer<S> for Guard {
    type Service = Guarded<S>;

    fn layer(&self, inner: S) -> Guarded<S> {
        Guarded { guard: self.clone(), inner }
    }
}

impl<S> Service<Request> for Guarded<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Guarded { guard: Guard { api, who }, mut inner } = self.clone();
        Box::pin(async move {
            let (mut parts, body) = request.into_parts();
            let wish =
                (parts.method == Method::GET).then(|| ContentNegotiation::of(&parts.headers));
            if who != Access::Anybody && !scrapes(&api, who, &parts) {
                match admitted(&api, who, &mut parts).await {
                    Ok(caller) => drop(parts.extensions.insert(caller)),
                    Err(error) => return Ok(error.into_response()),
                }
            }
            let answer = inner.call(Request::from_parts(parts, body)).await?;
            match wish {
                Some(wish) => Ok(shaped(answer, &wish).await),
                None => Ok(answer),
            }
        })
    }
}

/// Monitoring systems have no account.
fn scrapes(api: &Api, who: Access, parts: &axum::http::request::Parts) -> bool {
    let address = || Peer::of(parts).and_then(Peer::address);
    who == Access::Scraper && api.metrics.admits(bearer(&parts.headers), address())
}

async fn admitted(
    api: &Api,
    who: Access,
    parts: &mut axum::http::request::Parts,
) -> Result<Caller, ApiError> {
    let address = Peer::of(parts).and_then(Peer::address);
    let caller = match Caller::from_request_parts(parts, api).await {
        Ok(caller) => caller,
        Err(error) if error.0.code == ErrorCode::Unauthenticated => {
            api.auth.unknown_callers.count(address).map_err(|wait| {
                let message = errors::too_many_anonymous_requests(&wait);
                ApiError::new(ErrorCode::TooOften, message, errors::log_in_or_send_a_token())
            })?;
            return Err(error);
        }
        Err(error) => return Err(error),
    };
    match who {
        Access::Anybody | Access::Reader => {}
        Access::Submitter if caller.scope == Scope::Read => {
            return Err(ApiError::not_permitted(
                errors::token_read_only(),
                errors::make_submit_token(),
            ));
        }
        Access::Submitter => {}
        Access::Person => caller.require_person()?,
        Access::Admin | Access::Scraper => caller.require_admin()?,
    }
    Ok(caller)
}
