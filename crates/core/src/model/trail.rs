//! The part of a task that most tasks do not have while they wait: what its runs and changes have left behind.

use crate::explain::accuracy::StartPrediction;
use crate::model::ids::RunId;
use crate::model::task::{Doubt, Task};
use crate::model::time::{Span, Time};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trail {
    /// Runs that really started, or may have.
    pub attempts: u32,
    /// Runs that ended in failure since the task was submitted or last retried by hand.
    pub failures: u32,
    /// Runs that vanished with their machine since then.
    pub losses: u32,
    /// How long earlier runs ran, for policies that ask for attained service.
    pub attained: Span,
    /// How much of that preempted runs have left for the next to go on from.
    pub progress: Span,
    /// Work that stopping and starting again has added.
    pub restart_cost: Span,
    pub last_run: Option<RunId>,
    /// Queued, but not to be started before: it begins later, or failed a moment ago.
    pub not_before: Option<Time>,
    /// What was added to its time limit.
    pub extra_time: Span,
    /// Bytes of the GPU that was too small for it: a larger one is better.
    pub wants_more_memory_than: Option<u64>,
    /// When it was expected to start, if that was cheap to compute.
    pub predicted_start: Option<StartPrediction>,
    /// Why it may have run without a record. It is not started before it is released.
    pub doubt: Option<Doubt>,
}

static NONE: Trail = Trail {
    attempts: 0,
    failures: 0,
    losses: 0,
    attained: Span::ZERO,
    progress: Span::ZERO,
    restart_cost: Span::ZERO,
    last_run: None,
    not_before: None,
    extra_time: Span::ZERO,
    wants_more_memory_than: None,
    predicted_start: None,
    doubt: None,
};

impl Trail {
    /// `None` takes no memory.
    pub(crate) fn kept(self) -> Option<Box<Trail>> {
        (self != NONE).then(|| Box::new(self))
    }
}

impl Task {
    pub fn trail(&self) -> &Trail {
        self.trail.as_deref().unwrap_or(&NONE)
    }

    pub fn trail_mut(&mut self) -> &mut Trail {
        self.trail.get_or_insert_default()
    }

    /// After a change: there is none where it says nothing, so that equal tasks are equal.
    pub(crate) fn tidy(&mut self) {
        if self.trail.as_deref() == Some(&NONE) {
            self.trail = None;
        }
    }
}
