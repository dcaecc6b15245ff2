//! The archive: writes ended tasks as JSON lines, here or to the caller, and reads such lines again.

use super::body::Json;
use super::caller::{Caller, user_named};
use super::{Api, ApiError};
use crate::daemon::archive::{self, ArchiveSelection};
use crate::daemon::archive_line::LineReader;
use crate::daemon::clock;
use crate::store::{Deed, Extras};
use axum::extract::State;
use danlu_core::state::Retired;
use danlu_core::{Input, Refusal, TaskId};
use danlu_messages::acts::Act;
use danlu_messages::errors;
use danlu_wire::api::{
    Archive, ArchiveImport, ArchiveLines, Archived, Document, ErrorCode, Imported,
};
use std::collections::{BTreeSet, HashMap};

/// Committed together.
const AT_ONCE: usize = 200;

pub(super) async fn archive(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Archive>, ApiError>,
) -> Result<Json<Document<Archived>>, ApiError> {
    let Json(wanted) = body?;
    let archived = run(&api, &caller, &wanted).await?;
    Ok(Json(Document::new(Archived { archived })))
}

/// To the file of the server.
pub(crate) async fn run(api: &Api, caller: &Caller, wanted: &Archive) -> Result<usize, ApiError> {
    let selection = select(api, caller, wanted).await?;
    let first = wanted.first.unwrap_or(usize::MAX);
    archive::archive(api, &caller.asker(), &selection, first).await
}

/// To the caller, who writes the file: the server writes to no path that a request names.
pub(super) async fn lines(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Archive>, ApiError>,
) -> Result<Json<Document<ArchiveLines>>, ApiError> {
    let Json(wanted) = body?;
    let selection = select(&api, &caller, &wanted).await?;
    let some = selection.next(&api, wanted.after.map(TaskId)).await?;
    let next = some.last().map(|retired| retired.task.id.0);
    let lines = archive::lines(&api.handle.model(), &some);
    let text = |line: Vec<u8>| String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
    let lines = lines.into_iter().map(text).collect();
    Ok(Json(Document::new(ArchiveLines { lines, next })))
}

/// Ended tasks only: the caller's own, or for administrators those of a named user.
async fn select(
    api: &Api,
    caller: &Caller,
    wanted: &Archive,
) -> Result<ArchiveSelection, ApiError> {
    let owner = match wanted.user.as_deref() {
        Some("*") => None,
        Some(name) => Some(user_named(api, name).ok_or(Refusal::NoSuchUser)?.id),
        None if wanted.ids.is_empty() => Some(caller.id),
        None => None,
    };
    if owner != Some(caller.id) && wanted.ids.is_empty() {
        caller.require_admin()?;
    }
    let model = api.handle.model();
    let ids: BTreeSet<TaskId> = wanted.ids.iter().copied().map(TaskId).collect();
    let missing = ids.iter().copied().filter(|id| !model.tasks.contains_key(id)).collect();
    let retired = api.handle.history().tasks(missing).await.map_err(archive::unreadable)?;
    let model = model.with_retired(retired);
    for id in &ids {
        let task = model.tasks.get(id).ok_or(Refusal::NoSuchTask(*id))?;
        caller.may_see_inside(&model, task)?;
    }
    let selection = ArchiveSelection {
        owner,
        ids: ids.into_iter().collect(),
        ended_before: wanted.older_than.map(archive::ago),
        below: None,
    };
    match wanted.keep {
        Some(keep) => selection.without_newest(api, keep).await,
        None => Ok(selection),
    }
}

/// No archive has more lines.
const LAST_LINE: u64 = 1_000_000_000_000;
/// In one request.
const LINES_AT_ONCE: usize = 10_000;

/// Lines of an archive become history.
pub(super) async fn import(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<ArchiveImport>, ApiError>,
) -> Result<Json<Document<Imported>>, ApiError> {
    caller.require_admin()?;
    let Json(ArchiveImport { first_line, lines }) = body?;
    if first_line > LAST_LINE {
        let (number, hint) = (first_line.to_string(), errors::correct_archive_line());
        return Err(ApiError::bad_request(errors::no_such_archive_line(&number), hint));
    }
    if lines.len() > LINES_AT_ONCE {
        let message = errors::too_many_archive_lines(&LINES_AT_ONCE);
        return Err(ApiError::bad_request(message, errors::ask_for_fewer_at_once()));
    }
    let count = lines.len();
    let model = api.handle.model();
    let users = model.users.values().filter(|user| !user.removed);
    let mut reader = LineReader {
        users: users.map(|user| (user.name.clone(), user.id)).collect(),
        nodes: model.nodes.values().map(|node| (node.name.clone(), node.id)).collect(),
        specs: HashMap::new(),
    };
    let read = move || {
        let numbered = lines.iter().zip(first_line..);
        let filled = numbered.filter(|(line, _)| !line.trim().is_empty());
        let one = |(line, number): (&String, u64)| {
            reader.read(line).map_err(|what| errors::bad_archive_line(&number, &what))
        };
        filled.map(one).collect::<Result<Vec<Retired>, String>>()
    };
    let tasks = tokio::task::spawn_blocking(read).await;
    let tasks = tasks.map_err(|error| error.to_string()).and_then(|tasks| tasks);
    let wrong = |what| ApiError::new(ErrorCode::Refused, what, errors::correct_archive_line());
    let mut tasks = tasks.map_err(wrong)?;
    let given = tasks.len();
    let ids: Vec<TaskId> = tasks.iter().map(|retired| retired.task.id).collect();
    let highest = ids.iter().max().copied();
    let history = api.handle.history().has(ids).await.map_err(archive::unreadable)?;
    let mut seen = BTreeSet::new();
    let is_new = |id: &TaskId| !history.contains(id) && !model.tasks.contains_key(id);
    tasks.retain(|retired| is_new(&retired.task.id) && seen.insert(retired.task.id));
    let imported = tasks.len();
    if let Some(below) = highest.map(|id| TaskId(id.0 + 1))
        && below > model.ledger.next_task
    {
        api.handle.ask(Input::SkipIds { by: caller.actor(), below }).await?;
    }
    while !tasks.is_empty() {
        let rest = tasks.split_off(tasks.len().min(AT_ONCE));
        let imported = std::mem::replace(&mut tasks, rest);
        api.handle.store(Extras { imported, ..Extras::default() }).await?;
    }
    let asker = caller.asker();
    let deed = Deed {
        user: asker.name,
        origin: asker.origin,
        act: Act::Import,
        target: format!("{imported} tasks"),
        detail: format!("lines {first_line} to {}", first_line + count as u64),
    };
    let deeds = vec![(clock::now(), deed)];
    api.handle.store(Extras { deeds, ..Extras::default() }).await?;
    Ok(Json(Document::new(Imported { imported, skipped: given - imported })))
}
