//! `danlu hold`: waiting tasks are kept back until they are released.

use danlu_wire::api::TaskStateName;

use super::acting::acting_verb;
use crate::language::text;

acting_verb!(
    "hold",
    text("Keep waiting tasks back until they are released", "扣住等待中的任务，直到放行"),
    Hold in [TaskStateName::Queued, TaskStateName::Blocked],
    |tasks| ("held {tasks}", "已扣住 {tasks}"),
    "danlu hold 12\n  danlu hold --all"
);
