//! New tasks, and new descriptions for waiting ones.

use super::body::Json;
use super::caller::Caller;
use super::me::template_of;
use super::nodes::is_for_data;
use super::{Api, ApiError, task_paths};
use crate::archive;
use crate::environment;
use crate::store::{Environment, Store};
use crate::template;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use danlu_core::resources::Sharing;
use danlu_core::task::{ArraySpec, DEFAULT_PRIORITY, LaunchSpec, TaskSpec};
use danlu_core::{Forecast, Input, Refusal, Reply, Request, Span, Task, TaskId, Time, limits};
use danlu_messages::errors;
use danlu_wire::api::{
    Array, Document, DryRun, ErrorCode, Needs, OneTask, Submit, Submitted, WouldStart,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

pub(super) async fn submit(
    State(api): State<Api>,
    caller: Caller,
    headers: HeaderMap,
    body: Result<Json<Map<String, Value>>, ApiError>,
) -> Result<Response, ApiError> {
    let Json(body) = body?;
    let body = whole(&api, &caller, body)?;
    if body.dry_run {
        let dry_run = dry_run(&api, &caller, body).await?;
        return Ok(Json(Document::new(DryRun { dry_run })).into_response());
    }
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let submitted = accept(&api, &caller, body, key, None).await?;
    Ok((StatusCode::CREATED, Json(Document::new(submitted))).into_response())
}

/// With what its owner's tasks have when nothing else is said.
pub(crate) fn whole(
    api: &Api,
    caller: &Caller,
    mut body: Map<String, Value>,
) -> Result<Submit, ApiError> {
    template::put_under(&mut body, template_of(api, caller));
    serde_json::from_value(Value::Object(body)).map_err(|error| not_a_task(&error))
}

fn not_a_task(error: &serde_json::Error) -> ApiError {
    let message = errors::this_does_not_describe_a_task_error(&error);
    ApiError::bad_request(message, errors::danlu_submit_help_or_the_fields_in_api_v1())
}

/// Answers when it is durable. Without an environment of its own it has that of the task it is a copy of.
pub(crate) async fn accept(
    api: &Api,
    caller: &Caller,
    body: Submit,
    key: Option<String>,
    copy_of: Option<&Task>,
) -> Result<Submitted, ApiError> {
    check_runs_as(api, caller).await?;
    look_for_dependencies(api, caller, &body)?;
    let after = archive::resolve(api, body.after.clone()).await?;
    let body = Submit { after, ..body };
    let paths_answered = task_paths::check(api, caller.id, &body).await?;
    let (mut spec, environment) = spec(api, body)?;
    if let Some(task) = copy_of.filter(|_| environment.is_none()) {
        spec.launch.environment.clone_from(&task.spec.launch.environment);
    }
    let count = spec.array.as_ref().map_or(1, |array| array.indices.len() as u64);
    let input = Input::Submit { by: caller.id, spec, key };
    match caller.ask_with(api, input, environment).await? {
        Reply::Task(id) => Ok(Submitted { id: id.0, count, paths_unanswered: !paths_answered }),
        _ => Err(ApiError::new(
            ErrorCode::Internal,
            errors::a_submit_got_another_answer(),
            errors::report_this(),
        )),
    }
}

/// What somebody may not see, they cannot wait for either.
fn look_for_dependencies(api: &Api, caller: &Caller, body: &Submit) -> Result<(), ApiError> {
    let model = api.handle.model();
    let there = |id| model.tasks.contains_key(&id);
    let mut ids = body.after.iter().map(|dependency| dependency.task);
    ids.try_for_each(|id| if there(id) { caller.look_for(&model, id) } else { Ok(()) })
}

/// On the socket the kernel says who it is; others have accounts that may be nobody on this machine.
async fn check_runs_as(api: &Api, caller: &Caller) -> Result<(), ApiError> {
    if caller.local || api.own_uid != 0 {
        return Ok(());
    }
    let model = api.handle.model();
    let mut named = api.logins.os_users(caller.id);
    let here = named.remove(&api.config.node_name);
    if !named.is_empty() {
        // Their tasks can run elsewhere.
        return Ok(());
    }
    let usual = || model.users.get(&caller.id).map_or("", |user| user.os_name()).to_owned();
    let name = here.unwrap_or_else(usual);
    let asked = name.clone();
    let found = tokio::task::spawn_blocking(move || danlu_node::user::find(&asked)).await;
    match found {
        Ok(Ok(None)) => Err(ApiError::refused(
            errors::no_os_user(&name, &caller.name),
            errors::an_administrator_can_name_one_danlu_user_set(),
        )),
        // One that cannot be looked up now may be there when the task starts.
        _ => Ok(()),
    }
}

/// Whether it would be accepted, and where and when it would start.
pub(crate) async fn dry_run(
    api: &Api,
    caller: &Caller,
    body: Submit,
) -> Result<WouldStart, ApiError> {
    let mut body = body;
    look_for_dependencies(api, caller, &body)?;
    body.after = archive::resolve(api, body.after).await?;
    task_paths::check(api, caller.id, &body).await?;
    let (spec, _) = spec(api, body)?;
    let by = caller.id;
    let look = move |state: &danlu_core::State, _: &Store, now| {
        danlu_core::dry_run(state, by, &spec, now).map(|forecast| WouldStart {
            learnt_gpu_memory: danlu_core::learnt_gpu_memory(state, by, &spec.command),
            ..would_start(state, &forecast)
        })
    };
    Ok(api.handle.look(look).await??)
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

/// Any of the fields of a task.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct Changes(Map<String, Value>);

/// The fields that are given replace those of the task; the others stay.
pub(super) async fn edit(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
    body: Result<Json<Changes>, ApiError>,
) -> Result<Json<Document<OneTask>>, ApiError> {
    let Path(id) = path?;
    let Json(Changes(changes)) = body?;
    let id = TaskId(id);
    let model = api.handle.model();
    let task = model.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    // Before anything is said about it.
    caller.may_see_inside(&model, task)?;
    let mut whole = serde_json::to_value(described(task)).unwrap_or_default();
    if let Some(fields) = whole.as_object_mut() {
        fields.extend(changes);
    }
    let body: Submit = serde_json::from_value(whole).map_err(|error| not_a_task(&error))?;
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
    body: Submit,
) -> Result<(), ApiError> {
    task_paths::check(api, task.owner, &body).await?;
    let (mut spec, environment) = spec(api, body)?;
    if environment.is_none() {
        spec.launch.environment.clone_from(&task.spec.launch.environment);
    }
    let input = Input::Edit { by: caller.actor(), task: task.id, spec };
    caller.ask_with(api, input, environment).await?;
    Ok(())
}

/// Machines that keep data and run no tasks are not waited for. Names that nobody has are refused by the core.
fn check_for_data(api: &Api, needs: &Needs) -> Result<(), ApiError> {
    let model = api.handle.model();
    let chosen = |node: &&danlu_core::Node| {
        needs.node.as_ref().is_none_or(|it| it.matches(&node.name, &node.labels))
    };
    let chosen = model.nodes.values().map(|node| &**node).filter(chosen);
    let (data, tasks): (Vec<_>, Vec<_>) = chosen.partition(|node| is_for_data(api, &node.name));
    let Some(first) = data.first() else { return Ok(()) };
    let (asked, count, name) = (needs.nodes.max(1), tasks.len(), &first.name);
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

fn spec(api: &Api, body: Submit) -> Result<(TaskSpec, Option<Environment>), ApiError> {
    let model = &*api.handle.model();
    let begin = body.begin.as_deref().map(time).transpose()?;
    let environment = environment::pack(&body.environment).map_err(|message| {
        ApiError::refused(message, errors::variables_are_name_value_without_zero_bytes())
    })?;
    let has_gpus = model.nodes.values().any(|node| !node.gpus.is_empty());
    let sharing = sharing(&body.request)?;
    let needs = body.request;
    check_for_data(api, &needs)?;
    let Needs { cpus, memory, gpu_memory, gpu_model, mut gpu_ids, resources, .. } = needs;
    gpu_ids.sort_unstable();
    gpu_ids.dedup();
    let named = u32::try_from(gpu_ids.len()).unwrap_or(u32::MAX);
    let gpus = body.gpus.unwrap_or(u32::from(has_gpus)).max(named);
    // One is what every task has.
    let nodes = if needs.nodes == 1 { 0 } else { needs.nodes };
    let request = Request {
        gpus: gpus.saturating_mul(nodes.max(1)),
        nodes,
        // A GPU task takes no CPU slot unless it says so; a CPU task takes one.
        cpus: cpus.unwrap_or(u32::from(gpus == 0)),
        memory,
        span_nodes: false,
        gpu_memory,
        sharing,
        gpu_model,
        node: needs.node,
        prefer: needs.prefer,
        gpu_ids,
        resources,
    };
    let launch = LaunchSpec {
        shell: body.shell,
        shell_program: body.shell_program.filter(|_| body.shell),
        directory: body.directory,
        environment: environment.as_ref().map(|it| it.hash.clone()),
        variables: body.variables,
        output: body.output,
        gpu_argument: body.gpu_argument,
        gpus_by_uuid: body.gpus_by_uuid,
        python: body.python,
        umask: body.umask.map(umask).transpose()?,
    };
    let array = body.array.map(array).transpose()?;
    let spec = TaskSpec {
        name: body.name,
        description: body.description,
        project: body.project,
        labels: body.labels,
        command: body.command,
        launch,
        request,
        time_limit: body.time_limit.map(Span::from_secs),
        expected: None,
        retries: body.retries.unwrap_or(model.ledger.settings.default_retries),
        retry_on: body.retry_on,
        begin,
        preemptible: body.preemptible,
        urgent: body.urgent,
        priority: body.priority.unwrap_or(DEFAULT_PRIORITY),
        after: body.after,
        hold: body.hold,
        array,
    };
    Ok((spec, environment))
}

fn umask(given: u32) -> Result<u32, ApiError> {
    if given <= 0o777 {
        return Ok(given);
    }
    Err(ApiError::refused(
        errors::given_is_no_umask_it_has_permission_bits(&given),
        errors::a_number_from_0_to_511_that_is_0o777(),
    ))
}

fn sharing(needs: &Needs) -> Result<Sharing, ApiError> {
    match (needs.shared, needs.exclusive) {
        (true, true) => Err(ApiError::refused(
            errors::a_task_has_its_gpus_to_itself_or_shares_them(),
            errors::shared_or_exclusive(),
        )),
        (true, false) => Ok(Sharing::Shared { idle_utilization: needs.idle_util }),
        (false, _) if needs.idle_util > 0 => Err(ApiError::refused(
            errors::how_idle_a_gpu_must_be_is_said_by_tasks_that(),
            "--shared --vram 20G --idle-util 50",
        )),
        (false, true) => Ok(Sharing::Exclusive),
        (false, false) => Ok(Sharing::Slot),
    }
}

/// The description of a task as somebody could have submitted it.
pub(crate) fn described(task: &Task) -> Submit {
    let spec = (*task.spec).clone();
    Submit {
        name: spec.name,
        description: spec.description,
        project: spec.project,
        labels: spec.labels,
        command: spec.command,
        shell: spec.launch.shell,
        shell_program: spec.launch.shell_program,
        directory: spec.launch.directory,
        environment: Vec::new(),
        variables: spec.launch.variables,
        gpus: Some(spec.request.gpus_per_node()),
        request: Needs {
            nodes: spec.request.nodes,
            cpus: Some(spec.request.cpus),
            memory: spec.request.memory,
            gpu_memory: spec.request.gpu_memory,
            shared: spec.request.is_shared(),
            idle_util: match spec.request.sharing {
                Sharing::Shared { idle_utilization } => idle_utilization,
                Sharing::Slot | Sharing::Exclusive => 0,
            },
            exclusive: spec.request.sharing == Sharing::Exclusive,
            gpu_model: spec.request.gpu_model,
            node: spec.request.node,
            prefer: spec.request.prefer,
            gpu_ids: spec.request.gpu_ids,
            resources: spec.request.resources,
        },
        time_limit: spec.time_limit.map(|span| span.0 / 1000),
        retries: Some(spec.retries),
        retry_on: spec.retry_on,
        begin: spec.begin.map(super::view::rfc3339),
        preemptible: spec.preemptible,
        urgent: spec.urgent,
        priority: Some(spec.priority),
        after: spec.after,
        hold: false,
        array: spec.array.map(|ArraySpec { indices, at_once, grid }| Array {
            indices,
            at_once,
            grid,
        }),
        output: spec.launch.output,
        gpu_argument: spec.launch.gpu_argument,
        gpus_by_uuid: spec.launch.gpus_by_uuid,
        python: spec.launch.python,
        umask: spec.launch.umask,
        dry_run: false,
    }
}

/// The indices of a sweep need not be given.
fn array(Array { mut indices, at_once, grid }: Array) -> Result<ArraySpec, ApiError> {
    if !grid.is_empty() && indices.is_empty() {
        let count = ArraySpec::combinations(&grid).and_then(|count| u32::try_from(count).ok());
        let most = limits::TASKS_PER_ARRAY;
        let count = count.filter(|count| *count as usize <= most);
        let too_many = Refusal::TooMany { what: "combinations", limit: most };
        indices = (0..count.ok_or(too_many)?).collect();
    }
    Ok(ArraySpec { indices, at_once, grid })
}

fn time(given: &str) -> Result<Time, ApiError> {
    let time: Result<jiff::Timestamp, _> = given.parse();
    time.map(|time| Time(time.as_millisecond())).map_err(|_| {
        ApiError::refused(
            errors::given_is_not_a_time(&given),
            errors::as_in_rfc_3339_2026_11_20t22_00_00_08_00(),
        )
    })
}
