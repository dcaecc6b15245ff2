//! The map of all GPUs: owner, utilization and problems of each.

use super::amounts;
use super::page_context::Visit;
use crate::api::{Api, cluster, view};
use crate::read_model::ReadModel;
use danlu_core::{Node, TaskId, UserId};
use danlu_messages::web::gpu_map as msg;
use danlu_wire::api::{ForeignView, GpuStateName, GpuView};

pub(super) struct NodeMap {
    pub(super) name: String,
    /// What is in it.
    pub(super) about: String,
    pub(super) warning: Option<&'static str>,
    pub(super) cells: Vec<Cell>,
}

pub(super) struct Cell {
    pub(super) gpu: GpuView,
    /// `mine`, `others`, `outside`, `free`, `attention` or `off`.
    pub(super) kind: &'static str,
    pub(super) holder: String,
    /// The task that holds it.
    pub(super) task: Option<u64>,
    pub(super) memory: String,
    pub(super) memory_percent: u64,
    pub(super) title: String,
    /// `idle 2 h`, where it is held and not used.
    pub(super) idle: Option<String>,
}

impl Cell {
    pub(super) fn is_quarantined(&self) -> bool {
        self.gpu.state == GpuStateName::Quarantined
    }
}

pub(super) fn nodes(api: &Api, visit: &Visit) -> Vec<NodeMap> {
    let model = api.handle.model();
    let map = |node: &Node| {
        let visibility = visit.caller.visibility(&model);
        let gpus = view::gpus(&model, node).into_iter();
        let gpus = gpus.map(|gpu| visibility.gpu(cluster::with_live(api, &model, node.id, gpu)));
        NodeMap {
            name: node.name.clone(),
            about: about(node),
            warning: warning(node),
            cells: gpus.map(|gpu| cell(gpu, &model, visit)).collect(),
        }
    };
    model.nodes.values().map(|node| map(node)).collect()
}

/// `8 × A100 80 GiB · 64 cores · 512 GiB`.
fn about(node: &Node) -> String {
    let mut models: Vec<(String, usize)> = Vec::new();
    for gpu in &node.gpus {
        let name = format!("{} {}", gpu.model, amounts::bytes(gpu.memory));
        match models.iter_mut().find(|(known, _)| *known == name) {
            Some((_, count)) => *count += 1,
            None => models.push((name, 1)),
        }
    }
    let mut parts: Vec<String> =
        models.into_iter().map(|(name, count)| format!("{count} × {name}")).collect();
    if let Some(capacity) = node.capacity {
        let (cores, memory) = (capacity.cpus, amounts::bytes(capacity.memory));
        parts.push(msg::cores_cores(&cores));
        parts.push(msg::memory_ram(&memory));
    }
    parts.join(" · ")
}

fn warning(node: &Node) -> Option<&'static str> {
    if !node.is_ready() && node.capacity.is_none() {
        return Some(msg::not_reached_yet());
    }
    if !node.is_ready() {
        return Some(msg::unreachable_tasks_continue());
    }
    node.draining.then(msg::draining_nothing_new_starts_here)
}

fn cell(gpu: GpuView, model: &ReadModel, visit: &Visit) -> Cell {
    let kind = kind(&gpu, model, visit.caller.id);
    let memory = match gpu.memory_used {
        Some(used) => amounts::part_of(used, gpu.memory_total),
        None => amounts::bytes(gpu.memory_total),
    };
    Cell {
        kind,
        holder: holder(&gpu, model),
        task: gpu.tasks.first().copied(),
        memory,
        memory_percent: amounts::percent(gpu.memory_used.unwrap_or(0), gpu.memory_total),
        title: gpu
            .idle
            .iter()
            .map(|idle| idle.why.clone())
            .chain(gpu.foreign.iter().map(process))
            .collect::<Vec<_>>()
            .join("; "),
        idle: gpu.idle.as_ref().and_then(|idle| idle_for(&idle.since)),
        gpu,
    }
}

/// `idle 2 h`: there is no room for more.
fn idle_for(since: &str) -> Option<String> {
    let since = since.parse::<jiff::Timestamp>().ok()?;
    let seconds = jiff::Timestamp::now().as_second() - since.as_second();
    Some(msg::idle_for(&danlu_messages::amounts::two_units(u64::try_from(seconds).unwrap_or(0))))
}

fn kind(gpu: &GpuView, model: &ReadModel, me: UserId) -> &'static str {
    let is_mine = |id: &u64| model.tasks.get(&TaskId(*id)).is_some_and(|task| task.owner == me);
    match gpu.state {
        GpuStateName::Held | GpuStateName::Shared if gpu.tasks.iter().any(is_mine) => "mine",
        GpuStateName::Held | GpuStateName::Shared => "others",
        GpuStateName::Foreign => "outside",
        GpuStateName::Free => "free",
        GpuStateName::Disabled => "off",
        GpuStateName::Conflict
        | GpuStateName::Dirty
        | GpuStateName::Quarantined
        | GpuStateName::Unknown => "attention",
    }
}

/// The word that goes with the colour.
fn holder(gpu: &GpuView, model: &ReadModel) -> String {
    if let Some(first) = gpu.tasks.first() {
        let task = model.tasks.get(&TaskId(*first));
        let owner = task.and_then(|task| model.users.get(&task.owner));
        let owner = owner.map_or("", |owner| owner.name.as_str());
        let more = match gpu.tasks.len() {
            1 => String::new(),
            count => format!(" +{}", count - 1),
        };
        return format!("#{first}{more} {owner}");
    }
    match gpu.state {
        GpuStateName::Free => msg::free().to_owned(),
        GpuStateName::Held | GpuStateName::Shared => msg::in_use().to_owned(),
        GpuStateName::Foreign => match gpu.foreign.first() {
            Some(process) if !process.user.is_empty() => {
                format!("{}, pid {}", process.user, process.pid)
            }
            _ => msg::outside().to_owned(),
        },
        GpuStateName::Disabled => msg::not_given_out().to_owned(),
        GpuStateName::Dirty => msg::memory_not_freed().to_owned(),
        GpuStateName::Quarantined => msg::set_aside().to_owned(),
        GpuStateName::Conflict => {
            let others = gpu.also_on.join(", ");
            msg::also_reported_by_others(&others)
        }
        GpuStateName::Unknown => msg::unknown().to_owned(),
    }
}

/// `chen, pid 4711, python train.py, 21 GiB`.
pub(super) fn process(process: &ForeignView) -> String {
    let pid = format!("pid {}", process.pid);
    let words = [process.user.clone(), pid, process.command.clone()].into_iter();
    let mut words: Vec<String> = words.filter(|word| !word.is_empty()).collect();
    words.extend(process.memory.map(amounts::bytes));
    words.extend(process.stopped.then(|| danlu_messages::idle::stopped_stays().to_owned()));
    words.join(", ")
}
