//! Removes a constraint from a copy of the state.

use super::constraint::{Attribute, Constraint, GpuObstacle, Holder, NodeObstacle};
use crate::model::gpu::{Gpu, GpuCondition, GpuUsage, Tenant};
use crate::model::ids::{GpuId, NodeId, TaskId};
use crate::model::node::{Link, Node};
use crate::model::number::fraction::Fraction;
use crate::model::resources::{Request, Sharing};
use crate::model::run::{Ending, Exit};
use crate::model::settings::Settings;
use crate::model::task::{TaskSpec, TaskState};
use crate::model::time::Time;
use crate::schedule::quota::{Excess, Limit, Party, Quota};
use crate::state::State;
use crate::step::Turn;
use crate::step::{dependencies, runs};

/// The state after `constraint` no longer holds for `task`.
pub(super) fn lift(state: &mut State, task: TaskId, constraint: &Constraint, now: Time) {
    match constraint {
        Constraint::Held | Constraint::InDoubt { .. } => {
            state.change_task(task, |task| task.trail_mut().doubt = None);
            dependencies::settle(&mut Turn::new(state, now), task);
        }
        Constraint::Dependencies { .. } => {
            change_spec(state, task, |spec| spec.after.clear());
            if state.tasks[&task].state != TaskState::Held {
                dependencies::settle(&mut Turn::new(state, now), task);
            }
        }
        Constraint::Begins { .. } | Constraint::RetryAt { .. } => {
            state.change_task(task, |task| task.trail_mut().not_before = None);
        }
        Constraint::QueuePaused => change_settings(state, |settings| settings.queue_paused = false),
        Constraint::ArrayLimit { .. } => change_spec(state, task, |spec| {
            spec.array.iter_mut().for_each(|array| array.at_once = None);
        }),
        Constraint::Quota(excess) => {
            change_settings(state, |settings| raise(settings, excess));
        }
        Constraint::Settling(holder) => settle_memory(state, holder, now),
        Constraint::RunEnds(holder) => end(state, holder, now),
        Constraint::Gpu { node, gpu, why } => free_gpu(state, node.id, &gpu.id, why),
        Constraint::Node { node, why } => open_node(state, node.id, why, now),
        Constraint::KeepGpuMemory { .. } => {
            change_settings(state, |settings| settings.keep_gpu_memory = Fraction::ZERO);
        }
        Constraint::TasksPerGpu { .. } => {
            change_settings(state, |settings| settings.limits.max_tasks_per_gpu = None);
        }
        Constraint::Asks(attribute) => {
            change_spec(state, task, |spec| drop_attribute(&mut spec.request, attribute));
        }
        Constraint::Turn { .. } => {
            let waiting =
                state.tasks.values().filter(|other| other.is_queued() && other.id != task);
            let others: Vec<TaskId> = waiting.map(|other| other.id).collect();
            for other in others {
                state.change_task(other, |other| other.state = TaskState::Held);
            }
        }
        Constraint::NoNodes => {}
    }
}

pub(super) fn change_spec(state: &mut State, id: TaskId, change: impl FnOnce(&mut TaskSpec)) {
    let mut spec = TaskSpec::clone(&state.tasks[&id].spec);
    change(&mut spec);
    let (spec_id, spec) = state.new_spec(spec);
    state.change_task(id, |task| (task.spec_id, task.spec) = (spec_id, spec));
}

fn change_settings(state: &mut State, change: impl FnOnce(&mut Settings)) {
    let mut settings = state.settings().clone();
    change(&mut settings);
    state.set_settings(settings);
}

fn raise(settings: &mut Settings, excess: &Excess) {
    let quota: &mut Quota = match &excess.whose {
        Party::User(name) => settings.quota.users.entry(name.clone()).or_default(),
        Party::Project(name) => settings.quota.project.entry(name.clone()).or_default(),
    };
    let limit = match excess.limit {
        Limit::RunningTasks => &mut quota.running_tasks,
        Limit::RunningGpus => &mut quota.running_gpus,
        Limit::QueuedTasks => &mut quota.queued_tasks,
        Limit::OpenTasks => &mut quota.open_tasks,
        Limit::GpuHours => &mut quota.gpu_hours,
    };
    *limit = Some(u64::MAX);
}

/// It ends well, wherever it is.
fn end(state: &mut State, holder: &Holder, now: Time) {
    for hold in state.held_by(holder.run).to_vec() {
        let ending = Ending::new(Exit::Code(0), now);
        runs::end_part(&mut Turn::new(state, now), hold.node, holder.run, ending);
    }
}

