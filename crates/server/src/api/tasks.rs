//! Tasks: lists, single tasks, and actions on them.

use super::body::{Json, with_whole_numbers};
use super::caller::Caller;
use super::encoding::{ContentNegotiation, EncodedBody};
use super::submit::described;
use super::{Api, ApiError, efficiency, select, task_paths, view};
use crate::daemon::handle::Asked;
use crate::read_model::ReadModel;
use axum::body::Bytes;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::response::{IntoResponse, Response};
use danlu_core::{Actor, Input, Span, Task, TaskId, WaitReason, explain};
use danlu_messages::Language;
use danlu_messages::errors;
use danlu_wire::api::{
    Act, ActName, ActResult, Acted, Dependents, Document, ErrorCode, Failure, OneTask, Scope,
    TaskStateName, TaskView,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Ids in one request.
const MOST_IDS: usize = 100_000;
/// Of these, how many the engine has before it has answered the first.
const AT_ONCE: usize = 1_000;
/// Timeout of reads from the store; details are left out of the response then.
pub(super) const LONGEST_READ: Duration = Duration::from_millis(500);

pub(super) async fn list(
    State(api): State<Api>,
    caller: Caller,
    request: Request,
) -> Result<Response, ApiError> {
    let model = api.handle.model();
    let uri = request.uri();
    let query = uri.query().unwrap_or_default().to_owned();
    let key = (caller.id, caller.admin, Language::current(), query);
    let list = match api.lists.get(&key, &model) {
        Some(list) => list,
        None => {
            let Query(filter) = Query::try_from_uri(uri)?;
            let tasks = Document::new(select(&api, &caller, filter).await?.tasks);
            // Texts and numbers only: they can be written.
            let list = Arc::new(EncodedBody::json(serde_json::to_vec(&tasks).unwrap_or_default()));
            api.lists.put(key, &model, Arc::clone(&list));
            list
        }
    };
    Ok(list.answer(&ContentNegotiation::of(request.headers())).await)
}

pub(super) async fn one(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
) -> Result<Json<Document<OneTask>>, ApiError> {
    let Path(id) = path?;
    let task = one_task(&api, &caller, TaskId(id)).await?;
    Ok(Json(Document::new(OneTask { task })))
}

/// With its details, as far as the caller may see them.
pub(crate) async fn one_task(api: &Api, caller: &Caller, id: TaskId) -> Result<TaskView, ApiError> {
    let model = api.model_with(&[id]).await?;
    let mut task = visible(api, caller, &model, id).await?;
    if let Some(row) = model.tasks.get(&id) {
        // Read-only tokens are for programs that show lists.
        let inside = match caller.sees_inside(row) && caller.scope != Scope::Read {
            true => Some(inside(api, row).await?),
            false => None,
        };
        let mut details = view::details(&model, row, inside);
        if !caller.sees_inside(row) {
            details.runs.iter_mut().filter_map(|run| run.failure.as_mut()).for_each(hide_evidence);
        }
        for (run, efficiency) in efficiency::efficiencies(api, &model, row).await {
            let name = run.to_string();
            let view = details.runs.iter_mut().find(|view| view.run == name);
            view.into_iter().for_each(|view| view.efficiency = Some(efficiency.clone()));
        }
        task.details = Some(details);
    }
    Ok(task)
}

/// A task that the caller may not see is answered as one that does not exist.
pub(super) async fn visible(
    api: &Api,
    caller: &Caller,
    model: &ReadModel,
    id: TaskId,
) -> Result<TaskView, ApiError> {
    let hidden = !caller.visibility(model).task(id);
    let task = if hidden { None } else { views_in(api, caller, model, &[id])?.pop() };
    let mut task = task.ok_or(danlu_core::Refusal::NoSuchTask(id))?;
    let row = model.tasks.get(&id).filter(|row| caller.sees_inside(row));
    if let Some(row) = row.filter(|row| waits(row) || task.state == TaskStateName::Starting) {
        let on: Vec<&str> = task.node.iter().flat_map(|names| names.split(',')).collect();
        task.silent_paths = task_paths::silent(api, row.owner, &described(row), &on).await;
    }
    Ok(task)
}

pub(super) async fn act(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<(u64, String)>, PathRejection>,
    body: Bytes,
) -> Result<Json<Document<OneTask>>, ApiError> {
    let Path((id, act)) = path?;
    let body = ActBody::parse(&with_whole_numbers(body))?;
    let Ok(act) = serde_json::from_value::<ActName>(serde_json::Value::String(act.clone())) else {
        return Err(ApiError::not_found(
            errors::tasks_cannot_be_asked_to_act(&act),
            "danlu --help",
        ));
    };
    let with = ActArguments { position: body.position, more: Span::from_secs(body.more) };
    caller.look_for(&*api.model_with(&[TaskId(id)]).await?, TaskId(id))?;
    let asked = caller.ask(&api, input(act, caller.actor(), TaskId(id), with)).await;
    asked.map_err(|error| caller.refusal(&api.handle.model(), error))?;
    let task = views(&api, &caller, vec![TaskId(id)]).await?.pop();
    let task = task.ok_or(danlu_core::Refusal::NoSuchTask(TaskId(id)))?;
    Ok(Json(Document::new(OneTask { task })))
}

/// What some acts need to know; most need nothing, and no body.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ActBody {
    /// For `move`: the place among one's own, 0 for the first.
    position: usize,
    /// For `extend` and `keep`: seconds.
    more: u64,
}

