//! `las`: least attained service in two queues; tasks with little GPU time go first. Needs no estimates; preempts.

use crate::model::run::Run;
use crate::model::task::Task;
use crate::model::time::{Span, Time};

/// The queue that the task is in: 0 until it has had more than its share, then 1.
pub(crate) fn key(task: &Task, ran: Span, threshold: Span) -> i64 {
    let service = (task.trail().attained + ran).times(task.spec.request.gpus);
    i64::from(service > threshold)
}

/// When a running task falls into the second queue, if it is in the first.
pub(crate) fn demoted_at(task: &Task, run: &Run, threshold: Span) -> Option<Time> {
    let gpus = u64::from(task.spec.request.gpus);
    let too_long = Span(threshold.0.checked_div(gpus)?) + Span(1);
    (too_long > task.trail().attained)
        .then(|| run.launched_at + too_long.saturating_sub(task.trail().attained))
}
