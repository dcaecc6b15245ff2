//! What has to happen before a task starts, one clause for each thing: "It starts when …".

use super::short::over_quota;
use super::{gibibytes, ids, listed};
use crate::language::{say, text};
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
        1 => words.push(text("1 other task", "另外 1 个任务").to_owned()),
        others => words.push(say!("{others} other tasks", "另外 {others} 个任务")),
    }
    let all = listed(&words);
    match holders.len() {
        1 => say!("{all} ends", "{all} 结束"),
        _ => say!("{all} have ended", "{all} 全部结束"),
    }
}

fn one_end(holder: &Holder, at: &impl Fn(Time) -> String) -> String {
    let id = holder.task.unwrap_or(TaskId(0));
    let user = holder.user.as_deref().unwrap_or("?");
    match holder.ends_at {
        Some(time) => {
            let at = at(time);
            say!("{id} ({user}, ≈{at})", "{id}（{user}，≈{at}）")
        }
        None => say!("{id} ({user}, end unknown)", "{id}（{user}，结束时间未知）"),
    }
}

fn clause(constraint: &Constraint, at: &impl Fn(Time) -> String) -> String {
    match constraint {
        Constraint::Held => text("it is released", "它被放行").to_owned(),
        Constraint::InDoubt { why: Doubt::Restored } => text(
            "it is released: it may have run since the backup that was restored",
            "它被放行：自所恢复的备份以来它可能已运行过",
        )
        .to_owned(),
        Constraint::InDoubt { why: Doubt::NoRecord } => text(
            "it is released: the record of its run is gone, it may have ended",
            "它被放行：运行记录已丢失，它可能已经结束",
        )
        .to_owned(),
        Constraint::Dependencies { on } => {
            let on = ids(on);
            say!("{on} ended as required", "任务 {on} 按要求结束")
        }
        Constraint::Begins { at: time } => {
            let at = at(*time);
            say!("it is {at}", "到 {at}")
        }
        Constraint::RetryAt { at: time } => {
            let at = at(*time);
            say!("it is {at} (retry after a failure)", "到 {at}（失败后重试）")
        }
        Constraint::QueuePaused => text("the queue is resumed", "队列恢复").to_owned(),
        Constraint::ArrayLimit { at_once } => {
            say!("fewer than {at_once} tasks of its array run", "数组中运行的任务少于 {at_once} 个")
        }
        Constraint::Quota(excess) => {
            let quota = over_quota(excess);
            say!("the quota allows it ({quota})", "配额允许（{quota}）")
        }
        Constraint::Settling(holder) => {
            let task = holder.task.map_or_else(|| "?".to_owned(), |task| task.to_string());
            say!("the GPU memory of {task} has settled", "{task} 的显存用量稳定")
        }
        Constraint::RunEnds(holder) => ends(&[holder], at),
        Constraint::Gpu { node, gpu, why } => {
            gpu_clause(&format!("{}:{}", node.name, gpu.index), why)
        }
        Constraint::Node { node, why } => node_clause(&node.name, why),
        Constraint::KeepGpuMemory { share } => {
            let percent = f64::from(*share) * 100.0;
            say!(
                "less than {percent} % of a shared GPU is kept free (setting keep_gpu_memory)",
                "共享 GPU 保留的显存少于 {percent} %（设置 keep_gpu_memory）"
            )
        }
        Constraint::TasksPerGpu { most } => say!(
            "more than {most} tasks may share a GPU (setting limits.max_tasks_per_gpu)",
            "允许超过 {most} 个任务共享一块 GPU（设置 limits.max_tasks_per_gpu）"
        ),
        Constraint::Asks(attribute) => asks(attribute),
        Constraint::Turn { ahead: 0, .. } => {
            text("the tasks that waited longer have started", "等待更久的任务已开始").to_owned()
        }
        Constraint::Turn { ahead, tasks } => turn(*ahead, tasks),
        Constraint::NoNodes => text("a machine is added", "添加机器").to_owned(),
    }
}

fn turn(ahead: usize, tasks: &[TaskId]) -> String {
    let named = ids(&tasks[..tasks.len().min(MOST_NAMED)]);
    match (ahead, tasks.len().min(MOST_NAMED)) {
        (_, 0) => say!("its turn has come ({ahead} before it)", "轮到它（前面有 {ahead} 个）"),
        (ahead, shown) if shown < ahead => {
            say!(
                "its turn has come ({ahead} before it: {named}, …)",
                "轮到它（前面有 {ahead} 个：{named}……）"
            )
        }
        _ => say!("its turn has come (after {named})", "轮到它（在 {named} 之后）"),
    }
}

