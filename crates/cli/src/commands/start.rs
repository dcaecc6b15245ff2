//! `danlu start`: starts tasks now, ahead of the queue.

use danlu_messages::cli::start as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    StartArguments,
    "start",
    msg::about(),
    Start in [TaskStateName::Queued],
    |tasks| msg::starting_tasks(&tasks),
    "danlu start 12"
);
