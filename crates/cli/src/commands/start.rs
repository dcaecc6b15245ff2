//! `danlu start`: tasks start now, whatever the order of the queue.

use danlu_wire::api::TaskStateName;

use super::acting::acting_verb;
use crate::language::text;

acting_verb!(
    "start",
    text("Start tasks ahead of the queue, where GPUs are free", "在有空闲 GPU 时不排队立即开始"),
    Start in [TaskStateName::Queued],
    |tasks| ("starting {tasks}", "正在开始 {tasks}"),
    "danlu start 12"
);
