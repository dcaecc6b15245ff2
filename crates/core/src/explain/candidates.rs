//! All constraints that may keep a task from starting, the ones that end soonest first.

use super::constraint::{
    Attribute, Constraint, GpuName, GpuObstacle, Holder, NodeName, NodeObstacle,
};
use crate::model::gpu::{Gpu, GpuCondition};
use crate::model::ids::{NodeId, RunId, TaskId};
use crate::model::node::{Link, Node};
use crate::model::number::fraction::Fraction;
use crate::model::resources::{Claim, Request, Sharing};
use crate::model::task::{Dependency, Task, TaskState};
use crate::schedule::quota::{Excess, Limit, Load, Party, Quota};
use crate::state::State;

pub(super) fn all(state: &State, task: &Task) -> Vec<Constraint> {
    let mut all = of_the_task(state, task);
    all.extend(quotas(state, task));
    all.extend(of_runs(state, &task.spec.request));
    all.extend(of_gpus(state, &task.spec.request));
    all.extend(of_nodes(state));
    all.extend(of_settings(state, &task.spec.request));
    all.extend(attributes(state, &task.spec.request).into_iter().map(Constraint::Asks));
    all
}

fn of_the_task(state: &State, task: &Task) -> Vec<Constraint> {
    let mut found = Vec::new();
    if task.state == TaskState::Held {
        found.push(task.trail().doubt.map_or(Constraint::Held, |why| Constraint::InDoubt { why }));
    }
    let on: Vec<TaskId> = task.spec.after.iter().filter_map(|it| unmet(state, *it)).collect();
    if !on.is_empty() {
        found.push(Constraint::Dependencies { on });
    }
    if let Some(at) = task.trail().not_before {
        let begins = task.spec.begin == Some(at);
        found.push(match begins {
            true => Constraint::Begins { at },
            false => Constraint::RetryAt { at },
        });
    }
    if state.settings().queue_paused {
        found.push(Constraint::QueuePaused);
    }
    let at_once = task.spec.array.as_ref().and_then(|array| array.at_once);
    found.extend(at_once.map(|at_once| Constraint::ArrayLimit { at_once }));
    found
}

fn unmet(state: &State, after: Dependency) -> Option<TaskId> {
    let met = state.tasks.get(&after.task)?.outcome().is_some_and(|outcome| after.allows(outcome));
    (!met).then_some(after.task)
}

fn quotas(state: &State, task: &Task) -> Vec<Constraint> {
    let settings = &state.settings().quota;
    let mut found = Vec::new();
    if let Some(user) = state.users.get(&task.owner) {
        let of_user = settings.of_user(&user.name);
        let whose = Party::User(user.name.clone());
        found.extend(limits(whose, of_user, state.running_of(task.owner)));
    }
    if let Some(name) = &task.spec.project
        && let Some(quota) = settings.project.get(name)
    {
        let runs = state.load_of_project(name).0;
        found.extend(limits(Party::Project(name.clone()), *quota, runs));
    }
    found
}

fn limits(whose: Party, quota: Quota, running: Load) -> impl Iterator<Item = Constraint> {
    let limits = [
        (Limit::RunningTasks, running.tasks, quota.running_tasks),
        (Limit::RunningGpus, running.gpus, quota.running_gpus),
        (Limit::GpuHours, quota.gpu_hours.unwrap_or(0), quota.gpu_hours),
    ];
    limits.into_iter().filter_map(move |(limit, in_use, most)| {
        Some(Constraint::Quota(Excess { whose: whose.clone(), limit, in_use, most: most? }))
    })
}

/// Runs whose memory will be known soon come first, then those that end first; runs without an estimate come last.
fn of_runs(state: &State, request: &Request) -> Vec<Constraint> {
    let known = state.index.releases.iter().map(|(_, run)| *run);
    let open_ended = state.active_runs().filter(|run| run.release_at().is_none()).map(|run| run.id);
    let runs: Vec<RunId> = known.chain(open_ended).collect();
    let grows = |run: &&RunId| {
        let mut holds = state.held_by(**run).iter();
        holds.any(|hold| matches!(hold.claim, Claim::Share { settling: true, .. }))
    };
    let growing = runs.iter().filter(|_| request.is_shared()).filter(grows);
    let settling = growing.map(|run| Constraint::Settling(holder(state, *run)));
    settling.chain(runs.iter().map(|run| Constraint::RunEnds(holder(state, *run)))).collect()
}

pub(super) fn holder(state: &State, id: RunId) -> Holder {
    let run = &state.runs[&id];
    let task = &state.tasks[&run.task];
    let holds = state.held_by(id);
    let numbers = holds.iter().flat_map(|hold| {
        let gpus = &state.nodes[&hold.node].gpus;
        hold.gpus.positions().map(|at| gpus[at].index)
    });
    Holder {
        run: id,
        task: Some(task.id),
        user: state.users.get(&task.owner).map(|user| user.name.clone()),
        nodes: holds.iter().map(|hold| name(state, hold.node)).collect(),
        gpu_ids: numbers.collect(),
        ends_at: run.release_at(),
    }
}

pub(super) fn name(state: &State, id: NodeId) -> NodeName {
    let name = state.nodes.get(&id).map(|node| node.name.clone());
    NodeName { id, name: name.unwrap_or_default() }
}

fn of_gpus(state: &State, request: &Request) -> Vec<Constraint> {
    let gpus = state.nodes.values().flat_map(|node| node.gpus.iter().map(move |gpu| (node, gpu)));
    let mut found: Vec<(u8, Constraint)> = Vec::new();
    for (node, gpu) in gpus.filter(|_| request.gpus > 0) {
        for (rank, why) in obstacles(state, gpu, request) {
            let (node, gpu) =
                (name(state, node.id), GpuName { id: gpu.id.clone(), index: gpu.index });
            found.push((rank, Constraint::Gpu { node, gpu, why }));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, constraint)| constraint).collect()
}

