//! The history of use of tasks, machines and GPUs.

use super::body::Json;
use super::caller::Caller;
use super::filter::moment;
use super::view::{ended_at, started_at};
use super::{Api, ApiError, rfc3339};
use crate::daemon::clock;
use crate::read_model::ReadModel;
use crate::usage::{Metric, SeriesPoint, Spread, Subject, SubjectSeries};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use danlu_core::{GpuId, Node, NodeId, Refusal, Run, TaskId, Time};
use danlu_messages::errors;
use danlu_wire::api::{AttemptSpan, Document, UsageHistory, UsageSeries};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::Arc;

/// Enough for a chart.
const USUAL_POINTS: usize = 400;
const USUAL_RANGE: i64 = 3_600_000;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UsageQuery {
    /// Of a task: the attempt, 1 for the first; the last unless told.
    pub(crate) run: Option<u32>,
    /// A time, or how long ago, such as `1h`; of a task its start, else an hour ago, unless told.
    #[schemars(regex(pattern = r"^([1-9][0-9]{0,2}[smhd]|[0-9]{1,15})$"))]
    pub(crate) from: Option<String>,
    /// The end of the run, or now, unless told.
    #[schemars(regex(pattern = r"^([1-9][0-9]{0,2}[smhd]|[0-9]{1,15})$"))]
    pub(crate) to: Option<String>,
    /// At most so many points in each series, up to 2000.
    pub(crate) points: Option<usize>,
}

pub(super) async fn of_task(
    State(api): State<Api>,
    caller: Caller,
    path: Result<Path<u64>, PathRejection>,
    query: Result<Query<UsageQuery>, QueryRejection>,
) -> Result<Json<Document<UsageHistory>>, ApiError> {
    let (Path(id), Query(query)) = (path?, query?);
    task(&api, &caller, TaskId(id), &query).await.map(|found| Json(Document::new(found)))
}

pub(super) async fn of_node(
    State(api): State<Api>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<UsageQuery>, QueryRejection>,
) -> Result<Json<Document<UsageHistory>>, ApiError> {
    let (Path(name), Query(query)) = (path?, query?);
    node(&api, &name, &query).await.map(|found| Json(Document::new(found)))
}

pub(super) async fn of_gpu(
    State(api): State<Api>,
    path: Result<Path<String>, PathRejection>,
    query: Result<Query<UsageQuery>, QueryRejection>,
) -> Result<Json<Document<UsageHistory>>, ApiError> {
    let (Path(name), Query(query)) = (path?, query?);
    gpu(&api, &name, &query).await.map(|found| Json(Document::new(found)))
}

/// A task that the caller may not see is answered as one that does not exist.
pub(crate) async fn task(
    api: &Api,
    caller: &Caller,
    id: TaskId,
    query: &UsageQuery,
) -> Result<UsageHistory, ApiError> {
    let model = api.model_with(&[id]).await?;
    caller.look_for(&model, id)?;
    model.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    let now = clock::now();
    let millis = |time: Option<Time>| time.map(|time| time.0);
    let attempts = model.runs_of(id).map(|run| AttemptSpan {
        attempt: run.attempt,
        started: millis(started_at(run)),
        ended: millis(ended_at(run)),
    });
    let attempts: Vec<AttemptSpan> = attempts.collect();
    let wanted = |run: &&Run| query.run.is_none_or(|attempt| run.attempt == attempt);
    let Some(run) = model.runs_of(id).filter(wanted).last() else {
        return match query.run {
            Some(attempt) => Err(ApiError::not_found(
                errors::task_id_has_no_attempt_attempt(&id, &attempt),
                errors::danlu_show_id_lists_them(),
            )),
            None => Ok(UsageHistory { now: now.0, from: now.0, to: now.0, ..Default::default() }),
        };
    };
    let begins = started_at(run).unwrap_or(run.launched_at);
    let ends = ended_at(run).unwrap_or(now);
    let (from, to) = range(query, begins, ends, now)?;
    // What was before the run or after it is not its own.
    let (from, to) = (from.max(begins), to.min(ends).max(begins));
    let subjects = {
        let run = run.id;
        api.usage.ask(move |usage| usage.subjects_of(run)).await.unwrap_or_default()
    };
    let labelled = label(&model, subjects);
    let series = series(api, labelled, (from, to), query.points).await;
    Ok(UsageHistory {
        now: now.0,
        from: from.0,
        to: to.0,
        attempt: Some(run.attempt),
        attempts,
        series,
    })
}

