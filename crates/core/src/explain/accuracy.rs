//! Compares predicted run times and start times with what happened.

use crate::model::run::Run;
use crate::model::task::{Outcome, Task};
use crate::model::time::{Span, Time};
use serde::{Deserialize, Serialize};

/// Sums over pairs of a prediction and the real value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accuracy {
    pub compared: u64,
    /// Predictions that were off by at most a quarter.
    pub within_quarter: u64,
    predicted: u128,
    actual: u128,
}

/// When a task was expected to start, and when that prediction was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartPrediction {
    pub made_at: Time,
    pub starts_at: Time,
}

/// Waits that differ by less count as equal.
const ALLOWANCE: Span = Span::from_secs(60);

impl Accuracy {
    /// How long an ended task ran, if there was a prediction. Cancelled tasks do not count.
    pub fn add_duration(&mut self, task: &Task) {
        let by_itself = !matches!(task.outcome(), None | Some(Outcome::Cancelled { .. }));
        let ran = Some(task.trail().attained).filter(|ran| by_itself && *ran > Span::ZERO);
        if let (Some(predicted), Some(ran)) = (task.predicted, ran) {
            self.add(predicted, ran, Span::ZERO);
        }
    }

    /// How long a task waited for its first start.
    pub fn add_start(&mut self, task: &Task, first_run: &Run) {
        if let Some(StartPrediction { made_at, starts_at }) = task.trail().predicted_start {
            let waited = first_run.launched_at.since(made_at);
            self.add(starts_at.since(made_at), waited, ALLOWANCE);
        }
    }

    fn add(&mut self, predicted: Span, actual: Span, allowance: Span) {
        let off = predicted.0.abs_diff(actual.0);
        self.compared += 1;
        self.within_quarter += u64::from(off <= (actual.0 / 4).max(allowance.0));
        self.predicted += u128::from(predicted.0);
        self.actual += u128::from(actual.0);
    }

    /// From 0 to 1; `None` when nothing was predicted.
    pub fn share_within_quarter(&self) -> Option<f64> {
        (self.compared > 0).then(|| self.within_quarter as f64 / self.compared as f64)
    }

    /// By how much the predictions exceed the real values in sum: 0.5 is 50 % too much, −0.5 is 50 % too little.
    pub fn bias(&self) -> Option<f64> {
        (self.actual > 0).then(|| self.predicted as f64 / self.actual as f64 - 1.0)
    }
}
