//! Reports on ended tasks.

use super::Api;
use super::body::Json;
use super::caller::Caller;
use axum::extract::State;
use danlu_core::{Accuracy, RunId, TaskId};
use danlu_wire::api::{AccuracyView, Document, Predictions, PredictionsView};

/// Of the tasks that ended last: older ones say little about today.
const LOOKED_AT: usize = 10_000;

pub(super) async fn predictions(
    State(api): State<Api>,
    _caller: Caller,
) -> Json<Document<Predictions>> {
    let model = api.handle.model();
    let (mut durations, mut starts) = (Accuracy::default(), Accuracy::default());
    let ended = model.digest.ended.iter().rev().take(LOOKED_AT);
    for task in ended.filter_map(|id| model.tasks.get(id)) {
        durations.add_duration(task);
        let first = (task.id, RunId::FIRST)..(TaskId(task.id.0 + 1), RunId::FIRST);
        let first = model.runs_of.range(first).next().and_then(|(_, run)| model.runs.get(run));
        if let Some(run) = first {
            starts.add_start(task, run);
        }
    }
    let predictions = PredictionsView { durations: view(&durations), starts: view(&starts) };
    Json(Document::new(Predictions { predictions }))
}

fn view(accuracy: &Accuracy) -> AccuracyView {
    AccuracyView {
        compared: accuracy.compared,
        within_25_percent: accuracy.share_within_quarter(),
        bias: accuracy.bias(),
    }
}