pub(crate) async fn node(
    api: &Api,
    name: &str,
    query: &UsageQuery,
) -> Result<UsageHistory, ApiError> {
    let model = api.handle.model();
    let node = find_node(&model, name)?;
    let metrics = &api.usage.settings().metrics;
    let custom = metrics
        .iter()
        .map(|metric| Subject::MachineMetric { node: node.id, name: metric.probe.name.clone() });
    let subjects = [Subject::Machine(node.id)].into_iter().chain(custom).collect();
    of_place(api, label(&model, subjects), query).await
}

/// `name` is `machine:index`.
pub(crate) async fn gpu(
    api: &Api,
    name: &str,
    query: &UsageQuery,
) -> Result<UsageHistory, ApiError> {
    let model = api.handle.model();
    let unknown =
        || ApiError::not_found(errors::gpu_not_known(&name), errors::danlu_gpus_lists_them());
    let (machine, index) = name.rsplit_once(':').ok_or_else(unknown)?;
    let index: u32 = index.parse().map_err(|_| unknown())?;
    let node = find_node(&model, machine)?;
    let gpu = node.gpus.iter().find(|gpu| gpu.index == index).ok_or_else(unknown)?.id.clone();
    let metrics = &api.usage.settings().metrics;
    let custom = metrics
        .iter()
        .map(|metric| Subject::GpuMetric { gpu: gpu.clone(), name: metric.probe.name.clone() });
    let subjects = [Subject::Gpu(gpu.clone())].into_iter().chain(custom).collect();
    of_place(api, label(&model, subjects), query).await
}

async fn of_place(
    api: &Api,
    labelled: Vec<Labelled>,
    query: &UsageQuery,
) -> Result<UsageHistory, ApiError> {
    let now = clock::now();
    let (from, to) = range(query, Time(now.0 - USUAL_RANGE), now, now)?;
    let series = series(api, labelled, (from, to), query.points).await;
    Ok(UsageHistory { now: now.0, from: from.0, to: to.0, series, ..Default::default() })
}

fn find_node<'a>(model: &'a ReadModel, name: &str) -> Result<&'a Node, ApiError> {
    let node = model.nodes.values().find(|node| node.name == name);
    node.map(Arc::as_ref).ok_or_else(|| super::nodes::unknown(name))
}

fn range(query: &UsageQuery, from: Time, to: Time, now: Time) -> Result<(Time, Time), ApiError> {
    let read = |given: &Option<String>, usual| match given {
        Some(given) => millis(given).map_or_else(|| moment(given, now), Ok),
        None => Ok(usual),
    };
    let (from, to) = (read(&query.from, from)?, read(&query.to, to)?);
    if from > to {
        return Err(ApiError::refused(
            errors::range_ends_before_it_begins(&rfc3339(from), &rfc3339(to)),
            errors::earlier_first(),
        ));
    }
    Ok((from, to))
}

/// As the answers have them.
fn millis(given: &str) -> Option<Time> {
    given.parse().ok().map(Time)
}

/// Something that is measured, as people call it.
struct Labelled {
    subject: Subject,
    of: String,
    /// MiB of a GPU.
    memory: Option<u64>,
}

fn label(model: &ReadModel, subjects: Vec<Subject>) -> Vec<Labelled> {
    let node = |id: NodeId| {
        let name = model.nodes.get(&id).map(|node| node.name.clone());
        (name.unwrap_or_else(|| id.to_string()), None)
    };
    let label = |subject: Subject| {
        let (of, memory) = match &subject {
            Subject::Machine(id)
            | Subject::Part { node: id, .. }
            | Subject::MachineMetric { node: id, .. } => node(*id),
            Subject::Gpu(gpu) | Subject::RunGpu { gpu, .. } | Subject::GpuMetric { gpu, .. } => {
                gpu_name(model, gpu)
            }
        };
        Labelled { subject, of, memory }
    };
    let mut labelled: Vec<Labelled> = subjects.into_iter().map(label).collect();
    // GPUs in the order of their numbers.
    labelled.sort_by_key(|one| natural(&one.of));
    labelled
}

