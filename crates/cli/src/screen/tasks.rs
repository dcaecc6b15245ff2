//! One task in a few words: for how long, and why it waits, where it runs, or how it ended.

use danlu_wire::api::{TaskStateName, TaskView};
use jiff::Timestamp;

use super::{amounts, clock, places};
use crate::language::{say, text};

/// `resnet`, `sweep[7]`, `sweep[lr=1e-3 seed=0]`.
pub(crate) fn name(task: &TaskView) -> String {
    match task.index {
        Some(_) if !task.grid.is_empty() => format!("{}[{}]", task.name, values(task)),
        Some(index) => format!("{}[{index}]", task.name),
        None => task.name.clone(),
    }
}

/// What its sweep gives it.
pub(crate) fn values(task: &TaskView) -> String {
    let values: Vec<String> =
        task.grid.iter().map(|(name, value)| format!("{name}={value}")).collect();
    values.join(" ")
}

/// How long it has run, or ran.
pub(crate) fn duration(task: &TaskView, now: Timestamp) -> Option<u64> {
    let started = clock::read(task.started_at.as_deref()?)?;
    let waits =
        matches!(task.state, TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued);
    match task.ended_at.as_deref().and_then(clock::read) {
        Some(ended) => Some(clock::between(started, ended)),
        // It ran before, and waits for its next run.
        None if waits => None,
        None => Some(clock::between(started, now)),
    }
}

/// Why it waits, where it runs, how it ended.
pub(crate) fn why_or_where(task: &TaskView, now: Timestamp) -> String {
    let known = why_or_where_of(task, now);
    if task.silent_paths.is_empty() {
        return known;
    }
    let paths = task.silent_paths.join(", ");
    say!(
        "{known}; the file system of {paths} does not answer",
        "{known}；{paths} 所在的文件系统没有响应"
    )
}

fn why_or_where_of(task: &TaskView, now: Timestamp) -> String {
    match task.state {
        TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued => why(task, now),
        TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping => whereabouts(task),
        TaskStateName::Lost => {
            let place = places::place(task.node.as_deref(), &task.gpu_ids);
            say!("{place} does not answer", "{place} 没有应答")
        }
        TaskStateName::Succeeded => ended_at(task, now),
        TaskStateName::Cancelled => task.why.clone().unwrap_or_else(|| ended_at(task, now)),
        TaskStateName::TimedOut => match task.time_limit {
            Some(limit) => {
                let limit = amounts::length(limit);
                say!("time limit of {limit}", "时限 {limit}")
            }
            None => text("time limit", "超过时限").to_owned(),
        },
        TaskStateName::Failed => failure(task),
    }
}

/// What it waits for.
pub(crate) fn why(task: &TaskView, now: Timestamp) -> String {
    match &task.wait {
        Some(wait) => danlu_server::reasons::reason(wait, |at| clock::of(at, now)),
        None => task.why.clone().unwrap_or_default(),
    }
}

fn whereabouts(task: &TaskView) -> String {
    let place = places::place(task.node.as_deref(), &task.gpu_ids);
    match task.time_limit {
        Some(limit) => {
            let limit = amounts::length(limit);
            say!("{place}  limit {limit}", "{place}  时限 {limit}")
        }
        None => place,
    }
}

fn ended_at(task: &TaskView, now: Timestamp) -> String {
    match task.ended_at.as_deref().and_then(clock::read) {
        Some(ended) => {
            let at = clock::short(ended, now);
            say!("ended {at}", "结束于 {at}")
        }
        None => String::new(),
    }
}

/// How it failed, in words.
pub(crate) fn failure(task: &TaskView) -> String {
    let Some(failure) = &task.failure else { return task.why.clone().unwrap_or_default() };
    match (failure.class.as_str(), task.exit_code, &failure.evidence) {
        ("other", Some(code), _) => say!("exit code {code}", "退出码 {code}"),
        ("killed", Some(code), _) if code > 128 => {
            let signal = code - 128;
            say!("killed by signal {signal}", "被信号 {signal} 终止")
        }
        ("other", None, Some(evidence)) => evidence.clone(),
        (class, _, Some(evidence)) => format!("{}: {evidence}", failure_class(class)),
        (class, _, None) => failure_class(class).to_owned(),
    }
}

fn failure_class(class: &str) -> &str {
    match class {
        "launch" => text("could not start", "无法启动"),
        "cuda_oom" => text("CUDA out of memory", "显存不足"),
        "host_oom" => text("out of memory", "内存不足"),
        "nccl" => text("NCCL error", "NCCL 错误"),
        "node_lost" => text("its machine is lost", "机器失联"),
        "gpu_hardware" => text("GPU hardware error", "GPU 硬件错误"),
        "timeout" => text("time limit", "超过时限"),
        "preempted" => text("preempted", "被抢占"),
        "python_exception" => text("Python exception", "Python 异常"),
        "env_missing" => text("environment missing", "环境缺失"),
        "disk_full" => text("disk full", "磁盘已满"),
        "command_not_found" => text("command not found", "找不到命令"),
        "killed" => text("killed", "被终止"),
        "other" => text("failed", "失败"),
        newer => newer,
    }
}