impl ActBody {
    fn parse(body: &Bytes) -> Result<ActBody, ApiError> {
        if body.is_empty() {
            return Ok(ActBody::default());
        }
        serde_json::from_slice(body).map_err(|error| {
            ApiError::bad_request(errors::bad_act_arguments(&error), errors::act_arguments())
        })
    }
}

/// Each task is acted on or refused separately.
pub(super) async fn act_on_many(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Act>, ApiError>,
) -> Result<Response, ApiError> {
    let Json(act) = body?;
    let is_cancel = act.act == ActName::Cancel;
    // It goes on when the client goes away: what was asked for is done as a whole.
    let (asked, asking) = (api.clone(), caller.clone());
    let all = async move { act_on_all(&asked, &asking, act).await };
    let done = tokio::spawn(Language::current().speaking(all)).await;
    let results = done.map_err(|_| internal_error())??.into_iter();
    let model = api.handle.model();
    let results = results.map(move |(id, error)| {
        let is_done = is_cancel && error.is_none();
        let waits_for = if is_done { away(&model, TaskId(id)) } else { Vec::new() };
        ActResult { id, error: error.map(|error| error.0), waits_for }
    });
    let encode = || Json(Document::new(Acted { results: results.collect() })).into_response();
    // With many ids that takes long, and this thread answers everybody.
    tokio::task::spawn_blocking(encode).await.map_err(|_| internal_error())
}

fn internal_error() -> ApiError {
    ApiError::new(ErrorCode::Internal, errors::internal(), errors::see_the_servers_log())
}

/// Machines on which a task still runs as far as is known, and that cannot be reached now.
fn away(model: &ReadModel, task: TaskId) -> Vec<String> {
    let parts = model.runs_of(task).filter(|run| !run.is_ended()).flat_map(|run| &run.parts);
    let nodes =
        parts.filter(|part| !part.is_ended()).filter_map(|part| model.nodes.get(&part.node));
    nodes.filter(|node| node.live_session().is_none()).map(|node| node.name.clone()).collect()
}

