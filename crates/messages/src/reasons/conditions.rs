//! What has to happen before a task starts, one clause for each thing: "It starts when …".

use super::short::over_quota;
use super::words as msg;
use super::{gibibytes, ids, listed};
use danlu_core::explain::constraint::{Attribute, Constraint, GpuObstacle, Holder, NodeObstacle};
use danlu_core::gpu::ForeignProcess;
use danlu_core::resources::NodeSelector;
use danlu_core::task::Doubt;
use danlu_core::{TaskId, Time};

/// Tasks that a clause names.
const MOST_NAMED: usize = 8;

/// One clause, and the tasks it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub words: String,
    pub tasks: Vec<TaskId>,
}

/// All of them together are enough, and each is needed. Runs that have to end are one clause.
pub fn conditions(constraints: &[Constraint], at: impl Fn(Time) -> String) -> Vec<Condition> {
    let mut found = Vec::new();
    let mut holders: Vec<&Holder> = Vec::new();
    for constraint in constraints {
        match constraint {
            Constraint::RunEnds(holder) => holders.push(holder),
            other => found.push(Condition { words: clause(other, &at), tasks: tasks(other) }),
        }
    }
    if !holders.is_empty() {
        let tasks = holders.iter().filter_map(|holder| holder.task).collect();
        found.insert(0, Condition { words: ends(&holders, &at), tasks });
    }
    found
}

fn tasks(constraint: &Constraint) -> Vec<TaskId> {
    match constraint {
        Constraint::Dependencies { on } => on.clone(),
        Constraint::Turn { tasks, .. } => tasks.iter().copied().take(MOST_NAMED).collect(),
        Constraint::Settling(holder) | Constraint::RunEnds(holder) => {
            holder.task.into_iter().collect()
        }
        Constraint::Held
        | Constraint::InDoubt { .. }
        | Constraint::Begins { .. }
        | Constraint::RetryAt { .. }
        | Constraint::QueuePaused
        | Constraint::ArrayLimit { .. }
        | Constraint::Quota(_)
        | Constraint::Gpu { .. }
        | Constraint::Node { .. }
        | Constraint::KeepGpuMemory { .. }
        | Constraint::TasksPerGpu { .. }
        | Constraint::Asks(_)
        | Constraint::NoNodes => Vec::new(),
    }
}

/// `412 (ann, ≈15:10) and 398 (bo) have ended`.
fn ends(holders: &[&Holder], at: &impl Fn(Time) -> String) -> String {
    let named: Vec<&&Holder> = holders.iter().filter(|holder| holder.task.is_some()).collect();
    let mut words: Vec<String> =
        named.iter().take(MOST_NAMED).map(|holder| one_end(holder, at)).collect();
    let others = holders.len() - words.len();
    match others {
        0 => {}
        1 => words.push(msg::one_other_task().to_owned()),
        others => words.push(msg::others_other_tasks(&others)),
    }
    let all = listed(&words);
    match holders.len() {
        1 => msg::all_ends(&all),
        _ => msg::all_have_ended(&all),
    }
}

fn one_end(holder: &Holder, at: &impl Fn(Time) -> String) -> String {
    let id = holder.task.unwrap_or(TaskId(0));
    let user = holder.user.as_deref().unwrap_or("?");
    match holder.ends_at {
        Some(time) => {
            let at = at(time);
            msg::id_user_at(&id, &user, &at)
        }
        None => msg::id_user_end_unknown(&id, &user),
    }
}

fn clause(constraint: &Constraint, at: &impl Fn(Time) -> String) -> String {
    match constraint {
        Constraint::Held => msg::released().to_owned(),
        Constraint::InDoubt { why: Doubt::Restored } => msg::released_restored().to_owned(),
        Constraint::InDoubt { why: Doubt::NoRecord } => msg::released_no_record().to_owned(),
        Constraint::Dependencies { on } => {
            let on = ids(on);
            msg::on_ended_as_required(&on)
        }
        Constraint::Begins { at: time } => {
            let at = at(*time);
            msg::at_time(&at)
        }
        Constraint::RetryAt { at: time } => {
            let at = at(*time);
            msg::retry_at_time(&at)
        }
        Constraint::QueuePaused => msg::queue_resumed().to_owned(),
        Constraint::ArrayLimit { at_once } => msg::array_below_limit(&at_once),
        Constraint::Quota(excess) => {
            let quota = over_quota(excess);
            msg::quota_allows(&quota)
        }
        Constraint::Settling(holder) => {
            let task = holder.task.map_or_else(|| "?".to_owned(), |task| task.to_string());
            msg::memory_settled(&task)
        }
        Constraint::RunEnds(holder) => ends(&[holder], at),
        Constraint::Gpu { node, gpu, why } => {
            gpu_clause(&format!("{}:{}", node.name, gpu.index), why)
        }
        Constraint::Node { node, why } => node_clause(&node.name, why),
        Constraint::KeepGpuMemory { share } => {
            let percent = f64::from(*share) * 100.0;
            msg::keep_less_memory(&percent)
        }
        Constraint::TasksPerGpu { most } => msg::raise_tasks_per_gpu(&most),
        Constraint::Asks(attribute) => asks(attribute),
        Constraint::Turn { ahead: 0, .. } => msg::older_tasks_started().to_owned(),
        Constraint::Turn { ahead, tasks } => turn(*ahead, tasks),
        Constraint::NoNodes => msg::machine_added().to_owned(),
    }
}

