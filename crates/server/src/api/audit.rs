//! `GET /audit`: the audit log, newest entry first.

use super::body::Json;
use super::caller::Caller;
use super::view::rfc3339;
use super::{Api, ApiError};
use crate::store::{AuditEntry, Store};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use danlu_wire::api::{Audit, AuditView, Document};
use schemars::JsonSchema;
use serde::Deserialize;

const USUAL: u32 = 100;
const MOST: u32 = 1_000;

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AuditQuery {
    pub(crate) cursor: Option<i64>,
    pub(crate) limit: Option<u32>,
    /// Such as `task 12` or `user ann`.
    pub(crate) target: Option<String>,
}

pub(super) async fn list(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<AuditQuery>, QueryRejection>,
) -> Result<Json<Document<Audit>>, ApiError> {
    let Query(query) = query?;
    Ok(Json(Document::new(read(&api, &caller, query).await?)))
}

pub(crate) async fn read(api: &Api, caller: &Caller, query: AuditQuery) -> Result<Audit, ApiError> {
    caller.require_admin()?;
    let limit = query.limit.unwrap_or(USUAL).clamp(1, MOST);
    let question = move |store: &Store| {
        store.audit(query.cursor.unwrap_or(i64::MAX), limit, query.target.as_deref())
    };
    let entries = api.handle.read(question).await?;
    let entries = entries.map_err(|error| crate::daemon::handle::NotNow::from(&error))?;
    let full = entries.len() == limit as usize;
    let next_cursor = entries.last().filter(|_| full).map(|entry| entry.number);
    Ok(Audit { entries: entries.into_iter().map(view).collect(), next_cursor })
}

fn view(entry: AuditEntry) -> AuditView {
    AuditView {
        id: entry.number,
        at: rfc3339(entry.at),
        user: entry.user,
        from: entry.origin,
        act: entry.act,
        target: entry.target,
        detail: entry.detail,
    }
}