pub(crate) async fn act_on_all(
    api: &Api,
    caller: &Caller,
    Act { act, ids, position, more, cascade }: Act,
) -> Result<Vec<(u64, Option<ApiError>)>, ApiError> {
    let with = ActArguments { position, more: Span::from_secs(more) };
    if ids.len() > MOST_IDS {
        return Err(ApiError::refused(
            errors::more_than_most_ids(&MOST_IDS),
            errors::ask_for_fewer_at_once(),
        ));
    }
    if cascade && !matches!(act, ActName::Cancel | ActName::Remove) {
        return Err(ApiError::refused(errors::cascade_not_allowed(), errors::leave_cascade_out()));
    }
    let named: Vec<TaskId> = ids.iter().copied().map(TaskId).collect();
    let model = api.model_for(caller, &named).await?;
    let seen = |id: &u64| caller.look_for(&model, TaskId(*id)).is_ok();
    let waiting = if cascade { waiting_for(api, &ids)? } else { Vec::new() };
    let waiting: Vec<u64> = waiting.into_iter().filter(seen).collect();
    let before = waiting.iter().map(|id| (*id, ActName::Cancel));
    let ids: Vec<(u64, ActName)> = before.chain(ids.iter().map(|id| (*id, act))).collect();
    // Many are on their way at once, so that they share commits; not all, so that others' requests get in between.
    let mut asked = VecDeque::with_capacity(AT_ONCE);
    let mut results = Vec::with_capacity(ids.len());
    for (id, act) in ids {
        if asked.len() == AT_ONCE {
            results.extend(answered(caller, &model, asked.pop_front()).await);
            if results.len() % AT_ONCE == 0 {
                api.handle.follow();
            }
        }
        let input = || input(act, caller.actor(), TaskId(id), with);
        let seen = caller.look_for(&model, TaskId(id));
        asked.push_back((id, seen.map(|()| caller.begin(api, input()))));
    }
    while !asked.is_empty() {
        results.extend(answered(caller, &model, asked.pop_front()).await);
    }
    Ok(results)
}

type AskedOf = (u64, Result<Asked, ApiError>);

async fn answered(
    caller: &Caller,
    model: &ReadModel,
    asked: Option<AskedOf>,
) -> Option<(u64, Option<ApiError>)> {
    let (id, asked) = asked?;
    let error = match asked {
        Err(error) => Some(error),
        Ok(asked) => asked.wait().await.err().map(|error| caller.refusal(model, error)),
    };
    Some((id, error))
}

/// Dependents before their dependencies.
pub(crate) fn waiting_for(api: &Api, ids: &[u64]) -> Result<Vec<u64>, ApiError> {
    let ids: Vec<TaskId> = ids.iter().copied().map(TaskId).collect();
    let waiting = api.handle.consider(|state, _| state.waiting_for(&ids))?;
    Ok(waiting.into_iter().map(|id| id.0).collect())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    /// Separated by commas.
    #[schemars(regex(pattern = r"^[0-9]{1,18}(,[0-9]{1,18})*$"))]
    ids: String,
}

pub(super) async fn dependents(
    State(api): State<Api>,
    caller: Caller,
    named: Result<Query<Named>, QueryRejection>,
) -> Result<Json<Document<Dependents>>, ApiError> {
    let Query(Named { ids }) = named?;
    let mut ids = waiting_for(&api, &numbers(&ids)?)?;
    let model = api.handle.model();
    ids.retain(|id| caller.visibility(&model).task(TaskId(*id)));
    Ok(Json(Document::new(Dependents { ids })))
}

pub(super) fn numbers(ids: &str) -> Result<Vec<u64>, ApiError> {
    let parsed: Result<Vec<u64>, _> = ids.split(',').take(MOST_IDS).map(str::parse).collect();
    parsed.map_err(|_| ApiError::bad_request(errors::ids_is_a_list_of_numbers(), "ids=1,2,3"))
}