pub(super) fn natural(name: &str) -> (String, u32) {
    match name.rsplit_once(':') {
        Some((node, index)) => (node.to_owned(), index.parse().unwrap_or(u32::MAX)),
        None => (name.to_owned(), 0),
    }
}

/// A card that is gone is called by its id.
pub(super) fn gpu_name(model: &ReadModel, gpu: &GpuId) -> (String, Option<u64>) {
    let found = model.nodes.values().find_map(|node| {
        let gpu = node.gpus.iter().find(|one| one.id == *gpu)?;
        Some((format!("{}:{}", node.name, gpu.index), Some(gpu.memory >> 20)))
    });
    found.unwrap_or_else(|| (gpu.to_string(), None))
}

async fn series(
    api: &Api,
    labelled: Vec<Labelled>,
    (from, to): (Time, Time),
    points: Option<usize>,
) -> Vec<UsageSeries> {
    let points = points.unwrap_or(USUAL_POINTS);
    let units: Vec<(String, String)> = {
        let settings = api.usage.settings();
        let unit = |metric: &crate::daemon::config::CustomMetric| {
            (metric.probe.name.clone(), metric.unit.clone())
        };
        settings.metrics.iter().map(unit).collect()
    };
    let read = move |usage: &crate::usage::Usage| {
        let one = |it: &Labelled| {
            let found = usage.range(&it.subject, from.0, to.0, points);
            columns(it, &found, &units)
        };
        labelled.iter().flat_map(one).collect::<Vec<UsageSeries>>()
    };
    api.usage.ask(read).await.unwrap_or_default()
}

/// One series for each number that was measured at all.
fn columns(it: &Labelled, found: &SubjectSeries, units: &[(String, String)]) -> Vec<UsageSeries> {
    let metrics = it.subject.metrics().iter().enumerate();
    let series = metrics.filter_map(|(place, metric)| {
        let values: Vec<Option<Spread>> =
            found.moments.iter().map(|moment| value(moment, place)).collect();
        values.iter().any(Option::is_some).then(|| {
            let scaled = |of: fn(&Spread) -> i64| -> Vec<Option<f64>> {
                let scale = metric.scale();
                values.iter().map(|value| value.as_ref().map(|it| of(it) as f64 / scale)).collect()
            };
            let spread = values.iter().flatten().any(|value| value.min != value.max);
            let (name, unit) = named(&it.subject, *metric, units);
            UsageSeries {
                of: it.of.clone(),
                metric: name,
                unit,
                most: most(*metric, it.memory),
                step: found.step,
                at: found.moments.iter().map(|moment| moment.at).collect(),
                mean: scaled(|it| it.mean),
                min: if spread { scaled(|it| it.min) } else { Vec::new() },
                max: if spread { scaled(|it| it.max) } else { Vec::new() },
            }
        })
    });
    series.collect()
}

fn value(moment: &SeriesPoint, place: usize) -> Option<Spread> {
    moment.values.get(place).copied().flatten()
}

fn named(subject: &Subject, metric: Metric, units: &[(String, String)]) -> (String, String) {
    match subject {
        Subject::MachineMetric { name, .. } | Subject::GpuMetric { name, .. } => {
            let unit = units.iter().find(|(known, _)| known == name);
            (name.clone(), unit.map(|(_, unit)| unit.clone()).unwrap_or_default())
        }
        Subject::Machine(_) | Subject::Gpu(_) | Subject::Part { .. } | Subject::RunGpu { .. } => {
            (metric.name().to_owned(), metric.unit().to_owned())
        }
    }
}

fn most(metric: Metric, gpu_memory: Option<u64>) -> Option<f64> {
    match metric {
        Metric::Cpu | Metric::GpuUtilization => Some(100.0),
        Metric::GpuMemory => gpu_memory.map(|mebibytes| mebibytes as f64),
        Metric::MemoryUsed
        | Metric::MemoryTotal
        | Metric::Load
        | Metric::DiskUsed
        | Metric::DiskTotal
        | Metric::DiskRead
        | Metric::DiskWritten
        | Metric::NetworkReceived
        | Metric::NetworkSent
        | Metric::GpuTemperature
        | Metric::GpuPower
        | Metric::Cores
        | Metric::Memory
        | Metric::Custom => None,
    }
}
