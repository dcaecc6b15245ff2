//! The command box: one line of gpuman's administrator commands.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::compat::gpuman;
use axum::extract::State;
use danlu_wire::api::Document;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Command {
    /// Such as `useradd ann` or `schedule balance`.
    line: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Said {
    answer: String,
}

pub(super) async fn command(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Command>, ApiError>,
) -> Result<Json<Document<Said>>, ApiError> {
    let Json(Command { line }) = body?;
    caller.require_person()?;
    let answer = gpuman::command(&api, &caller, &line).await?;
    Ok(Json(Document::new(Said { answer })))
}
