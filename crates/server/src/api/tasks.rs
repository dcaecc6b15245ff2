//! Tasks: lists, single ones, and what people do with them.

use super::caller::Caller;
use super::{Api, ApiError, view};
use crate::model::ReadModel;
use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use danlu_core::{Actor, Input, Task, TaskId, explain};
use danlu_wire::api::{
    Act, ActName, ActResult, Acted, Document, MOST_ROWS, OneTask, TaskStateName, TaskView, Tasks,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A client that waits is answered at the latest after this, and asks again.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Ids in one request.
const MOST_IDS: usize = 100_000;

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Filter {
    /// Names of states, separated by commas.
    state: Option<String>,
    user: Option<String>,
    node: Option<String>,
    /// `key=value`.
    label: Option<String>,
    project: Option<String>,
    /// Newest first unless told otherwise.
    oldest_first: bool,
    cursor: Option<u64>,
    limit: usize,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            state: None,
            user: None,
            node: None,
            label: None,
            project: None,
            oldest_first: false,
            cursor: None,
            limit: MOST_ROWS,
        }
    }
}

pub(super) async fn list(
    State(api): State<Api>,
    _caller: Caller,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Result<Json<Document<Tasks>>, ApiError> {
    let Query(filter) = filter?;
    let states = filter.states()?;
    let model = api.handle.model();
    let limit = filter.limit.clamp(1, MOST_ROWS);
    let mut found = Vec::new();
    let mut total = 0;
    let matching = |task: &Task| filter.lets_through(&model, task, states.as_deref());
    let all: Box<dyn Iterator<Item = &std::sync::Arc<Task>> + Send> = if filter.oldest_first {
        Box::new(model.tasks.values())
    } else {
        Box::new(model.tasks.values().rev())
    };
    let mut next = None;
    for task in all.filter(|task| matching(task)) {
        total += 1;
        let before = filter.cursor.is_some_and(|cursor| {
            if filter.oldest_first { task.id.0 < cursor } else { task.id.0 > cursor }
        });
        if before {
            continue;
        }
        if found.len() == limit {
            next = next.or(Some(task.id.0));
        } else {
            found.push(task.id);
        }
    }
    let tasks = views(&api, found).await?;
    Ok(Json(Document::new(Tasks { tasks, total, next })))
}

pub(super) async fn one(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<u64>,
) -> Result<Json<Document<OneTask>>, ApiError> {
    let id = TaskId(id);
    let mut task = views(&api, vec![id]).await?.pop().ok_or(danlu_core::Refusal::NoSuchTask(id))?;
    let model = api.handle.model();
    if let Some(row) = model.tasks.get(&id) {
        let environment = match (&row.spec.launch.environment, caller.may_see_inside(row)) {
            (Some(hash), Ok(())) => environment(&api, hash.clone()).await?,
            _ => None,
        };
        task.details = Some(view::details(&model, row, environment));
    }
    Ok(Json(Document::new(OneTask { task })))
}

#[derive(Debug, Serialize)]
pub(super) struct Why {
    why: WhyBody,
}

#[derive(Debug, Serialize)]
struct WhyBody {
    task: TaskView,
    words: Option<String>,
    expected_start_at: Option<String>,
}

pub(super) async fn why(
    State(api): State<Api>,
    _caller: Caller,
    Path(id): Path<u64>,
) -> Result<Json<Document<Why>>, ApiError> {
    let id = TaskId(id);
    let task = views(&api, vec![id]).await?.pop().ok_or(danlu_core::Refusal::NoSuchTask(id))?;
    let words = task.why.clone();
    Ok(Json(Document::new(Why { why: WhyBody { task, words, expected_start_at: None } })))
}

pub(super) async fn act(
    State(api): State<Api>,
    caller: Caller,
    Path((id, act)): Path<(u64, String)>,
    body: Result<Json<serde_json::Value>, JsonRejection>,
) -> Result<Json<Document<OneTask>>, ApiError> {
    let Ok(act) = serde_json::from_value::<ActName>(serde_json::Value::String(act.clone())) else {
        return Err(ApiError::not_found(
            format!("tasks cannot be asked to `{act}`"),
            "danlu --help",
        ));
    };
    let position = body.ok().and_then(|Json(body)| body.get("position")?.as_u64()).unwrap_or(0);
    let position = usize::try_from(position).unwrap_or(usize::MAX);
    api.handle.ask(input(act, caller.actor(), TaskId(id), position)).await?;
    let task = views(&api, vec![TaskId(id)]).await?.pop();
    let task = task.ok_or(danlu_core::Refusal::NoSuchTask(TaskId(id)))?;
    Ok(Json(Document::new(OneTask { task })))
}

/// Each is done or refused on its own.
pub(super) async fn act_on_many(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Act>, JsonRejection>,
) -> Result<Json<Document<Acted>>, ApiError> {
    let Json(Act { act, ids, position }) = body?;
    if ids.len() > MOST_IDS {
        return Err(ApiError::bad_request(
            format!("more than {MOST_IDS} ids"),
            "ask for fewer at once",
        ));
    }
    // All are on their way before the first is waited for, so that they share commits.
    let asked: Vec<_> = ids
        .iter()
        .map(|id| (*id, api.handle.begin(input(act, caller.actor(), TaskId(*id), position))))
        .collect();
    let mut results = Vec::with_capacity(asked.len());
    for (id, answer) in asked {
        let error = answer.wait().await.err().map(|error| ApiError::from(error).0);
        results.push(ActResult { id, error });
    }
    Ok(Json(Document::new(Acted { results })))
}

pub(super) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Path(id): Path<u64>,
) -> Result<Json<Document<Acted>>, ApiError> {
    let task = TaskId(id);
    api.handle.ask(Input::Remove { by: caller.actor(), task }).await?;
    Ok(Json(Document::new(Acted { results: vec![ActResult { id, error: None }] })))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    /// Separated by commas.
    ids: String,
}

