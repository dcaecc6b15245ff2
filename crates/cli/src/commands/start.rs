//! `danlu start`: starts tasks now, ahead of the queue.

use danlu_messages::cli::start as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    StartArguments,
    "start",
    msg::start_tasks_ahead_of_the_queue_where_gpus_are(),
    Start in [TaskStateName::Queued],
    |tasks| msg::starting_tasks(&tasks),
    "danlu start 12"
);
