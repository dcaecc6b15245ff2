//! Notices about the server itself, and their acknowledgement.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::daemon::notices;
use crate::store::{Deed, RecordChange};
use axum::extract::{Path, State};
use danlu_messages::acts::Act;
use danlu_messages::errors;
use danlu_wire::api::{Document, NoticeKind, NoticeList};

pub(super) async fn list(State(api): State<Api>, caller: Caller) -> Json<Document<NoticeList>> {
    Json(Document::new(NoticeList { notices: api.handle.notices().seen_by(caller.admin) }))
}

pub(super) async fn acknowledge(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<Json<Document<NoticeList>>, ApiError> {
    take_note(&api, &caller, &id).await?;
    Ok(list(State(api), caller).await)
}

/// Also resumes scheduling that was paused by an error.
pub(crate) async fn take_note(api: &Api, caller: &Caller, id: &str) -> Result<(), ApiError> {
    caller.require_admin()?;
    let all = api.handle.notices().all();
    if !all.iter().any(|notice| notice.id == id) {
        let error =
            ApiError::not_found(errors::no_such_notice(), errors::danlu_notices_lists_them());
        return Err(error);
    }
    let asker = caller.asker();
    let deed = Deed {
        user: asker.name,
        origin: asker.origin,
        act: Act::Acknowledge,
        target: format!("notice {id}"),
        detail: String::new(),
    };
    let gone = RecordChange::Delete { kind: notices::KIND, id: id.to_owned() };
    Ok(api.handle.keep(vec![gone], Some(deed)).await?)
}

/// `resume-queue` also ends a pause that was caused by an error.
pub(super) async fn resume_scheduling(api: &Api, caller: &Caller) -> Result<(), ApiError> {
    for notice in api.handle.notices().all().iter() {
        if let NoticeKind::SchedulingPaused { .. } = notice.what {
            take_note(api, caller, &notice.id).await?;
        }
    }
    Ok(())
}
