//! The last minutes of GPUs, for charts.

use super::page::PageError;
use super::page_context::Visit;
use crate::api::Api;
use crate::fleet::Sample;
use axum::Json;
use axum::extract::{Path, State};
use danlu_core::{GpuId, NodeId, Refusal, TaskId};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(super) struct GpuCharts {
    /// Milliseconds, as all times here.
    now: i64,
    gpus: Vec<GpuUsage>,
}

#[derive(Debug, Serialize)]
struct GpuUsage {
    name: String,
    memory_total: u64,
    at: Vec<i64>,
    /// Percent.
    utilization: Vec<Option<u8>>,
    memory: Vec<Option<u64>>,
}

/// Of the GPUs that a task has, or had last.
pub(super) async fn usage(
    State(api): State<Api>,
    visit: Visit,
    Path(id): Path<u64>,
) -> Result<Json<GpuCharts>, PageError> {
    let model = api.model_with(&[TaskId(id)]).await.map_err(visit.no())?;
    let task =
        model.tasks.get(&TaskId(id)).filter(|task| visit.caller.visibility(&model).task(task.id));
    let task = task.ok_or(Refusal::NoSuchTask(TaskId(id)));
    let task = task.map_err(visit.no())?;
    let run = task.trail().last_run.and_then(|run| model.runs.get(&run));
    let since = run.and_then(|run| crate::api::view::started_at(run)).map_or(0, |time| time.0);
    let mut gpus = Vec::new();
    for part in run.into_iter().flat_map(|run| &run.parts) {
        let Some(node) = model.nodes.get(&part.node) else { continue };
        for gpu in node.gpus.iter().filter(|gpu| part.gpus.contains(&gpu.id)) {
            let name = format!("{}:{}", node.name, gpu.index);
            gpus.push(GpuUsage::of(name, gpu.memory, api.live.history(node.id, &gpu.id), since));
        }
    }
    Ok(Json(GpuCharts { now: crate::daemon::clock::now().0, gpus }))
}

impl GpuUsage {
    fn of(name: String, memory_total: u64, samples: Vec<Sample>, since: i64) -> GpuUsage {
        let mut usage = GpuUsage {
            name,
            memory_total,
            at: Vec::new(),
            utilization: Vec::new(),
            memory: Vec::new(),
        };
        // What was seen last before the run is how it was when the run began.
        let first = samples.iter().rposition(|sample| sample.at.0 <= since).unwrap_or(0);
        for sample in samples.into_iter().skip(first) {
            usage.at.push(sample.at.0.max(since));
            usage.utilization.push(sample.utilization);
            usage.memory.push(sample.memory_used);
        }
        usage
    }
}

/// Points for a line of 120 by 24, the last ten minutes from left to right; `None` with too few.
pub(super) fn spark_line(
    api: &Api,
    node: NodeId,
    gpu: &str,
    now: danlu_core::Time,
) -> Option<String> {
    const MINUTES: i64 = 10;
    let samples = api.live.history(node, &GpuId::from(gpu));
    let last = samples.last()?.utilization;
    let point = |at: i64, use_: u8| {
        let x = 120.0 - (now.0 - at) as f64 / (MINUTES * 60_000) as f64 * 120.0;
        format!("{:.1},{:.1}", x.max(0.0), 23.0 - f64::from(use_.min(100)) / 100.0 * 22.0)
    };
    let mut points: Vec<String> =
        samples.iter().filter_map(|sample| Some(point(sample.at.0, sample.utilization?))).collect();
    // What has not been seen to change is as it was.
    points.extend(last.map(|use_| point(now.0, use_)));
    (points.len() > 1).then(|| points.join(" "))
}