/// Answers when all of these have ended, or after a while with what there is.
pub(super) async fn wait(
    State(api): State<Api>,
    _caller: Caller,
    wanted: Result<Query<Wanted>, QueryRejection>,
) -> Result<Json<Document<Tasks>>, ApiError> {
    let Query(Wanted { ids }) = wanted?;
    let parsed: Result<Vec<u64>, _> = ids.split(',').map(str::parse).collect();
    let Ok(ids) = parsed else {
        return Err(ApiError::bad_request("`ids` is a list of numbers", "ids=1,2,3"));
    };
    let ids: Vec<TaskId> = ids.into_iter().take(MOST_IDS).map(TaskId).collect();
    let mut news = api.handle.reader().news();
    let deadline = tokio::time::sleep(LONGEST_WAIT);
    tokio::pin!(deadline);
    loop {
        let model = api.handle.model();
        if let Some(missing) = ids.iter().find(|id| !model.tasks.contains_key(*id)) {
            return Err(danlu_core::Refusal::NoSuchTask(*missing).into());
        }
        if ids.iter().all(|id| model.tasks[id].is_finished()) {
            break;
        }
        tokio::select! {
            // Lagging behind or a closed channel only means: look again.
            _ = news.recv() => {}
            () = &mut deadline => break,
        }
    }
    let total = ids.len();
    let tasks = views(&api, ids).await?;
    Ok(Json(Document::new(Tasks { tasks, total, next: None })))
}

/// The tasks as they are shown, with the reason why each waits.
pub(super) async fn views(api: &Api, ids: Vec<TaskId>) -> Result<Vec<TaskView>, ApiError> {
    let model = api.handle.model();
    let waiting: Vec<TaskId> = ids
        .iter()
        .copied()
        .filter(|id| model.tasks.get(id).is_some_and(|task| waits(task)))
        .collect();
    let mut reasons = std::collections::BTreeMap::new();
    if !waiting.is_empty() {
        let question = move |state: &danlu_core::State, _: &crate::store::Store, now| {
            let reason = |id: TaskId| Some((id, explain(state, id, now)?));
            waiting.into_iter().filter_map(reason).collect()
        };
        reasons = api.handle.look(question).await?;
    }
    let rows = ids.iter().filter_map(|id| model.tasks.get(id));
    Ok(rows.map(|task| view::task(&model, task, reasons.remove(&task.id))).collect())
}

async fn environment(api: &Api, hash: String) -> Result<Option<Vec<String>>, ApiError> {
    let found = api.handle.look(move |_, store, _| store.environment(&hash).ok().flatten()).await?;
    Ok(found.map(|bytes| crate::environment::variables(&bytes)))
}

fn waits(task: &Task) -> bool {
    use danlu_core::task::TaskState::{Blocked, Held, Queued};
    matches!(task.state, Held | Blocked { .. } | Queued { .. })
}

fn input(act: ActName, by: Actor, task: TaskId, position: usize) -> Input {
    match act {
        ActName::Cancel => Input::Cancel { by, task },
        ActName::Hold => Input::Hold { by, task },
        ActName::Release => Input::Release { by, task },
        ActName::Pause => Input::Pause { by, task },
        ActName::Resume => Input::Resume { by, task },
        ActName::Retry => Input::Retry { by, task },
        ActName::Start => Input::Start { by, task },
        ActName::Move => Input::Move { by, task, position },
        ActName::Remove => Input::Remove { by, task },
    }
}

impl Filter {
    fn states(&self) -> Result<Option<Vec<TaskStateName>>, ApiError> {
        let Some(names) = &self.state else { return Ok(None) };
        let one = |name: &str| {
            TaskStateName::ALL.into_iter().find(|state| state.as_str() == name).ok_or_else(|| {
                let known = TaskStateName::ALL.map(TaskStateName::as_str).join(", ");
                ApiError::bad_request(
                    format!("`{name}` is not a state"),
                    &format!("one of {known}"),
                )
            })
        };
        names.split(',').map(one).collect::<Result<_, _>>().map(Some)
    }

    fn lets_through(
        &self,
        model: &ReadModel,
        task: &Task,
        states: Option<&[TaskStateName]>,
    ) -> bool {
        let user =
            |name: &String| model.users.get(&task.owner).is_some_and(|user| user.name == *name);
        let label = |wanted: &String| match wanted.split_once('=') {
            Some((key, value)) => task.spec.labels.get(key).is_some_and(|it| it == value),
            None => task.spec.labels.contains_key(wanted),
        };
        let node = |name: &String| {
            let run = task.last_run.and_then(|run| model.runs.get(&run));
            let mut nodes = run.into_iter().flat_map(|run| &run.parts).map(|part| part.node);
            nodes.any(|id| model.nodes.get(&id).is_some_and(|node| node.name == *name))
        };
        self.user.as_ref().is_none_or(user)
            && self.label.as_ref().is_none_or(label)
            && self.project.as_ref().is_none_or(|wanted| task.spec.project.as_ref() == Some(wanted))
            && self.node.as_ref().is_none_or(node)
            && states.is_none_or(|states| states.contains(&view::state_name(model, task)))
    }
}