fn settle_memory(state: &mut State, holder: &Holder, now: Time) {
    let run = holder.run;
    for hold in state.held_by(run).to_vec() {
        state.change_gpus(hold.node, |node| {
            for at in hold.gpus.positions() {
                let gpu = &mut node.gpus[at];
                match gpu.tenants.iter_mut().find(|tenant| tenant.run == run) {
                    Some(tenant) => tenant.settled = true,
                    None => {
                        gpu.tenants.push(Tenant { run, peak: 0, grown_at: now, settled: true });
                    }
                }
            }
        });
    }
}

fn free_gpu(state: &mut State, node: NodeId, id: &GpuId, why: &GpuObstacle) {
    if let GpuObstacle::OnSeveralNodes { nodes } = why {
        for other in nodes.iter().filter(|other| other.id != node) {
            state.change_gpu_rules(other.id, |_, rules| {
                rules.entry(id.clone()).or_default().disabled = Some(true);
            });
        }
        return;
    }
    state.change_gpus(node, |node| {
        match why {
            GpuObstacle::Quarantined { .. } => {
                node.gpu_rules.entry(id.clone()).or_default().quarantined = None;
            }
            GpuObstacle::Disabled => {
                node.gpu_rules.entry(id.clone()).or_default().disabled = Some(false);
            }
            GpuObstacle::UnknownRun => forget_unknown_runs(node, id),
            GpuObstacle::JustLeft
            | GpuObstacle::Busy { .. }
            | GpuObstacle::OtherMemory { .. }
            | GpuObstacle::Foreign { .. }
            | GpuObstacle::Dirty
            | GpuObstacle::Unknown
            | GpuObstacle::OnSeveralNodes { .. } => {}
        }
        let Some(gpu) = node.gpus.iter_mut().find(|gpu| gpu.id == *id) else { return };
        change_gpu(gpu, why);
    });
}

fn change_gpu(gpu: &mut Gpu, why: &GpuObstacle) {
    match why {
        GpuObstacle::JustLeft => gpu.left_at = None,
        GpuObstacle::Busy { .. } => gpu.usage.busy = 0,
        GpuObstacle::OtherMemory { .. } => gpu.usage.other_memory = Some(0),
        GpuObstacle::Foreign { .. } | GpuObstacle::Dirty | GpuObstacle::Unknown => {
            gpu.condition = GpuCondition::Idle;
            gpu.usage = GpuUsage { other_memory: Some(0), busy: 0 };
        }
        GpuObstacle::UnknownRun
        | GpuObstacle::Quarantined { .. }
        | GpuObstacle::Disabled
        | GpuObstacle::OnSeveralNodes { .. } => {}
    }
}

/// Those that may be on this GPU.
fn forget_unknown_runs(node: &mut Node, gpu: &GpuId) {
    node.unknown_runs.retain(|run| run.task.is_some() && !run.gpus.contains(gpu));
}

fn open_node(state: &mut State, id: NodeId, why: &NodeObstacle, now: Time) {
    state.change_node(id, |node| match why {
        NodeObstacle::ShortOfMemory { .. } => node.free_memory = None,
        NodeObstacle::Unfit { .. } => node.unfit = None,
        NodeObstacle::Draining => node.draining = false,
        NodeObstacle::Unverified | NodeObstacle::Away => node.link = Link::Ready { since: now },
    });
}

/// The request without this.
fn drop_attribute(request: &mut Request, attribute: &Attribute) {
    match attribute {
        Attribute::Resource { name, .. } => drop(request.resources.remove(name)),
        Attribute::Cpus { .. } => request.cpus = 0,
        Attribute::Memory { .. } => request.memory = 0,
        Attribute::GpuMemory { .. } => request.gpu_memory = u64::from(request.is_shared()),
        Attribute::IdleUtilization { .. } => {
            request.sharing = Sharing::Shared { idle_utilization: 0 };
        }
        Attribute::GpuIds { .. } => request.gpu_ids.clear(),
        Attribute::Exclusive => request.sharing = Sharing::Slot,
        Attribute::Model { .. } => request.gpu_model = None,
        Attribute::Node { .. } => request.node = None,
        Attribute::Nodes { .. } => {
            request.gpus = request.gpus_per_node();
            request.nodes = 0;
        }
        Attribute::Gpus { most, .. } => {
            let each = (*most).min(1);
            request.gpus = each * request.nodes.max(1);
            request.gpu_ids.truncate(each as usize);
        }
    }
}
