//! `danlu pause`: freezes running tasks.

use danlu_messages::cli::pause as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    PauseArguments,
    "pause",
    msg::about(),
    Pause in [TaskStateName::Running],
    |tasks| msg::paused_tasks(&tasks),
    "danlu pause 12\n  danlu resume 12"
);
