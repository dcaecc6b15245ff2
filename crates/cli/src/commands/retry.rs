//! `danlu retry`: tasks that have ended run again.

use danlu_wire::api::TaskStateName;

use super::acting::acting_verb;
use crate::language::text;

acting_verb!(
    "retry",
    text("Queue ended tasks again, under the same id", "让已结束的任务以原编号重新排队"),
    Retry in [TaskStateName::Failed, TaskStateName::Cancelled, TaskStateName::TimedOut],
    |tasks| ("queued again: {tasks}", "已重新排队：{tasks}"),
    "danlu retry 12\n  danlu retry --state failed"
);
