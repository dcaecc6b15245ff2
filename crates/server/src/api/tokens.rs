//! API tokens: create, list, revoke. A token is shown once.

use super::body::Json;
use super::caller::Caller;
use super::view::rfc3339;
use super::{Api, ApiError};
use crate::auth::Token;
use crate::parse::duration;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use danlu_core::Span;
use danlu_messages::errors;
use danlu_wire::api::{Document, MadeToken, NewToken, Scope, Secret, TokenView, Tokens};

const LONGEST_NAME: usize = 100;

pub(super) async fn list(State(api): State<Api>, caller: Caller) -> Json<Document<Tokens>> {
    Json(Document::new(Tokens { tokens: views(&api, &caller) }))
}

pub(crate) fn views(api: &Api, caller: &Caller) -> Vec<TokenView> {
    api.auth.tokens_of(caller.id).iter().map(view).collect()
}

pub(super) async fn make(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<NewToken>, ApiError>,
) -> Result<(StatusCode, Json<Document<MadeToken>>), ApiError> {
    let Json(wanted) = body?;
    Ok((StatusCode::CREATED, Json(Document::new(new(&api, &caller, wanted).await?))))
}

pub(crate) async fn new(
    api: &Api,
    caller: &Caller,
    NewToken { name, scope, expires }: NewToken,
) -> Result<MadeToken, ApiError> {
    caller.require_person()?;
    let fine = !name.is_empty() && name.len() <= LONGEST_NAME && !name.contains(char::is_control);
    if !fine {
        let hint = errors::name_token_purpose();
        return Err(ApiError::refused(errors::token_without_name(), hint));
    }
    let expires = expires.filter(|text| !text.is_empty());
    let lifetime = expires.map(|text| lifetime(&text)).transpose()?;
    if scope == Scope::Admin && !caller.admin {
        return Err(ApiError::not_permitted(
            errors::admin_scope_for_admins(),
            errors::use_scope_submit(),
        ));
    }
    let what = (name, scope, lifetime);
    let (secret, token) = api.auth.new_token(&api.handle, caller.id, what, &caller.asker()).await?;
    Ok(MadeToken { token: view(&token), secret: Secret(secret) })
}

fn lifetime(text: &str) -> Result<Span, ApiError> {
    let given = duration::parse_span(text)
        .filter(|span| *span > Span(0) && *span <= danlu_core::limits::LONGEST);
    given.ok_or_else(|| {
        ApiError::bad_request(
            errors::text_is_not_a_length_of_time(&text),
            errors::such_as_12h_or_30d(),
        )
    })
}

pub(super) async fn revoke(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Document<Tokens>>, ApiError> {
    caller.require_person()?;
    api.auth.revoke_token(&api.handle, caller.id, &id, &caller.asker()).await?;
    Ok(list(State(api), caller).await)
}

fn view(token: &Token) -> TokenView {
    TokenView {
        id: token.digest.short().to_owned(),
        name: token.name.clone(),
        scope: token.scope.into(),
        created_at: rfc3339(token.created_at),
        expires_at: token.expires_at.map(rfc3339),
    }
}
