//! Creates the first administrator with the one-time link that the server prints.

use super::body::Json;
use super::caller::Peer;
use super::{Api, ApiError};
use crate::auth::{Auth, origin};
use crate::daemon::handle::Asker;
use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use danlu_core::{Actor, Input, Reply};
use danlu_messages::errors;
use danlu_wire::api::{Document, ErrorCode, PasswordSet, Secret};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetUp {
    pub(crate) key: Secret,
    pub(crate) name: String,
    pub(crate) password: Secret,
}

pub(super) async fn set_up(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    body: Result<Json<SetUp>, ApiError>,
) -> Result<(StatusCode, Json<Document<PasswordSet>>), ApiError> {
    let Json(wanted) = body?;
    let user = wanted.name.clone();
    first_admin(&api, peer, wanted).await?;
    let made = PasswordSet { user, one_time_password: None };
    Ok((StatusCode::CREATED, Json(Document::new(made))))
}

pub(crate) async fn first_admin(api: &Api, peer: Peer, wanted: SetUp) -> Result<(), ApiError> {
    let SetUp { key, name, password } = wanted;
    if !api.auth.is_setup_key(&key.0) {
        return Err(used_up());
    }
    Auth::check_new_password(&name, &password.0)?;
    let by = Asker { name: String::from("set-up link"), origin: origin(peer.address()) };
    let input = Input::AddUser { by: Actor::Daemon, name: name.clone(), admin: true };
    let Reply::User(user) = api.handle.begin(input, None, Some(by.clone())).wait().await? else {
        return Err(ApiError::new(
            ErrorCode::Internal,
            errors::no_account_was_made(),
            errors::report_this(),
        ));
    };
    api.auth.close_setup();
    let who = (user, name.as_str());
    Ok(api.auth.set_password(&api.handle, who, &password.0, false, (&by, None)).await?)
}

pub(crate) fn used_up() -> ApiError {
    ApiError::not_permitted(errors::link_expired(), errors::add_admin_on_server())
}