fn turn(ahead: usize, tasks: &[TaskId]) -> String {
    let named = ids(&tasks[..tasks.len().min(MOST_NAMED)]);
    match (ahead, tasks.len().min(MOST_NAMED)) {
        (_, 0) => msg::turn_after_count(&ahead),
        (ahead, shown) if shown < ahead => msg::turn_after_some(&ahead, &named),
        _ => msg::turn_after(&named),
    }
}

fn gpu_clause(gpu: &str, why: &GpuObstacle) -> String {
    match why {
        GpuObstacle::JustLeft => msg::gpu_has_been_idle_for_idle_delay(&gpu),
        GpuObstacle::Busy { percent } => msg::gpu_is_less_busy_percent_now(&gpu, &percent),
        GpuObstacle::OtherMemory { bytes } => {
            let size = gibibytes(*bytes);
            msg::outside_memory_freed(&size, &gpu)
        }
        GpuObstacle::Foreign { processes } => {
            let who = strangers(processes);
            msg::outside_use_ends(&gpu, &who)
        }
        GpuObstacle::Dirty => msg::dirty_memory_freed(&gpu),
        GpuObstacle::Unknown => msg::gpu_can_be_probed_again(&gpu),
        GpuObstacle::UnknownRun => msg::unknown_run_ends(&gpu),
        GpuObstacle::Quarantined { error } => msg::gpu_is_enabled_again_error(&gpu, &error),
        GpuObstacle::Disabled => msg::gpu_is_enabled(&gpu),
        GpuObstacle::OnSeveralNodes { nodes } => {
            let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
            let names = listed(&names);
            msg::disabled_elsewhere(&gpu, &names)
        }
    }
}

/// ` (chen, pid 4711)`; nothing where nobody may know.
fn strangers(processes: &[ForeignProcess]) -> String {
    let known = processes.iter().filter(|process| !process.user.is_empty());
    let known: Vec<String> =
        known.take(3).map(|process| format!("{}, pid {}", process.user, process.pid)).collect();
    match known.is_empty() {
        true => String::new(),
        false => {
            let known = known.join("; ");
            msg::known(&known)
        }
    }
}

fn node_clause(name: &str, why: &NodeObstacle) -> String {
    match why {
        NodeObstacle::ShortOfMemory { free, keeps } => {
            let (free, keeps) = (gibibytes(*free), gibibytes(*keeps));
            msg::machine_memory_free(&name, &keeps, &free)
        }
        NodeObstacle::Unfit { trouble } => {
            let detail = &trouble.detail;
            msg::name_can_start_tasks_again_detail(&name, &detail)
        }
        NodeObstacle::Draining => msg::name_is_undrained(&name),
        NodeObstacle::Unverified => msg::name_has_reported_what_it_runs(&name),
        NodeObstacle::Away => msg::name_is_connected_again(&name),
    }
}

fn asks(attribute: &Attribute) -> String {
    match attribute {
        Attribute::Resource { name, wanted, most } => msg::ask_less_resource(&name, &wanted, &most),
        Attribute::Cpus { wanted, most } => msg::ask_fewer_cpus(&wanted, &most),
        Attribute::Memory { wanted, most } => {
            let (wanted, most) = (gibibytes(*wanted), gibibytes(*most));
            msg::ask_less_memory(&wanted, &most)
        }
        Attribute::GpuMemory { wanted, most } => {
            let (wanted, most) = (gibibytes(*wanted), gibibytes(*most));
            msg::ask_less_gpu_memory(&wanted, &most)
        }
        Attribute::IdleUtilization { wanted } => msg::accept_busier(&wanted),
        Attribute::GpuIds { ids } => {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            let ids = ids.join(",");
            msg::accept_other_gpus(&ids)
        }
        Attribute::Exclusive => msg::accept_slots().to_owned(),
        Attribute::Model { model } => msg::accept_other_model(&model),
        Attribute::Node { node: NodeSelector::Name(name) } => msg::accept_other_machine(&name),
        Attribute::Node { node: NodeSelector::Label { key, value } } => {
            msg::accept_without_label(&key, &value)
        }
        Attribute::Nodes { wanted, most } => msg::ask_fewer_machines(&wanted, &most),
        Attribute::Gpus { wanted, most } => msg::ask_fewer_gpus(&wanted, &most),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::RunId;
    use danlu_core::ids::Epoch;

    fn holder(task: u64, user: &str, ends_at: Option<Time>) -> Constraint {
        let run = RunId { epoch: Epoch(1), number: task };
        let (task, user) = (Some(TaskId(task)), Some(user.to_owned()));
        Constraint::RunEnds(Holder { run, task, user, nodes: vec![], gpu_ids: vec![], ends_at })
    }

    #[test]
    fn runs_that_have_to_end_are_one_clause() {
        let said = |constraints: &[Constraint]| {
            let all = conditions(constraints, |_| "15:10".to_owned());
            all.into_iter().map(|it| it.words).collect::<Vec<_>>()
        };
        let (ann, bo) = (holder(412, "ann", Some(Time(0))), holder(398, "bo", None));
        assert_eq!(said(std::slice::from_ref(&ann)), ["412 (ann, ≈15:10) ends"]);
        assert_eq!(
            said(&[Constraint::QueuePaused, ann, bo]),
            ["412 (ann, ≈15:10) and 398 (bo, end unknown) have ended", "the queue is resumed"]
        );
    }
}
