//! All nodes and GPUs in detail; administrators enable and disable GPUs here.

use super::acts::done;
use super::charts::{self, spark_line};
use super::form::Sent;
use super::gpu_map::{self, Cell, NodeMap};
use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use crate::api::{Api, ApiError, cluster};
use askama::Template;
use axum::extract::{Path, State};
use danlu_messages::errors;
use danlu_messages::web::charts as words;
use danlu_messages::web::pages;
use danlu_wire::api::GpuAct;
use std::collections::BTreeMap;

#[derive(Template)]
#[template(path = "gpus.html")]
struct GpusPage<'a> {
    context: &'a PageContext,
    nodes: Vec<NodeMap>,
    /// By node and GPU.
    lines: BTreeMap<(String, String), String>,
}

pub(super) async fn gpus(State(api): State<Api>, visit: Visit) -> PageResult {
    let nodes = gpu_map::nodes(&api, &visit);
    let model = api.handle.model();
    let line = |cell: &Cell| {
        let (node, uuid) = (&cell.gpu.node, &cell.gpu.uuid);
        let id = model.nodes.values().find(|one| one.name == *node)?.id;
        let line = spark_line(&api, id, uuid, visit.context.now)?;
        Some(((node.clone(), uuid.clone()), line))
    };
    let lines = nodes.iter().flat_map(|node| &node.cells).filter_map(line).collect();
    Ok(page(&GpusPage { context: &visit.context, nodes, lines }))
}

#[derive(Template)]
#[template(path = "gpu.html")]
struct GpuPage<'a> {
    context: &'a PageContext,
    /// `machine:index`.
    name: String,
    node: String,
    model: String,
    titles: String,
}

pub(super) async fn one(
    State(api): State<Api>,
    visit: Visit,
    Path(name): Path<String>,
) -> PageResult {
    let mut cells = gpu_map::nodes(&api, &visit).into_iter().flat_map(|node| node.cells);
    let found = cells.find(|cell| format!("{}:{}", cell.gpu.node, cell.gpu.index) == name);
    let unknown =
        || ApiError::not_found(errors::gpu_not_known(&name), errors::danlu_gpus_lists_them());
    let Cell { gpu, .. } = found.ok_or_else(unknown).map_err(visit.no())?;
    let titles = charts::titles();
    Ok(page(&GpuPage { context: &visit.context, name, node: gpu.node, model: gpu.model, titles }))
}

impl GpusPage<'_> {
    fn line(&self, cell: &Cell) -> &str {
        let of = (cell.gpu.node.clone(), cell.gpu.uuid.clone());
        self.lines.get(&of).map_or("", String::as_str)
    }

    /// Of the task that holds it.
    fn owner<'a>(&self, cell: &'a Cell) -> &'a str {
        cell.holder.split_once(' ').map_or("", |(_, owner)| owner)
    }

    fn processes(&self, cell: &Cell) -> Vec<String> {
        cell.gpu.foreign.iter().map(gpu_map::process).collect()
    }
}

pub(super) async fn act(State(api): State<Api>, sent: Sent) -> PageResult {
    let result = match change(&sent) {
        Ok(change) => cluster::change_gpus(&api, &sent.visit.caller, change).await,
        Err(error) => Err(error),
    };
    done(&sent, result)
}

fn change(sent: &Sent) -> Result<GpuAct, ApiError> {
    let wrong = |_| {
        ApiError::bad_request(
            errors::gpus_and_slots_are_numbers(),
            errors::go_back_and_choose_again(),
        )
    };
    let gpu: u32 = sent.field("gpu").parse().map_err(wrong)?;
    let mut change = GpuAct { node: Some(sent.field("node").to_owned()), ..GpuAct::default() };
    match sent.field("act") {
        "enable" => drop(change.enable.insert(gpu)),
        "disable" => drop(change.disable.insert(gpu)),
        _ => drop(change.slots.insert(gpu, sent.field("slots").parse().map_err(wrong)?)),
    }
    Ok(change)
}
