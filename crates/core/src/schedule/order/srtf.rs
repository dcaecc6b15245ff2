//! `srtf`: the shortest expected remaining time first, running tasks included; preempts.

use crate::model::task::Task;
use crate::model::time::Span;

pub(crate) fn key(task: &Task, ran: Span) -> i64 {
    let rest = task.expected_remaining().map(|total| total.saturating_sub(ran));
    rest.and_then(|rest| i64::try_from(rest.0).ok()).unwrap_or(i64::MAX)
}
