//! Nodes, GPUs and totals of the cluster.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError, view};
use crate::parse::task_state::ENDED;
use crate::read_model::ReadModel;
use axum::extract::State;
use danlu_core::input::GpuChange;
use danlu_core::{GpuId, Input, NodeId, TaskId};
use danlu_messages::errors;
use danlu_wire::api::{
    Document, ForeignView, GpuAct, GpuStateName, GpuTotals, GpuView, Gpus, MOST_ROWS, Status,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) async fn gpus(State(api): State<Api>, caller: Caller) -> Json<Document<Gpus>> {
    let model = api.handle.model();
    let visibility = caller.visibility(&model);
    let gpus = model.nodes.values().flat_map(|node| {
        let gpus = view::gpus(&model, node).into_iter();
        gpus.map(|gpu| visibility.gpu(with_live(&api, &model, node.id, gpu)))
    });
    Json(Document::new(Gpus { gpus: gpus.collect() }))
}

/// Enables and disables GPUs and sets their slots. Returns all GPUs.
pub(super) async fn manage(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<GpuAct>, ApiError>,
) -> Result<Json<Document<Gpus>>, ApiError> {
    let Json(change) = body?;
    change_gpus(&api, &caller, change).await?;
    Ok(gpus(State(api), caller).await)
}

pub(crate) async fn change_gpus(
    api: &Api,
    caller: &Caller,
    GpuAct { node, enable, disable, slots }: GpuAct,
) -> Result<(), ApiError> {
    let node = chosen(api, node.as_deref())?;
    let by = caller.actor();
    let mut changes = Vec::new();
    if !enable.is_empty() {
        changes.push(GpuChange::Enable(enable));
    }
    if !disable.is_empty() {
        changes.push(GpuChange::Disable(disable));
    }
    if !slots.is_empty() {
        changes.push(GpuChange::Slots(slots));
    }
    for change in changes {
        caller.ask(api, Input::ManageGpus { by, node, change }).await?;
    }
    Ok(())
}

/// The node of that name, or the only one.
pub(crate) fn chosen(api: &Api, name: Option<&str>) -> Result<NodeId, ApiError> {
    let model = api.handle.model();
    let mut nodes = model.nodes.values().filter(|node| name.is_none_or(|name| node.name == name));
    match (nodes.next(), nodes.next()) {
        (Some(node), None) => Ok(node.id),
        (Some(_), Some(_)) => Err(ApiError::bad_request(
            errors::several_machines(),
            errors::say_which_one_node_name(),
        )),
        (None, _) => Err(ApiError::not_found(
            errors::no_such_machine(&name.unwrap_or_default()),
            errors::danlu_nodes_lists_them(),
        )),
    }
}

/// With what was seen of it last, and whether it is idle.
pub(crate) fn with_live(api: &Api, model: &ReadModel, node: NodeId, mut gpu: GpuView) -> GpuView {
    let id = GpuId::from(gpu.uuid.as_str());
    // Of several tasks that share it, none holds it idle.
    if let [task] = gpu.tasks.as_slice() {
        let task = model.tasks.get(&TaskId(*task));
        let run = task.and_then(|task| model.runs.get(&task.trail().last_run?));
        gpu.idle = run.and_then(|run| api.idle.of_gpu(run, &id));
    }
    let Some(seen) = api.live.details(node, &id) else { return gpu };
    gpu.memory_used = seen.memory_used;
    gpu.utilization = seen.utilization.map(u32::from);
    gpu.temperature = seen.temperature.and_then(|degrees| u32::try_from(degrees).ok());
    gpu.power = seen.power;
    gpu.foreign = seen
        .foreign
        .into_iter()
        .map(|it| ForeignView {
            pid: it.pid,
            user: it.user,
            command: it.command,
            memory: it.memory,
            stopped: it.stopped,
        })
        .collect();
    gpu
}

/// How many of each there are, node by node, and what runs.
pub(super) async fn status(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<Status>>, ApiError> {
    let model = api.handle.model();
    let mut gpus = view::gpu_states(&model);
    // These three are always there.
    for state in [GpuStateName::Free, GpuStateName::Held, GpuStateName::Foreign] {
        gpus.add(state, 0);
    }
    let mut tasks = BTreeMap::new();
    for id in model.briefs.keys() {
        *tasks.entry(view::state_name(&model, *id)).or_default() += 1;
    }
    for state in ENDED {
        let retired = model.past.of(None, Some(&[state]));
        if retired > 0 {
            *tasks.entry(state).or_default() += retired;
        }
    }
    let visibility = caller.visibility(&model);
    let running = model.active_runs().map(|run| run.task).filter(|task| visibility.task(*task));
    let running: BTreeSet<TaskId> = running.collect();
    let running = running.into_iter().take(MOST_ROWS).collect();
    let running = super::tasks::views(&api, &caller, running).await?;
    let per_node = super::nodes::views(&api, &caller);
    Ok(Json(Document::new(Status {
        nodes: model.nodes.len(),
        gpus: GpuTotals(gpus),
        tasks,
        per_node,
        running,
        notices: api.handle.notices().seen_by(caller.admin),
    })))
}
