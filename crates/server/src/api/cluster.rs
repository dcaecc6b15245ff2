//! Nodes, GPUs and totals.

use super::caller::Caller;
use super::{Api, view};
use crate::backend::LiveGpus;
use axum::Json;
use axum::extract::State;
use danlu_core::GpuId;
use danlu_wire::api::{Document, ForeignView, GpuView, Gpus, Nodes};
use serde::Serialize;
use std::collections::BTreeMap;

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

#[derive(Debug, Serialize)]
pub(super) struct Status {
    nodes: usize,
    gpus: BTreeMap<String, usize>,
    tasks: BTreeMap<&'static str, usize>,
}

/// How many of each there are.
pub(super) async fn status(State(api): State<Api>, _caller: Caller) -> Json<Document<Status>> {
    let model = api.handle.model();
    let gpus = view::gpu_states(&model);
    let mut status = Status { nodes: model.nodes.len(), gpus, tasks: BTreeMap::new() };
    for id in model.briefs.keys() {
        *status.tasks.entry(view::state_name(&model, *id).as_str()).or_default() += 1;
    }
    Json(Document::new(status))
}
