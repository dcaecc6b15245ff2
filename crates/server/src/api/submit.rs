//! Submits tasks and edits waiting ones.

use super::body::{Json, TaskBody};
use super::caller::Caller;
use super::me::template_of;
use super::nodes::is_for_data;
use super::{Api, ApiError, task_paths};
use crate::daemon::archive;
use crate::daemon::handle::NotNow;
use crate::store::environment;
use crate::store::{Environment, Store, StoreError};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use danlu_core::refusal::Counted;
use danlu_core::resources::Sharing;
use danlu_core::task::{ArraySpec, DEFAULT_PRIORITY, Dependency, LaunchSpec, TaskSpec};
use danlu_core::{Forecast, Input, Refusal, Reply, Request, Span, Task, TaskId, Time, limits};
use danlu_messages::errors;
use danlu_spec::{Change, Patch, patch};
use danlu_wire::api::{Array, Document, DryRun, ErrorCode, OneTask, Submitted, WouldStart};
use std::sync::Arc;

pub(super) async fn submit(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<TaskBody, ApiError>,
) -> Result<Response, ApiError> {
    let TaskBody(mut body) = body?;
    body.fill_from(template_of(&api, &caller));
    if body.dry_run.value() == Some(&true) {
        let dry_run = dry_run(&api, &caller, body).await?;
        return Ok(Json(Document::new(DryRun { dry_run })).into_response());
    }
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let submitted = accept(&api, &caller, body, key, None).await?;
    Ok((StatusCode::CREATED, Json(Document::new(submitted))).into_response())
}

/// Returns when it is committed. Without an environment of its own, a copy gets that of its original.
pub(crate) async fn accept(
    api: &Api,
    caller: &Caller,
    mut body: Patch,
    key: Option<String>,
    copy_of: Option<&Task>,
) -> Result<Submitted, ApiError> {
    check_runs_as(api, caller).await?;
    look_for_dependencies(api, caller, &body).await?;
    resolve_archived(api, &mut body).await?;
    let paths_answered = task_paths::check(api, caller.id, &body).await?;
    let (mut spec, mut environment) = spec(api, body)?;
    if let Some(task) = copy_of.filter(|_| environment.is_none()) {
        environment = keep_environment(api, &mut spec, task).await?;
    }
    let count = spec.array.as_ref().map_or(1, |array| array.indices.len() as u64);
    let input = Input::Submit { by: caller.id, spec, key };
    match caller.ask_with(api, input, environment).await? {
        Reply::Task(id) => {
            api.handle.all_there(id).await;
            Ok(Submitted { id: id.0, count, paths_unanswered: !paths_answered })
        }
        Reply::Done | Reply::Node(_) | Reply::User(_) => Err(ApiError::new(
            ErrorCode::Internal,
            errors::unexpected_reply(),
            errors::report_this(),
        )),
    }
}

/// A task that the caller may not see cannot be a dependency either.
async fn look_for_dependencies(api: &Api, caller: &Caller, body: &Patch) -> Result<(), ApiError> {
    let ids: Vec<TaskId> = body.dependencies().map(|dependency| dependency.task).collect();
    let model = api.model_with(&ids).await?;
    let there = |id: &TaskId| model.tasks.contains_key(id);
    ids.iter().filter(|id| there(id)).try_for_each(|id| caller.look_for(&model, *id))
}

/// Dependencies on archived tasks are resolved here.
async fn resolve_archived(api: &Api, body: &mut Patch) -> Result<(), ApiError> {
    let after = archive::resolve(api, body.dependencies().collect()).await?;
    body.after = Change::Set(after.into_iter().map(Into::into).collect());
    Ok(())
}

