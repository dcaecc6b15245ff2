//! `danlu pause`: running tasks are frozen where they are.

use danlu_wire::api::TaskStateName;

use super::acting::acting_verb;
use crate::language::text;

acting_verb!(
    "pause",
    text("Freeze running tasks; they keep their GPUs", "暂停运行中的任务；它们仍占有 GPU"),
    Pause in [TaskStateName::Running],
    |tasks| ("paused {tasks}", "已暂停 {tasks}"),
    "danlu pause 12\n  danlu resume 12"
);
