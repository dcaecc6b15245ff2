//! Accuracy of predictions, and the check of the database.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answer to `GET /reports/predictions`: how good they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predictions {
    pub predictions: PredictionsView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictionsView {
    /// Of how long tasks run.
    pub durations: AccuracyView,
    /// Of how long they wait.
    pub starts: AccuracyView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccuracyView {
    /// Tasks for which there was a prediction.
    pub compared: u64,
    /// The share of them, from 0 to 1, that was off by at most a quarter; `None` without any.
    pub within_25_percent: Option<f64>,
    /// How much more was predicted than came, in sum: 0.5 is half as much again.
    pub bias: Option<f64>,
}

/// `GET /server/check`: the database is sound, and has so many of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseCheck {
    pub tasks: usize,
    pub open_tasks: usize,
    pub runs: usize,
    pub users: usize,
    pub nodes: usize,
    pub events: i64,
}