/// The state has no retired tasks, and a question brings none back: what they decide is decided here.
async fn resolve_retired(api: &Api, body: &mut Patch) -> Result<(), ApiError> {
    let after: Vec<Dependency> = body.dependencies().collect();
    let ids: Vec<TaskId> = after.iter().map(|dependency| dependency.task).collect();
    let live = api.handle.model();
    let model = api.with_retired(Arc::clone(&live), &ids).await?;
    let retired = |dependency: &Dependency| {
        let task = model.tasks.get(&dependency.task);
        task.filter(|task| !live.tasks.contains_key(&task.id)).and_then(|task| task.outcome())
    };
    let released = |dependency: &Dependency| Some(dependency.allows(retired(dependency)?));
    // It would never start: as one that is held, it is told no time.
    if after.iter().any(|dependency| released(dependency) == Some(false)) {
        body.hold = Change::Set(true);
    }
    let left = after.iter().filter(|dependency| released(dependency).is_none());
    body.after = Change::Set(left.map(|dependency| (*dependency).into()).collect());
    Ok(())
}

/// On the socket the kernel names the OS user; other accounts may not exist on this machine.
async fn check_runs_as(api: &Api, caller: &Caller) -> Result<(), ApiError> {
    if caller.local || api.own_uid != 0 {
        return Ok(());
    }
    let model = api.handle.model();
    let mut named = api.logins.os_users(caller.id);
    let here = named.remove(&api.config.node_name);
    if !named.is_empty() {
        // Their tasks can run on other machines.
        return Ok(());
    }
    let usual = || model.users.get(&caller.id).map_or("", |user| user.os_name()).to_owned();
    let name = here.unwrap_or_else(usual);
    let asked = name.clone();
    let found = tokio::task::spawn_blocking(move || danlu_node::user::find(&asked)).await;
    match found {
        Ok(Ok(None)) => {
            Err(ApiError::refused(errors::no_os_user(&name, &caller.name), errors::set_os_user()))
        }
        // A lookup that fails now may succeed when the task starts.
        _ => Ok(()),
    }
}

/// Whether it would be accepted, and where and when it would start.
pub(crate) async fn dry_run(
    api: &Api,
    caller: &Caller,
    mut body: Patch,
) -> Result<WouldStart, ApiError> {
    look_for_dependencies(api, caller, &body).await?;
    resolve_archived(api, &mut body).await?;
    resolve_retired(api, &mut body).await?;
    task_paths::check(api, caller.id, &body).await?;
    let (spec, _) = spec(api, body)?;
    let by = caller.id;
    let question = move |state: &danlu_core::State, _: &Store, now| {
        danlu_core::dry_run(state, by, &spec, now).map(|forecast| WouldStart {
            learnt_gpu_memory: danlu_core::learnt_gpu_memory(state, by, &spec.command),
            ..would_start(state, &forecast)
        })
    };
    Ok(api.handle.look(question).await??)
}

fn would_start(state: &danlu_core::State, forecast: &Forecast) -> WouldStart {
    let parts = forecast.placement.iter().flat_map(|placement| &placement.parts);
    let parts = parts.filter_map(|part| Some((part, state.nodes.get(&part.node)?)));
    let gpus = parts.clone().flat_map(|(part, node)| {
        part.gpus.positions().filter_map(|at| node.gpus.get(at)).map(|gpu| gpu.index)
    });
    let nodes: Vec<&str> = parts.clone().map(|(_, node)| node.name.as_str()).collect();
    WouldStart {
        now: forecast.placement.is_some(),
        expected_start_at: forecast.starts_at.map(super::view::rfc3339),
        node: (!nodes.is_empty()).then(|| nodes.join(",")),
        gpu_ids: gpus.collect(),
        learnt_gpu_memory: None,
    }
}

/// The fields that are given replace those of the task; the others stay.
pub(super) async fn edit(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
    body: Result<TaskBody, ApiError>,
) -> Result<Json<Document<OneTask>>, ApiError> {
    let Path(id) = path?;
    let TaskBody(changes) = body?;
    let id = TaskId(id);
    let model = api.model_with(&[id]).await?;
    let task = model.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    // Before any error about the task reveals something of it.
    caller.may_see_inside(&model, task)?;
    let mut body = described(task);
    body.replace_with(changes);
    replace(&api, &caller, task, body).await?;
    let task =
        super::tasks::views(&api, &caller, vec![id]).await?.pop().ok_or(Refusal::NoSuchTask(id))?;
    Ok(Json(Document::new(OneTask { task })))
}