pub(super) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
) -> Result<Json<Document<Acted>>, ApiError> {
    let Path(id) = path?;
    let task = TaskId(id);
    caller.look_for(&*api.model_with(&[task]).await?, task)?;
    let asked = caller.ask(&api, Input::Remove { by: caller.actor(), task }).await;
    asked.map_err(|error| caller.refusal(&api.handle.model(), error))?;
    Ok(Json(Document::new(Acted {
        results: vec![ActResult { id, error: None, waits_for: Vec::new() }],
    })))
}

/// The tasks as they are shown, with the reason why each waits.
pub(super) async fn views(
    api: &Api,
    caller: &Caller,
    ids: Vec<TaskId>,
) -> Result<Vec<TaskView>, ApiError> {
    let model = api.model_with(&ids).await?;
    views_in(api, caller, &model, &ids)
}

/// The same of tasks that are in the model.
pub(super) fn views_in(
    api: &Api,
    caller: &Caller,
    model: &ReadModel,
    ids: &[TaskId],
) -> Result<Vec<TaskView>, ApiError> {
    let visibility = caller.visibility(model);
    let waiting: Vec<TaskId> = ids
        .iter()
        .copied()
        .filter(|id| model.tasks.get(id).is_some_and(|task| waits(task)))
        .collect();
    let mut reasons: BTreeMap<TaskId, WaitReason> = BTreeMap::new();
    if !waiting.is_empty() {
        reasons = api.handle.consider(|state, now| {
            let reason = |id: &TaskId| Some((*id, explain(state, *id, now)?));
            waiting.iter().filter_map(reason).collect()
        })?;
    }
    let rows = ids.iter().filter_map(|id| model.tasks.get(id));
    let mut wait = |id| reasons.remove(&id).map(|wait| visibility.wait(wait));
    let view = |task: &Arc<Task>| {
        let mut view = view::task(model, task, wait(task.id));
        if !caller.sees_inside(task) {
            view.failure.iter_mut().for_each(hide_evidence);
        }
        view.idle = api.idle.of_task(model, task);
        view
    };
    Ok(rows.map(view).collect())
}

/// A line of the log, which is the owner's: others see of which class a failure is.
fn hide_evidence(failure: &mut Failure) {
    failure.evidence = None;
}

async fn inside(api: &Api, task: &Task) -> Result<view::PrivateDetails, ApiError> {
    let launch = &task.spec.launch;
    let hash = launch.environment.clone();
    let question = move |store: &crate::store::Store| store.environment(&hash?).ok().flatten();
    // The engine may wait for the disk; readers do not.
    let environment = timeout(LONGEST_READ, api.handle.read(question)).await.unwrap_or(Ok(None))?;
    Ok(view::PrivateDetails {
        variables: launch.variables.clone(),
        notify: task.spec.notify.clone(),
        environment: environment.map(|bytes| crate::store::environment::variables(&bytes)),
    })
}

fn waits(task: &Task) -> bool {
    use danlu_core::task::TaskState::{Blocked, Held, Queued};
    matches!(task.state, Held | Blocked { .. } | Queued { .. })
}

/// What some acts need to know besides the task.
#[derive(Clone, Copy)]
struct ActArguments {
    position: usize,
    more: Span,
}

fn input(
    act: ActName,
    by: Actor,
    task: TaskId,
    ActArguments { position, more }: ActArguments,
) -> Input {
    match act {
        ActName::Cancel => Input::Cancel { by, task },
        ActName::Hold => Input::Hold { by, task },
        ActName::Release => Input::Release { by, task },
        ActName::Pause => Input::Pause { by, task },
        ActName::Resume => Input::Resume { by, task },
        ActName::Retry => Input::Retry { by, task },
        ActName::Start => Input::Start { by, task },
        ActName::Move => Input::Move { by, task, position },
        ActName::Requeue => Input::Requeue { by, task },
        ActName::Extend => Input::Extend { by, task, more },
        ActName::Keep => Input::Keep { by, task, time: more },
        ActName::Remove => Input::Remove { by, task },
    }
}
