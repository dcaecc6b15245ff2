//! The shortest expected run first; those that nobody can estimate come last.

use crate::queue::Estimate;
use crate::task::Task;

pub(super) fn key(task: &Task) -> i64 {
    i64::try_from(Estimate::of(task).0).unwrap_or(i64::MAX)
}