/// The new description in place of the old one; without an environment of its own it keeps the old one's.
pub(crate) async fn replace(
    api: &Api,
    caller: &Caller,
    task: &Task,
    body: Patch,
) -> Result<(), ApiError> {
    task_paths::check(api, task.owner, &body).await?;
    let (mut spec, mut environment) = spec(api, body)?;
    if environment.is_none() {
        environment = keep_environment(api, &mut spec, task).await?;
    }
    let input = Input::Edit { by: caller.actor(), task: task.id, spec };
    caller.ask_with(api, input, environment).await?;
    Ok(())
}

/// Of that task. It goes along with what is submitted: that task may be the last that needs it, and be removed meanwhile.
async fn keep_environment(
    api: &Api,
    spec: &mut TaskSpec,
    task: &Task,
) -> Result<Option<Environment>, ApiError> {
    spec.launch.environment.clone_from(&task.spec.launch.environment);
    let Some(hash) = task.spec.launch.environment.clone() else { return Ok(None) };
    let question = move |store: &Store| {
        let variables = store.environment(&hash)?;
        Ok(variables.map(|variables| Environment { hash, variables }))
    };
    let found: Result<_, StoreError> = api.handle.read(question).await?;
    found.map_err(|error| ApiError::from(NotNow::from(&error)))
}

/// Machines that only keep data cannot be requested. Unknown names are refused by the core.
fn check_for_data(api: &Api, body: &Patch) -> Result<(), ApiError> {
    let model = api.handle.model();
    let chosen = |node: &&danlu_core::Node| {
        body.node.value().is_none_or(|it| it.matches(&node.name, &node.labels))
    };
    let chosen = model.nodes.values().map(|node| &**node).filter(chosen);
    let (data, tasks): (Vec<_>, Vec<_>) = chosen.partition(|node| is_for_data(api, &node.name));
    let Some(first) = data.first() else { return Ok(()) };
    let (asked, count, name) =
        (body.nodes.value().map_or(1, |nodes| *nodes.max(&1)), tasks.len(), &first.name);
    if count >= asked as usize {
        return Ok(());
    }
    let error = match asked {
        1 => ApiError::refused(errors::for_data_only(name), &errors::give_it_tasks(name)),
        _ => ApiError::refused(
            errors::too_few_run_tasks(&asked, &count, name),
            &format!("--nodes {count}"),
        ),
    };
    Err(error)
}

