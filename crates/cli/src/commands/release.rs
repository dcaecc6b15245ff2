//! `danlu release`: held tasks may start again.

use danlu_wire::api::TaskStateName;

use super::acting::acting_verb;
use crate::language::text;

acting_verb!(
    "release",
    text("Let held tasks go", "放行被扣住的任务"),
    Release in [TaskStateName::Held],
    |tasks| ("released {tasks}", "已放行 {tasks}"),
    "danlu release 12\n  danlu release --all"
);
