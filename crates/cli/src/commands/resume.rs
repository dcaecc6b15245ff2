//! `danlu resume`: paused tasks go on.

use danlu_wire::api::TaskStateName;

use super::acting::acting_verb;
use crate::language::text;

acting_verb!(
    "resume",
    text("Let paused tasks go on", "让暂停的任务继续"),
    Resume in [TaskStateName::Paused],
    |tasks| ("resumed {tasks}", "已继续 {tasks}"),
    "danlu resume 12\n  danlu resume --all"
);
