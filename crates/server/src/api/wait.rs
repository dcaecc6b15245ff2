//! Long polling: answers when tasks have reached a state.

use super::body::Json;
use super::caller::Caller;
use super::tasks::{numbers, views_in};
use super::{Api, ApiError, view};
use crate::parse::task_state::{States, parse_state};
use crate::read_model::ReadModel;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use danlu_core::TaskId;
use danlu_wire::api::{Document, TaskStateName, Tasks, Waited};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::pin::pin;
use std::time::Duration;

/// Maximum duration of one long poll.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitQuery {
    /// Separated by commas.
    #[schemars(regex(pattern = r"^[0-9]{1,18}(,[0-9]{1,18})*$"))]
    ids: String,
    /// States, or groups such as `active`, separated by commas. A task that has ended is not waited for any longer.
    #[serde(default = "ended")]
    #[schemars(regex(
        pattern = r"^(held|blocked|queued|starting|running|paused|stopping|lost|succeeded|failed|cancelled|timed_out|open|waiting|active|ended|all)(,(held|blocked|queued|starting|running|paused|stopping|lost|succeeded|failed|cancelled|timed_out|open|waiting|active|ended|all)){0,15}$"
    ))]
    until: String,
    /// Answer after so many milliseconds at the latest; never later than after a minute.
    #[serde(default)]
    timeout_ms: Option<u64>,
}

fn ended() -> String {
    "ended".to_owned()
}

fn states(names: &str) -> Result<Vec<TaskStateName>, ApiError> {
    let parsed: Result<Vec<States>, String> = names.split(',').map(parse_state).collect();
    let wrong = |complaint: String| {
        ApiError::bad_request(
            format!("`until`: {complaint}"),
            "until=running or until=queued,ended",
        )
    };
    Ok(parsed.map_err(wrong)?.into_iter().flat_map(|states| states.0).collect())
}

/// Answers when each of these has been in one of the states or has ended, or at the deadline with those that have not.
pub(super) async fn wait(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<WaitQuery>, QueryRejection>,
) -> Result<Json<Document<Waited>>, ApiError> {
    let Query(WaitQuery { ids, until, timeout_ms }) = query?;
    let states = states(&until)?;
    let ids: Vec<TaskId> = numbers(&ids)?.into_iter().map(TaskId).collect();
    let mut pending: BTreeSet<TaskId> = ids.iter().copied().collect();
    let named = pending.clone();
    let open = api.streams.open(&caller)?;
    let mut thrown_out = pin!(caller.thrown_out(&api));
    let mut news = api.handle.reader().news();
    let longest = timeout_ms.map_or(LONGEST_WAIT, Duration::from_millis).min(LONGEST_WAIT);
    let deadline = tokio::time::sleep(longest);
    tokio::pin!(deadline);
    loop {
        // Those that have ended are not looked for again, and may have left the read model.
        let left: Vec<TaskId> = pending.iter().copied().collect();
        let model = api.model_with(&left).await?;
        look_for_all(&caller, &model, &pending)?;
        pending.retain(|id| {
            let state = view::state_name(&model, *id);
            !state.is_over() && !states.contains(&state)
        });
        if pending.is_empty() {
            break;
        }
        tokio::select! {
            // Lagging behind or a closed channel only means: look again.
            _ = news.recv() => {}
            () = &mut deadline => break,
            () = &mut thrown_out => return Err(ApiError::unauthenticated()),
        }
        // With many waiting clients, changes of an interval are checked together.
        if let Some(pause) = open.pause() {
            tokio::time::sleep(pause).await;
        }
    }
    let total = ids.len();
    let model = api.model_with(&ids).await?;
    look_for_all(&caller, &model, &named)?;
    let tasks = views_in(&api, &caller, &model, &ids)?;
    let pending = Some(pending.into_iter().map(|id| id.0).collect());
    let tasks = Tasks { tasks, total, more_than_total: false, next: None, next_cursor: None };
    Ok(Json(Document::new(Waited { tasks, pending })))
}

fn look_for_all(
    caller: &Caller,
    model: &ReadModel,
    ids: &BTreeSet<TaskId>,
) -> Result<(), ApiError> {
    let visibility = caller.visibility(model);
    let there = |id: &TaskId| model.tasks.contains_key(id) && visibility.task(*id);
    match ids.iter().find(|id| !there(id)) {
        Some(missing) => Err(danlu_core::Refusal::NoSuchTask(*missing).into()),
        None => Ok(()),
    }
}
