//! `danlu retry`: queues ended tasks again.

use danlu_messages::cli::retry as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    RetryArguments,
    "retry",
    msg::about(),
    Retry in [TaskStateName::Failed, TaskStateName::Cancelled, TaskStateName::TimedOut],
    |tasks| msg::queued_again_tasks(&tasks),
    "danlu retry 12\n  danlu retry --state failed"
);
