//! Live settings by name: shown, changed, checked.

use super::caller::Caller;
use super::{Api, ApiError};
use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use danlu_core::{Input, Settings};
use danlu_wire::api::ErrorCode;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) async fn show(State(api): State<Api>, _caller: Caller) -> Json<Value> {
    Json(document(&api.handle.model().ledger.settings))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Change {
    key: String,
    value: Value,
}

pub(super) async fn change(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Change>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(Change { key, value }) = body?;
    let settings = changed(&api.handle.model().ledger.settings, &key, value)?;
    api.handle.ask(Input::Configure { by: caller.actor(), settings }).await?;
    Ok(Json(document(&api.handle.model().ledger.settings)))
}

fn document(settings: &Settings) -> Value {
    json!({ "v": 1, "settings": settings })
}

/// The settings with one of them replaced; what is not known or does not fit is refused.
fn changed(settings: &Settings, key: &str, value: Value) -> Result<Settings, ApiError> {
    let mut whole = serde_json::to_value(settings).unwrap_or_default();
    let Some(entry) = key.split('.').try_fold(&mut whole, |at, name| at.get_mut(name)) else {
        let known = serde_json::to_value(settings).unwrap_or_default();
        let names: Vec<&str> =
            known.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let hint = format!("one of {}", names.join(", "));
        return Err(ApiError::new(
            ErrorCode::NotFound,
            format!("there is no setting `{key}`"),
            hint,
        ));
    };
    *entry = value;
    serde_json::from_value(whole).map_err(|error| {
        ApiError::new(
            ErrorCode::Refused,
            format!("`{key}` cannot be that: {error}"),
            "danlu set shows the values",
        )
    })
}
