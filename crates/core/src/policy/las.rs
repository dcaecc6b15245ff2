//! Least attained service in two queues: who has had little GPU time goes first. Needs no
//! estimates; preempts.

use crate::run::Run;
use crate::settings::LasSettings;
use crate::task::Task;
use crate::time::{Span, Time};

/// The queue that the task is in: 0 until it has had its share, then 1.
pub(super) fn key(task: &Task, ran: Span, las: &LasSettings) -> i64 {
    let service = (task.attained + ran).times(task.spec.request.gpus);
    i64::from(service >= las.threshold)
}

/// When a running task falls into the second queue, if it is in the first.
pub(super) fn demoted_at(task: &Task, run: &Run, las: &LasSettings) -> Option<Time> {
    let gpus = u64::from(task.spec.request.gpus);
    let share = Span(las.threshold.0.div_ceil(gpus.max(1))).saturating_sub(task.attained);
    (gpus > 0 && share > Span::ZERO).then(|| run.launched_at + share)
}