/// Makes the task from the patch, with defaults for missing fields.
fn spec(api: &Api, body: Patch) -> Result<(TaskSpec, Option<Environment>), ApiError> {
    let model = &*api.handle.model();
    let begin = body.begin.value().map(|begin| time(begin)).transpose()?;
    let packed = environment::pack(body.environment.value().map_or(&[], Vec::as_slice));
    let environment =
        packed.map_err(|message| ApiError::refused(message, errors::write_variables()))?;
    let has_gpus = model.nodes.values().any(|node| !node.gpus.is_empty());
    let sharing = sharing(&body)?;
    check_for_data(api, &body)?;
    super::notify::check_rules(api, body.notify.value().map_or(&[], Vec::as_slice))?;
    let (output, after) = (body.output(), body.dependencies().collect());
    let mut gpu_ids = body.gpu_ids.into_value_or_default();
    gpu_ids.sort_unstable();
    gpu_ids.dedup();
    let named = u32::try_from(gpu_ids.len()).unwrap_or(u32::MAX);
    let gpus = body.gpus.into_value().unwrap_or(u32::from(has_gpus)).max(named);
    // 1 is the default.
    let nodes = body.nodes.into_value().filter(|nodes| *nodes != 1).unwrap_or(0);
    let request = Request {
        gpus: gpus.saturating_mul(nodes.max(1)),
        nodes,
        // A GPU task takes no CPU slot unless it says so; a CPU task takes one.
        cpus: body.cpus.into_value().unwrap_or(u32::from(gpus == 0)),
        memory: body.memory.into_value_or_default(),
        span_nodes: false,
        gpu_memory: body.gpu_memory.into_value_or_default(),
        sharing,
        gpu_model: body.gpu_model.into_value(),
        node: body.node.into_value(),
        prefer: body.prefer.into_value(),
        gpu_ids,
        resources: body.resources.into_value_or_default(),
    };
    let shell = body.shell.into_value_or_default();
    let launch = LaunchSpec {
        shell,
        shell_program: body.shell_program.into_value().filter(|_| shell),
        directory: body.directory.into_value_or_default(),
        environment: environment.as_ref().map(|it| it.hash.clone()),
        variables: body.variables.into_value_or_default(),
        output,
        gpu_argument: body.gpu_argument.into_value(),
        gpus_by_uuid: body.gpus_by_uuid.into_value_or_default(),
        python: body.python.into_value(),
        umask: body.umask.into_value().map(umask).transpose()?,
    };
    let array = body.array.into_value().map(array).transpose()?;
    let spec = TaskSpec {
        name: body.name.into_value_or_default(),
        description: body.description.into_value_or_default(),
        project: body.project.into_value(),
        labels: body.labels.into_value_or_default(),
        command: body.command.into_value_or_default(),
        launch: launch.into(),
        request: request.into(),
        time_limit: body.time_limit.into_value().map(Span::from_secs),
        expected: None,
        retries: body.retries.into_value().unwrap_or(model.ledger.settings.default_retries),
        retry_on: body.retry_on.into_value_or_default(),
        begin,
        preemptible: body.preemptible.into_value_or_default(),
        urgent: body.urgent.into_value_or_default(),
        priority: body.priority.into_value().unwrap_or(DEFAULT_PRIORITY),
        after,
        hold: body.hold.into_value_or_default(),
        array,
        notify: body.notify.into_value_or_default(),
    };
    Ok((spec, environment))
}

fn umask(given: u32) -> Result<u32, ApiError> {
    if given <= 0o777 {
        return Ok(given);
    }
    Err(ApiError::refused(errors::bad_umask(&given), errors::umask_range()))
}

fn sharing(body: &Patch) -> Result<Sharing, ApiError> {
    let is_said = |said: &Change<bool>| said.value() == Some(&true);
    let idle_utilization = body.idle_util.value().copied().unwrap_or(0);
    match (is_said(&body.shared), is_said(&body.exclusive)) {
        (true, true) => {
            Err(ApiError::refused(errors::shared_and_exclusive(), errors::shared_or_exclusive()))
        }
        (true, false) => Ok(Sharing::Shared { idle_utilization }),
        (false, _) if idle_utilization > 0 => Err(ApiError::refused(
            errors::idle_needs_sharing(),
            "--shared --vram 20G --idle-util 50",
        )),
        (false, true) => Ok(Sharing::Exclusive),
        (false, false) => Ok(Sharing::Slot),
    }
}

/// The description with which the task could be submitted again.
pub(crate) fn described(task: &Task) -> Patch {
    let spec = (*task.spec).clone();
    let begin = spec.begin.map(super::view::rfc3339);
    patch::described(spec, begin)
}

/// The indices of a sweep need not be given.
fn array(Array { mut indices, at_once, grid }: Array) -> Result<ArraySpec, ApiError> {
    if !grid.is_empty() && indices.is_empty() {
        let count = ArraySpec::combinations(&grid).and_then(|count| u32::try_from(count).ok());
        let most = limits::TASKS_PER_ARRAY;
        let count = count.filter(|count| *count as usize <= most);
        let too_many = Refusal::TooMany { what: Counted::Combinations, limit: most };
        indices = (0..count.ok_or(too_many)?).collect();
    }
    Ok(ArraySpec { indices, at_once, grid })
}

fn time(given: &str) -> Result<Time, ApiError> {
    let time: Result<jiff::Timestamp, _> = given.parse();
    time.map(|time| Time(time.as_millisecond()))
        .map_err(|_| ApiError::refused(errors::given_is_not_a_time(&given), errors::use_rfc_3339()))
}
