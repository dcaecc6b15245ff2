//! `danlu retry`: queues ended tasks again.

use danlu_messages::cli::retry as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    RetryArguments,
    "retry",
    msg::queue_ended_tasks_again_under_the_same_id(),
    Retry in [TaskStateName::Failed, TaskStateName::Cancelled, TaskStateName::TimedOut],
    |tasks| msg::queued_again_tasks(&tasks),
    "danlu retry 12\n  danlu retry --state failed"
);
