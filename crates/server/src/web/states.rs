//! Names and colours of states. A colour is never used without its name.

use danlu_messages::web::states as msg;
use danlu_wire::api::TaskStateName;

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
    }
}

/// Of a run, as the API names it.
pub(super) fn of_run(state: &str) -> &str {
    match state {
        "starting" => msg::starting(),
        "running" => msg::running(),
        "paused" => msg::paused(),
        "stopping" => msg::stopping(),
        "lost" => msg::lost(),
        "ended" => msg::ended(),
        other => other,
    }
}

/// The class of a style sheet.
pub(super) fn class(state: TaskStateName) -> &'static str {
    match state {
        TaskStateName::Starting | TaskStateName::Running => "runs",
        TaskStateName::Blocked | TaskStateName::Queued => "waits",
        TaskStateName::Paused | TaskStateName::Stopping | TaskStateName::Lost => "warns",
        TaskStateName::Failed | TaskStateName::TimedOut => "failed",
        TaskStateName::Succeeded => "good",
        TaskStateName::Held | TaskStateName::Cancelled => "rests",
    }
}

/// What a class of failures means, and what helps.
pub(super) fn failure(class: &str) -> (&'static str, &'static str) {
    match class {
        "launch" => {
            (msg::could_not_be_started(), msg::see_the_message_correct_the_task_and_submit_a())
        }
        "cuda_oom" => {
            (msg::gpu_memory_ran_out(), msg::try_a_smaller_batch_or_a_copy_that_asks_for())
        }
        "host_oom" => {
            (msg::memory_of_the_machine_ran_out(), msg::submit_a_copy_that_asks_for_more_memory())
        }
        "nccl" => (
            msg::gpus_could_not_talk_to_each_other(),
            msg::retry_if_it_stays_have_an_admin_look_at_the(),
        ),
        "gpu_hardware" => {
            (msg::gpu_hardware_error(), msg::retry_elsewhere_an_admin_has_to_look_at_this())
        }
        "timeout" => (msg::reached_its_time_limit(), msg::submit_a_copy_with_a_longer_time_limit()),
        "preempted" => (msg::made_room_for_others(), ""),
        "python_exception" => (msg::python_exception(), msg::the_log_below_tells_more()),
        "env_missing" => (
            msg::a_module_or_library_is_missing(),
            msg::check_the_environment_conda_venv_of_the_task(),
        ),
        "disk_full" => (msg::disk_full(), msg::free_some_space_then_retry()),
        "command_not_found" => {
            (msg::command_not_found(), msg::check_the_command_and_its_directory())
        }
        "node_lost" => (
            msg::its_machine_did_not_come_back(),
            msg::it_may_still_run_there_until_the_machine_is(),
        ),
        "killed" => (msg::was_killed(), msg::the_log_below_tells_more()),
        _ => (msg::ended_with_an_error(), msg::the_log_below_tells_more()),
    }
}
