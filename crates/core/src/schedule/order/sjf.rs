//! `sjf`: the shortest expected run first; tasks without an estimate come last.

use crate::model::task::Task;
use crate::schedule::queue::Estimate;

pub(crate) fn key(task: &Task) -> i64 {
    i64::try_from(Estimate::of(task).0).unwrap_or(i64::MAX)
}
