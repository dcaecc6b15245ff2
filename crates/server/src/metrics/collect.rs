//! Takes a snapshot of the server. Costs what machines, GPUs, users and running tasks cost; tasks that wait or have ended
//! are counted already.

use super::snapshot::{
    CustomFigure, GpuFigures, MetricsSnapshot, NodeFigures, ServerFigures, UserFigures,
};
use crate::api::Api;
use crate::api::view::{self, GpuHolders};
use crate::daemon::clock;
use crate::notify::PostState;
use crate::read_model::{BriefState, ReadModel};
use danlu_core::{GpuId, NodeId, UserId};
use danlu_wire::api::TaskStateName;
use danlu_wire::samples::Samples;
use imbl::OrdMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub(crate) fn collect(api: &Api, per_user: bool) -> MetricsSnapshot {
    let model = api.handle.model();
    let read = api.usage.live();
    MetricsSnapshot {
        at: clock::now(),
        nodes: nodes(&model, &read),
        gpus: gpus(api, &model),
        tasks: tasks(&model),
        users: if per_user { users(&model) } else { Vec::new() },
        custom: custom(api, &model),
        counts: api.handle.reader().counters().figures(),
        server: server(api),
    }
}

fn nodes(model: &ReadModel, read: &OrdMap<NodeId, Arc<Samples>>) -> Vec<NodeFigures> {
    let figures = model.nodes.values().map(|node| NodeFigures {
        name: node.name.clone(),
        up: node.is_ready(),
        unfit: node.unfit.is_some(),
        draining: node.draining,
        schedulable: node.is_open(),
        cpus: node.capacity.map(|capacity| capacity.cpus),
        reading: read.get(&node.id).and_then(|samples| samples.machine).unwrap_or_default(),
    });
    figures.collect()
}

fn gpus(api: &Api, model: &ReadModel) -> Vec<GpuFigures> {
    let holders = GpuHolders::of_all(model);
    let mut all = Vec::new();
    for node in model.nodes.values() {
        for gpu in view::gpus_of(model, node, &holders) {
            let seen = api.live.details(node.id, &GpuId::from(gpu.uuid.as_str()));
            let seen = seen.as_ref();
            all.push(GpuFigures {
                memory_used: seen.and_then(|it| it.memory_used),
                utilization: seen.and_then(|it| it.utilization),
                temperature: seen.and_then(|it| it.temperature),
                power: seen.and_then(|it| it.power),
                node: gpu.node,
                index: gpu.index,
                uuid: gpu.uuid,
                model: gpu.model,
                state: gpu.state,
                tasks: gpu.tasks.len(),
                memory_total: gpu.memory_total,
            });
        }
    }
    all
}

fn tasks(model: &ReadModel) -> Vec<(TaskStateName, usize)> {
    let mut counts: BTreeMap<TaskStateName, usize> = BTreeMap::new();
    for ((_, state), count) in model.digest.counts() {
        match state {
            BriefState::Waiting(name) | BriefState::Ended(name) => {
                *counts.entry(*name).or_default() += count;
            }
            // Their runs tell more.
            BriefState::Active => {}
        }
    }
    for run in model.active_runs() {
        *counts.entry(view::active_state(model, run.task)).or_default() += 1;
    }
    let of = |state: TaskStateName| {
        let retired = if state.is_over() { model.past.of(None, Some(&[state])) } else { 0 };
        counts.get(&state).copied().unwrap_or(0) + retired
    };
    TaskStateName::ALL.into_iter().map(|state| (state, of(state))).collect()
}

fn users(model: &ReadModel) -> Vec<UserFigures> {
    let mut held: BTreeSet<(UserId, NodeId, &GpuId)> = BTreeSet::new();
    for run in model.active_runs() {
        let Some(task) = model.tasks.get(&run.task) else { continue };
        for part in run.parts.iter().filter(|part| !part.is_ended()) {
            held.extend(part.gpus.iter().map(|gpu| (task.owner, part.node, gpu)));
        }
    }
    let mut queued: BTreeMap<UserId, usize> = BTreeMap::new();
    for ((user, state), count) in model.digest.counts() {
        if *state == BriefState::Waiting(TaskStateName::Queued) {
            *queued.entry(*user).or_default() += count;
        }
    }
    let mut gpus: BTreeMap<UserId, usize> = BTreeMap::new();
    held.iter().for_each(|(user, _, _)| *gpus.entry(*user).or_default() += 1);
    let known = model.users.values().filter(|user| !user.removed);
    let figures = known.map(|user| UserFigures {
        name: user.name.clone(),
        gpus_held: gpus.get(&user.id).copied().unwrap_or(0),
        tasks_queued: queued.get(&user.id).copied().unwrap_or(0),
    });
    figures.collect()
}

/// Of probes that are still configured.
fn custom(api: &Api, model: &ReadModel) -> Vec<CustomFigure> {
    let settings = api.usage.settings();
    let mut found = Vec::new();
    for ((node, name, gpu), value) in api.usage.newest_custom().iter() {
        let Some(metric) = settings.metrics.iter().find(|metric| metric.probe.name == *name) else {
            continue;
        };
        let Some(node) = model.nodes.get(node) else { continue };
        let index = |id: &GpuId| node.gpus.iter().find(|it| it.id == *id).map(|it| it.index);
        let gpu = match gpu.as_ref().map(index) {
            None => None,
            Some(Some(index)) => Some(index),
            // It is not listed any more.
            Some(None) => continue,
        };
        let (name, unit, node) = (name.clone(), metric.unit.clone(), node.name.clone());
        found.push(CustomFigure { name, unit, node, gpu, value: *value });
    }
    found
}

fn server(api: &Api) -> ServerFigures {
    let posts = api.notifier.counts();
    let (samples_waiting, samples_dropped) = api.usage.backlog();
    ServerFigures {
        notices: api.handle.notices().all().len(),
        posts_waiting: posts.of(PostState::Waiting),
        posts_sent: posts.of(PostState::Sent),
        posts_failed: posts.of(PostState::Failed),
        posts_dropped: posts.of(PostState::Dropped),
        targets_failing: api.notifier.failing().len(),
        samples_waiting,
        samples_dropped,
        influx: api.metrics.influx().figures(),
    }
}
