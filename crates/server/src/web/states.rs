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
        FailureClass::Launch => {
            (msg::could_not_be_started(), msg::see_the_message_correct_the_task_and_submit_a())
        }
        FailureClass::CudaOom => {
            (msg::gpu_memory_ran_out(), msg::try_a_smaller_batch_or_a_copy_that_asks_for())
        }
        FailureClass::HostOom => {
            (msg::memory_of_the_machine_ran_out(), msg::submit_a_copy_that_asks_for_more_memory())
        }
        FailureClass::Nccl => (
            msg::gpus_could_not_talk_to_each_other(),
            msg::retry_if_it_stays_have_an_admin_look_at_the(),
        ),
        FailureClass::GpuHardware => {
            (msg::gpu_hardware_error(), msg::retry_elsewhere_an_admin_has_to_look_at_this())
        }
        FailureClass::Timeout => {
            (msg::reached_its_time_limit(), msg::submit_a_copy_with_a_longer_time_limit())
        }
        FailureClass::Preempted => (msg::made_room_for_others(), ""),
        FailureClass::PythonException => (msg::python_exception(), msg::the_log_below_tells_more()),
        FailureClass::EnvMissing => (
            msg::a_module_or_library_is_missing(),
            msg::check_the_environment_conda_venv_of_the_task(),
        ),
        FailureClass::DiskFull => (msg::disk_full(), msg::free_some_space_then_retry()),
        FailureClass::CommandNotFound => {
            (msg::command_not_found(), msg::check_the_command_and_its_directory())
        }
        FailureClass::NodeLost => (
            msg::its_machine_did_not_come_back(),
            msg::it_may_still_run_there_until_the_machine_is(),
        ),
        FailureClass::Killed => (msg::was_killed(), msg::the_log_below_tells_more()),
        FailureClass::Other => (msg::ended_with_an_error(), msg::the_log_below_tells_more()),
    }
}
