//! One task in a few words: its duration, and why it waits, where it runs, or how it ended.

use danlu_core::FailureClass;
use danlu_messages::cli::screen as msg;
use danlu_wire::api::{MaybeNewer, TaskStateName, TaskView};
use jiff::Timestamp;

use super::{amounts, clock, places};

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
    msg::paths_not_answering(&known, &paths)
}

fn why_or_where_of(task: &TaskView, now: Timestamp) -> String {
    match task.state {
        TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued => why(task, now),
        TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Unknown => whereabouts(task),
        TaskStateName::Lost => {
            let place = places::place(task.node.as_deref(), &task.gpu_ids);
            msg::place_does_not_answer(&place)
        }
        TaskStateName::Succeeded => ended_at(task, now),
        TaskStateName::Cancelled => task.why.clone().unwrap_or_else(|| ended_at(task, now)),
        TaskStateName::TimedOut => match task.time_limit {
            Some(limit) => {
                let limit = amounts::length(limit);
                msg::time_limit_of_limit(&limit)
            }
            None => msg::time_limit().to_owned(),
        },
        TaskStateName::Failed => failure(task),
    }
}

/// What it waits for.
pub(crate) fn why(task: &TaskView, now: Timestamp) -> String {
    match &task.wait {
        Some(wait) => danlu_messages::reasons::reason(wait, |at| clock::of(at, now)),
        None => task.why.clone().unwrap_or_default(),
    }
}

fn whereabouts(task: &TaskView) -> String {
    let place = places::place(task.node.as_deref(), &task.gpu_ids);
    let known = match task.time_limit {
        Some(limit) => {
            let limit = amounts::length(limit);
            msg::place_limit_limit(&place, &limit)
        }
        None => place,
    };
    match &task.idle {
        Some(idle) => format!("{known}, {}", idle.why),
        None => known,
    }
}

fn ended_at(task: &TaskView, now: Timestamp) -> String {
    match task.ended_at.as_deref().and_then(clock::read) {
        Some(ended) => {
            let at = clock::short(ended, now);
            msg::ended_at(&at)
        }
        None => String::new(),
    }
}

/// How it failed, in words.
pub(crate) fn failure(task: &TaskView) -> String {
    let Some(failure) = &task.failure else { return task.why.clone().unwrap_or_default() };
    let words = failure_class(&failure.class);
    match (&failure.class, task.exit_code, &failure.evidence) {
        (MaybeNewer::Known(FailureClass::Other), Some(code), _) => msg::exit_code_code(&code),
        (MaybeNewer::Known(FailureClass::Killed), Some(code), _) if code > 128 => {
            let signal = code - 128;
            msg::killed_by_signal_signal(&signal)
        }
        (MaybeNewer::Known(FailureClass::Other), None, Some(evidence)) => evidence.clone(),
        (_, _, Some(evidence)) => format!("{words}: {evidence}"),
        (_, _, None) => words.to_owned(),
    }
}

fn failure_class(class: &MaybeNewer<FailureClass>) -> &str {
    let class = match class {
        MaybeNewer::Known(class) => *class,
        MaybeNewer::Newer(name) => return name,
    };
    match class {
        FailureClass::Launch => msg::could_not_start(),
        FailureClass::CudaOom => msg::cuda_out_of_memory(),
        FailureClass::HostOom => msg::out_of_memory(),
        FailureClass::Nccl => msg::nccl_error(),
        FailureClass::Idle => msg::gpus_not_used(),
        FailureClass::NodeLost => msg::lost_with_machine(),
        FailureClass::GpuHardware => msg::gpu_hardware_error(),
        FailureClass::Timeout => msg::time_limit(),
        FailureClass::Preempted => msg::preempted(),
        FailureClass::PythonException => msg::python_exception(),
        FailureClass::EnvMissing => msg::environment_missing(),
        FailureClass::DiskFull => msg::disk_full(),
        FailureClass::CommandNotFound => msg::command_not_found(),
        FailureClass::Killed => msg::killed(),
        FailureClass::Other => msg::failed(),
    }
}
