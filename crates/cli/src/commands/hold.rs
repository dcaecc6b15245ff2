//! `danlu hold`: keeps waiting tasks from starting until they are released.

use danlu_messages::cli::hold as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    HoldArguments,
    "hold",
    msg::about(),
    Hold in [TaskStateName::Queued, TaskStateName::Blocked],
    |tasks| msg::held_tasks(&tasks),
    "danlu hold 12\n  danlu hold --all"
);
