//! Browser sessions: log in, log out, list and end sessions.

use super::body::Json;
use super::caller::{Caller, Peer, add_user, user_named};
use super::view::rfc3339;
use super::{Api, ApiError};
use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use danlu_core::{Refusal, User};
use danlu_messages::errors;
use danlu_wire::api::{Document, ErrorCode, LogIn, LoggedIn, Secret, SessionView, Sessions};
use std::sync::Arc;

/// Maximum size of a log-in request.
pub(crate) const MOST_BYTES: usize = 16 << 10;

pub(super) async fn log_in(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    body: Result<Json<LogIn>, ApiError>,
) -> Result<Response, ApiError> {
    let Json(LogIn { user, password }) = body.map_err(too_large)?;
    let (cookie, logged_in) = start(&api, peer, &headers, (&user, &password.0)).await?;
    let body = Json(Document::new(logged_in));
    Ok((StatusCode::CREATED, [(header::SET_COOKIE, cookie)], body).into_response())
}

fn too_large(error: ApiError) -> ApiError {
    if error.0.code != ErrorCode::TooLarge {
        return error;
    }
    let message = errors::request_too_large_kb(&(MOST_BYTES >> 10));
    ApiError::new(ErrorCode::TooLarge, message, errors::name_and_password_limits())
}

/// Also for the page where people log in.
pub(crate) async fn start(
    api: &Api,
    peer: Peer,
    headers: &HeaderMap,
    (name, password): (&str, &str),
) -> Result<(HeaderValue, LoggedIn), ApiError> {
    let user = user_named(api, name);
    let browser = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let from = (peer.address(), browser.unwrap_or_default(), peer.os_user());
    let user = match user {
        Some(user) => Some(user),
        None => first_time(api, peer, (name, password)).await?,
    };
    let session = api.auth.log_in(&api.handle, user.as_deref(), (name, password), from).await?;
    let user = user.ok_or(Refusal::NoSuchUser)?;
    let secure = if peer.is_encrypted() { "; Secure" } else { "" };
    let cookie = format!(
        "{}={}; Path=/; HttpOnly; SameSite=Lax; Max-Age={}{secure}",
        peer.session_cookie(),
        session.secret,
        api.auth.longest_session().0 / 1000
    );
    let logged_in = LoggedIn {
        user: user.name.clone(),
        admin: user.admin,
        csrf: Secret(session.csrf),
        must_change_password: session.must_change,
    };
    Ok((header_value(&cookie)?, logged_in))
}

/// An OS user without an account gets one at the first log-in with the OS password.
async fn first_time(
    api: &Api,
    peer: Peer,
    (name, password): (&str, &str),
) -> Result<Option<Arc<User>>, ApiError> {
    if api.config.auth.pam.is_none() {
        return Ok(None);
    }
    api.auth.check_password(None, (name, password), peer.address()).await?;
    add_user(api, name, false).await?;
    Ok(user_named(api, name))
}

pub(super) async fn log_out(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    caller: Caller,
) -> Result<Response, ApiError> {
    let gone = [(header::SET_COOKIE, end_own(&api, peer, &caller).await?)];
    Ok((gone, Json(Document::new(serde_json::json!({})))).into_response())
}

/// The expired cookie that removes the session from the browser.
pub(crate) async fn end_own(
    api: &Api,
    peer: Peer,
    caller: &Caller,
) -> Result<HeaderValue, ApiError> {
    if let Some(session) = &caller.session {
        api.auth.end_session(&api.handle, caller.id, session.short(), &caller.asker()).await?;
    }
    let secure = if peer.is_encrypted() { "; Secure" } else { "" };
    let name = peer.session_cookie();
    header_value(&format!("{name}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{secure}"))
}

fn header_value(text: &str) -> Result<HeaderValue, ApiError> {
    HeaderValue::from_str(text).map_err(|_| {
        ApiError::new(ErrorCode::Internal, errors::cookie_not_sent(), errors::report_this())
    })
}

pub(super) async fn list(State(api): State<Api>, caller: Caller) -> Json<Document<Sessions>> {
    Json(Document::new(Sessions { sessions: views(&api, &caller) }))
}

pub(crate) fn views(api: &Api, caller: &Caller) -> Vec<SessionView> {
    let view = |session: crate::auth::Session| SessionView {
        id: session.digest.short().to_owned(),
        created_at: rfc3339(session.created_at),
        seen_at: rfc3339(session.seen_at),
        current: caller.session.as_ref() == Some(&session.digest),
        from: session.origin,
        browser: session.browser,
    };
    api.auth.open_sessions_of(caller.id).into_iter().map(view).collect()
}

pub(super) async fn end(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Document<Sessions>>, ApiError> {
    caller.require_person()?;
    api.auth.end_session(&api.handle, caller.id, &id, &caller.asker()).await?;
    Ok(list(State(api), caller).await)
}
