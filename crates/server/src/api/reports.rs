//! Reports on ended tasks.

use super::Api;
use super::ApiError;
use super::body::Json;
use super::caller::Caller;
use crate::read_model::ReadModel;
use crate::store::history::{HistoryQuery, HistorySort};
use axum::extract::State;
use danlu_core::state::Retired;
use danlu_core::{Accuracy, Run, Task, TaskId, Time};
use danlu_wire::api::{AccuracyView, Document, Predictions, PredictionsView};

/// Of the tasks that ended last: older ones say little about today.
const LOOKED_AT: usize = 10_000;
/// Read from the history at once.
const AT_ONCE: usize = 1_000;

pub(super) async fn predictions(
    State(api): State<Api>,
    _caller: Caller,
) -> Result<Json<Document<Predictions>>, ApiError> {
    let mut found = Comparison::default();
    let model = api.handle.model();
    let mut left = found.of_live(&model);
    let mut after: Option<(i64, TaskId)> = None;
    while left > 0 {
        let (sort, limit) = (HistorySort::Ended, left.min(AT_ONCE));
        let query = HistoryQuery { sort, after, limit, ..HistoryQuery::default() };
        let page = api.handle.history().page(query).await?;
        for Retired { task, runs } in &page.tasks {
            if !model.tasks.contains_key(&task.id) {
                found.add(task, runs.first().map(|run| &**run));
                left = left.saturating_sub(1);
            }
        }
        let last = page.tasks.last().filter(|_| page.more);
        let Some(Retired { task, .. }) = last else { break };
        after = task.ended_at().map(|at| (at.0, task.id));
    }
    let Comparison { durations, starts } = found;
    let predictions = PredictionsView { durations: view(&durations), starts: view(&starts) };
    Ok(Json(Document::new(Predictions { predictions })))
}

#[derive(Default)]
struct Comparison {
    durations: Accuracy,
    starts: Accuracy,
}

impl Comparison {
    /// Of the live tasks that ended last; returns how many more are to be looked at.
    fn of_live(&mut self, model: &ReadModel) -> usize {
        let ended = model.digest.ended.iter().filter_map(|id| model.tasks.get(id));
        let mut ended: Vec<(Option<Time>, TaskId)> =
            ended.map(|task| (task.ended_at(), task.id)).collect();
        ended.sort_unstable_by(|a, b| b.cmp(a));
        ended.truncate(LOOKED_AT);
        for task in ended.iter().filter_map(|(_, id)| model.tasks.get(id)) {
            self.add(task, model.runs_of(task.id).next());
        }
        LOOKED_AT - ended.len()
    }

    fn add(&mut self, task: &Task, first: Option<&Run>) {
        self.durations.add_duration(task);
        if let Some(run) = first {
            self.starts.add_start(task, run);
        }
    }
}

fn view(accuracy: &Accuracy) -> AccuracyView {
    AccuracyView {
        compared: accuracy.compared,
        within_25_percent: accuracy.share_within_quarter(),
        bias: accuracy.bias(),
    }
}