fn gpu_clause(gpu: &str, why: &GpuObstacle) -> String {
    match why {
        GpuObstacle::JustLeft => {
            say!("{gpu} has been idle for idle_delay", "{gpu} 空闲时间达到 idle_delay")
        }
        GpuObstacle::Busy { percent } => {
            say!("{gpu} is less busy ({percent} % now)", "{gpu} 利用率下降（现为 {percent} %）")
        }
        GpuObstacle::OtherMemory { bytes } => {
            let size = gibibytes(*bytes);
            say!(
                "the {size} used outside Danlu on {gpu} are freed",
                "{gpu} 上被外部占用的 {size} 显存释放"
            )
        }
        GpuObstacle::Foreign { processes } => {
            let who = strangers(processes);
            say!("{gpu} is no longer used outside Danlu{who}", "{gpu} 不再被外部进程占用{who}")
        }
        GpuObstacle::Dirty => {
            say!("the memory of ended tasks on {gpu} is freed", "{gpu} 上已结束任务的显存释放")
        }
        GpuObstacle::Unknown => say!("{gpu} can be probed again", "{gpu} 恢复可探测"),
        GpuObstacle::UnknownRun => say!(
            "the run from before the database was lost or restored ends on {gpu}",
            "{gpu} 上数据库丢失或恢复前的运行结束"
        ),
        GpuObstacle::Quarantined { error } => {
            say!("{gpu} is enabled again ({error})", "{gpu} 重新启用（{error}）")
        }
        GpuObstacle::Disabled => say!("{gpu} is enabled", "{gpu} 启用"),
        GpuObstacle::OnSeveralNodes { nodes } => {
            let names: Vec<String> = nodes.iter().map(|node| node.name.clone()).collect();
            let names = listed(&names);
            say!(
                "{gpu} is disabled on {names}, which reports it too",
                "{gpu} 在同样报告它的 {names} 上停用"
            )
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
            say!(" ({known})", "（{known}）")
        }
    }
}

fn node_clause(name: &str, why: &NodeObstacle) -> String {
    match why {
        NodeObstacle::ShortOfMemory { free, keeps } => {
            let (free, keeps) = (gibibytes(*free), gibibytes(*keeps));
            say!(
                "{name} has at least {keeps} of memory free ({free} now)",
                "{name} 的空闲内存达到 {keeps}（现为 {free}）"
            )
        }
        NodeObstacle::Unfit { trouble } => {
            let detail = &trouble.detail;
            say!("{name} can start tasks again ({detail})", "{name} 恢复启动任务的能力（{detail}）")
        }
        NodeObstacle::Draining => say!("{name} is undrained", "{name} 取消排空"),
        NodeObstacle::Unverified => {
            say!("{name} has reported what it runs", "{name} 报告其运行中的任务")
        }
        NodeObstacle::Away => say!("{name} is connected again", "{name} 重新连接"),
    }
}

fn asks(attribute: &Attribute) -> String {
    match attribute {
        Attribute::Resource { name, wanted, most } => say!(
            "it asks for less {name} ({wanted} asked, at most {most} on one machine)",
            "减少所需 {name}（需要 {wanted}，单台机器最多 {most}）"
        ),
        Attribute::Cpus { wanted, most } => say!(
            "it asks for fewer CPUs ({wanted} asked, at most {most} on one machine)",
            "减少所需 CPU（需要 {wanted}，单台机器最多 {most}）"
        ),
        Attribute::Memory { wanted, most } => {
            let (wanted, most) = (gibibytes(*wanted), gibibytes(*most));
            say!(
                "it asks for less memory ({wanted} asked, at most {most} on one machine)",
                "减少所需内存（需要 {wanted}，单台机器最多 {most}）"
            )
        }
        Attribute::GpuMemory { wanted, most } => {
            let (wanted, most) = (gibibytes(*wanted), gibibytes(*most));
            say!(
                "it asks for less GPU memory ({wanted} asked, the largest GPU has {most})",
                "减少所需显存（需要 {wanted}，最大的 GPU 有 {most}）"
            )
        }
        Attribute::IdleUtilization { wanted } => {
            say!("it accepts GPUs less than {wanted} % idle", "接受空闲比例低于 {wanted} % 的 GPU")
        }
        Attribute::GpuIds { ids } => {
            let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
            let ids = ids.join(",");
            say!("it accepts other GPUs than {ids}", "接受编号 {ids} 以外的 GPU")
        }
        Attribute::Exclusive => {
            text("it accepts GPUs with several slots", "接受有多个槽位的 GPU").to_owned()
        }
        Attribute::Model { model } => {
            say!("it accepts other GPUs than {model}", "接受 {model} 以外的 GPU")
        }
        Attribute::Node { node: NodeSelector::Name(name) } => {
            say!("it accepts other machines than {name}", "接受 {name} 以外的机器")
        }
        Attribute::Node { node: NodeSelector::Label { key, value } } => {
            say!("it accepts machines without {key}={value}", "接受没有标签 {key}={value} 的机器")
        }
        Attribute::Nodes { wanted, most } => say!(
            "it asks for fewer machines ({wanted} asked, {most} known)",
            "减少所需机器（需要 {wanted} 台，共 {most} 台）"
        ),
        Attribute::Gpus { wanted, most } => say!(
            "it asks for fewer GPUs ({wanted} asked, at most {most} on one machine)",
            "减少所需 GPU（需要 {wanted} 块，单台机器最多 {most} 块）"
        ),
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
