//! Nodes, GPUs and totals.

use super::caller::Caller;
use super::{Api, ApiError, view};
use crate::backend::LiveGpus;
use axum::Json;
use axum::extract::State;
use danlu_core::{GpuId, TaskId};
use danlu_wire::api::{Document, ForeignView, GpuView, Gpus, MOST_ROWS, Nodes, Status};
use std::collections::{BTreeMap, BTreeSet};

pub(super) async fn gpus(State(api): State<Api>, _caller: Caller) -> Json<Document<Gpus>> {
    let model = api.handle.model();
    let gpus = model
        .nodes
        .values()
        .flat_map(|node| view::gpus(&model, node))
        .map(|gpu| with_live(&api.live, gpu));
    Json(Document::new(Gpus { gpus: gpus.collect() }))
}

pub(super) async fn nodes(State(api): State<Api>, _caller: Caller) -> Json<Document<Nodes>> {
    let model = api.handle.model();
    let nodes = model.nodes.values().map(|node| view::node(&model, node));
    Json(Document::new(Nodes { nodes: nodes.collect() }))
}

fn with_live(live: &LiveGpus, mut gpu: GpuView) -> GpuView {
    let Some(seen) = live.details(&GpuId::from(gpu.uuid.as_str())) else { return gpu };
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
        })
        .collect();
    gpu
}

/// How many of each there are, node by node, and what runs.
pub(super) async fn status(
    State(api): State<Api>,
    _caller: Caller,
) -> Result<Json<Document<Status>>, ApiError> {
    let model = api.handle.model();
    let mut gpus = view::gpu_states(&model);
    gpus.insert("total".to_owned(), gpus.values().sum());
    for state in ["free", "held", "foreign"] {
        gpus.entry(state.to_owned()).or_default();
    }
    let mut tasks = BTreeMap::new();
    for id in model.briefs.keys() {
        *tasks.entry(view::state_name(&model, *id)).or_default() += 1;
    }
    let running: BTreeSet<TaskId> = model.active_runs().map(|run| run.task).collect();
    let running = super::tasks::views(&api, running.into_iter().take(MOST_ROWS).collect()).await?;
    let per_node = model.nodes.values().map(|node| view::node(&model, node)).collect();
    Ok(Json(Document::new(Status { nodes: model.nodes.len(), gpus, tasks, per_node, running })))
}
