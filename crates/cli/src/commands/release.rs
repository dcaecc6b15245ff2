//! `danlu release`: lets held tasks start again.

use danlu_messages::cli::release as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    ReleaseArguments,
    "release",
    msg::let_held_tasks_go(),
    Release in [TaskStateName::Held],
    |tasks| msg::released_tasks(&tasks),
    "danlu release 12\n  danlu release --all"
);