/// Conditions that end by themselves have a smaller number than those that a person has to end.
fn obstacles(state: &State, gpu: &Gpu, request: &Request) -> Vec<(u8, GpuObstacle)> {
    let mut found = Vec::new();
    found.extend(gpu.left_at.map(|_| (0, GpuObstacle::JustLeft)));
    if let Sharing::Shared { idle_utilization } = request.sharing {
        if gpu.usage.busy > 100_u8.saturating_sub(idle_utilization) {
            found.push((1, GpuObstacle::Busy { percent: gpu.usage.busy }));
        }
        let others = gpu.usage.other_memory.filter(|bytes| *bytes > 0);
        found.extend(others.map(|bytes| (2, GpuObstacle::OtherMemory { bytes })));
    }
    match &gpu.condition {
        GpuCondition::Idle | GpuCondition::Missing => {}
        GpuCondition::Foreign { processes } => {
            found.push((3, GpuObstacle::Foreign { processes: processes.clone() }));
        }
        GpuCondition::Dirty => found.push((4, GpuObstacle::Dirty)),
        GpuCondition::Unknown => found.push((5, GpuObstacle::Unknown)),
    }
    if gpu.has_unknown_run {
        found.push((6, GpuObstacle::UnknownRun));
    }
    if let Some(error) = gpu.rule.quarantined.clone() {
        found.push((7, GpuObstacle::Quarantined { error }));
    }
    if gpu.rule.disabled == Some(true) {
        found.push((8, GpuObstacle::Disabled));
    }
    if !gpu.also_on.is_empty() {
        let nodes = gpu.also_on.iter().map(|id| name(state, *id)).collect();
        found.push((9, GpuObstacle::OnSeveralNodes { nodes }));
    }
    found
}

fn of_nodes(state: &State) -> Vec<Constraint> {
    let mut found: Vec<(u8, Constraint)> = Vec::new();
    // A node that has never reported does not count.
    for node in state.nodes.values().filter(|node| node.capacity.is_some()) {
        let mut add = |rank, why| {
            found.push((rank, Constraint::Node { node: name(state, node.id), why }));
        };
        if node.is_short_of_memory(state.settings()) {
            let total = node.capacity.map_or(0, |capacity| capacity.memory);
            let free = node.free_memory.unwrap_or(0);
            let keeps = state.settings().keep_memory.of(total);
            add(0, NodeObstacle::ShortOfMemory { free, keeps });
        }
        if let Some(unfit) = &node.unfit {
            add(1, NodeObstacle::Unfit { trouble: unfit.trouble.clone() });
        }
        match node.link {
            Link::Ready { .. } => {}
            Link::Unverified { .. } => add(2, NodeObstacle::Unverified),
            Link::Down { .. } => add(3, NodeObstacle::Away),
        }
        if node.draining {
            add(4, NodeObstacle::Draining);
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, constraint)| constraint).collect()
}

fn of_settings(state: &State, request: &Request) -> Vec<Constraint> {
    let settings = state.settings();
    let kept = (settings.keep_gpu_memory > Fraction::ZERO)
        .then_some(Constraint::KeepGpuMemory { share: settings.keep_gpu_memory });
    let most = settings.limits.max_tasks_per_gpu.map(|most| Constraint::TasksPerGpu { most });
    kept.into_iter().chain(most).filter(|_| request.is_shared()).collect()
}

/// The optional parts of its request, the smallest one first.
pub(super) fn attributes(state: &State, request: &Request) -> Vec<Attribute> {
    let nodes = || state.nodes.values();
    let capacities = || nodes().filter_map(|node| node.capacity);
    let mut found = Vec::new();
    for (name, wanted) in &request.resources {
        let most = nodes().filter_map(|node| node.resources.get(name)).max().copied().unwrap_or(0);
        found.push(Attribute::Resource { name: name.clone(), wanted: *wanted, most });
    }
    if request.cpus > 0 {
        let most = capacities().map(|capacity| capacity.cpus).max().unwrap_or(0);
        found.push(Attribute::Cpus { wanted: request.cpus, most });
    }
    if request.memory > 0 {
        let most = capacities().map(|capacity| capacity.memory).max().unwrap_or(0);
        found.push(Attribute::Memory { wanted: request.memory, most });
    }
    if request.gpus > 0 && request.gpu_memory > 0 {
        let sizes = nodes().flat_map(|node| &node.gpus).map(|gpu| gpu.memory);
        let most = sizes.max().unwrap_or(0);
        found.push(Attribute::GpuMemory { wanted: request.gpu_memory, most });
    }
    match request.sharing {
        Sharing::Shared { idle_utilization: wanted @ 1.. } => {
            found.push(Attribute::IdleUtilization { wanted });
        }
        Sharing::Exclusive => found.push(Attribute::Exclusive),
        Sharing::Shared { .. } | Sharing::Slot => {}
    }
    if !request.gpu_ids.is_empty() {
        found.push(Attribute::GpuIds { ids: request.gpu_ids.clone() });
    }
    found.extend(request.gpu_model.clone().map(|model| Attribute::Model { model }));
    found.extend(request.node.clone().map(|node| Attribute::Node { node }));
    if request.is_gang() {
        let most = u32::try_from(nodes().count()).unwrap_or(u32::MAX);
        found.push(Attribute::Nodes { wanted: request.nodes, most });
    }
    if request.gpus_per_node() > 0 {
        let most = nodes().map(|node: &Node| node.managed_gpus().count()).max().unwrap_or(0);
        found.push(Attribute::Gpus { wanted: request.gpus_per_node(), most });
    }
    found
}
