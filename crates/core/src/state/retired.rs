//! Ended tasks that have left the state and live in the store alone.

use crate::model::run::Run;
use crate::model::task::Task;
use std::sync::Arc;

/// An ended task with what it was to do and all its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retired {
    pub task: Arc<Task>,
    /// In the order of their ids.
    pub runs: Vec<Arc<Run>>,
}
