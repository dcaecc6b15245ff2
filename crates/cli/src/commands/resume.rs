//! `danlu resume`: continues paused tasks.

use danlu_messages::cli::resume as msg;
use danlu_wire::api::TaskStateName;

use super::task_action::task_action_verb;

task_action_verb!(
    ResumeArguments,
    "resume",
    msg::about(),
    Resume in [TaskStateName::Paused],
    |tasks| msg::resumed_tasks(&tasks),
    "danlu resume 12\n  danlu resume --all"
);
