//! Names and colours of states. A colour is never used without its name.

use danlu_core::FailureClass;
use danlu_messages::web::states as msg;
use danlu_wire::api::{MaybeNewer, RunStateName, TaskStateName};

pub(super) fn word(state: TaskStateName) -> &'static str {
    match state {
        TaskStateName::Held => msg::held(),
        TaskStateName::Blocked => msg::blocked(),
        TaskStateName::Queued => msg::waiting(),
        TaskStateName::Starting => msg::starting(),
        TaskStateName::Running => msg::running(),
        TaskStateName::Paused => msg::paused(),
        TaskStateName::Stopping => msg::stopping(),
        TaskStateName::Lost => msg::lost(),
        TaskStateName::Succeeded => msg::succeeded(),
        TaskStateName::Failed => msg::failed(),
        TaskStateName::Cancelled => msg::cancelled(),
        TaskStateName::TimedOut => msg::timed_out(),
        TaskStateName::Unknown => msg::unknown(),
    }
}

pub(super) fn of_run(state: RunStateName) -> &'static str {
    match state {
        RunStateName::Starting => msg::starting(),
        RunStateName::Running => msg::running(),
        RunStateName::Paused => msg::paused(),
        RunStateName::Stopping => msg::stopping(),
        RunStateName::Lost => msg::lost(),
        RunStateName::Ended => msg::ended(),
        RunStateName::Unknown => msg::unknown(),
    }
}

/// The class of a style sheet.
pub(super) fn class(state: TaskStateName) -> &'static str {
    match state {
        TaskStateName::Starting | TaskStateName::Running => "runs",
        TaskStateName::Blocked | TaskStateName::Queued => "waits",
        TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Unknown => "warns",
        TaskStateName::Failed | TaskStateName::TimedOut => "failed",
        TaskStateName::Succeeded => "good",
        TaskStateName::Held | TaskStateName::Cancelled => "rests",
    }
}

/// What a class of failures means, and what helps.
pub(super) fn failure(class: &MaybeNewer<FailureClass>) -> (&'static str, &'static str) {
    let class = match class {
        MaybeNewer::Known(class) => *class,
        MaybeNewer::Newer(_) => FailureClass::Other,
    };
    match class {
        FailureClass::Launch => (msg::could_not_be_started(), msg::help_launch()),
        FailureClass::CudaOom => (msg::gpu_memory_ran_out(), msg::help_cuda_oom()),
        FailureClass::HostOom => (msg::memory_of_the_machine_ran_out(), msg::help_host_oom()),
        FailureClass::Nccl => (msg::gpus_could_not_talk_to_each_other(), msg::help_nccl()),
        FailureClass::GpuHardware => (msg::gpu_hardware_error(), msg::help_gpu_hardware()),
        FailureClass::Timeout => (msg::reached_its_time_limit(), msg::help_timeout()),
        FailureClass::Preempted => (msg::made_room_for_others(), ""),
        FailureClass::PythonException => (msg::python_exception(), msg::help_see_log()),
        FailureClass::EnvMissing => (msg::env_missing(), msg::help_env_missing()),
        FailureClass::DiskFull => (msg::disk_full(), msg::free_some_space_then_retry()),
        FailureClass::CommandNotFound => {
            (msg::command_not_found(), msg::check_the_command_and_its_directory())
        }
        FailureClass::Idle => (msg::held_gpus_idle(), msg::help_idle()),
        FailureClass::NodeLost => (msg::node_lost(), msg::help_node_lost()),
        FailureClass::Killed => (msg::was_killed(), msg::help_see_log()),
        FailureClass::Other => (msg::ended_with_an_error(), msg::help_see_log()),
    }
}
