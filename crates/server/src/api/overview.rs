//! `danlu ls`: tasks that run, wait or ended recently, with arrays folded into one line.

use super::body::Json;
use super::caller::Caller;
use super::filter::{Filter, TaskSelection};
use super::tasks::views;
use super::{Api, ApiError, view};
use crate::read_model::{ArrayDigest, ReadModel};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use danlu_core::{TaskId, Time};
use danlu_wire::api::{ArrayLine, Document, Line, Overview, TaskStateName, ranges};
use std::collections::{BTreeMap, BTreeSet};

/// How many lines of what waits, and of what has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MostLines {
    pub(crate) waiting: usize,
    pub(crate) ended: usize,
}

const FOR_PROGRAMS: MostLines = MostLines { waiting: 200, ended: 10 };

pub(super) async fn overview(
    State(api): State<Api>,
    caller: Caller,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Result<Json<Document<Overview>>, ApiError> {
    let Query(filter) = filter?;
    Ok(Json(Document::new(gather(&api, &caller, filter, FOR_PROGRAMS).await?)))
}

pub(crate) async fn gather(
    api: &Api,
    caller: &Caller,
    filter: Filter,
    most: MostLines,
) -> Result<Overview, ApiError> {
    let model = api.handle.model();
    let filter = filter.of(caller, &model);
    let mut overview = Overview {
        user: caller.name.clone(),
        running: 0,
        running_gpus: 0,
        waiting: 0,
        gpus: view::gpu_states(&model),
        lines: Vec::new(),
        not_shown: 0,
        notices: api.handle.notices().seen_by(caller.admin),
    };
    for run in model.active_runs() {
        let task = model.tasks.get(&run.task).filter(|task| task.owner == caller.id);
        if let Some(task) = task {
            overview.running += 1;
            overview.running_gpus += task.spec.request.gpus;
        }
    }
    let wanted = filter.wanted(&model)?;
    let mut found = open_lines(&wanted, &model, most.waiting);
    overview.waiting = model.digest.waiting_of(caller.id);
    overview.not_shown = found.not_shown;
    found.lines.extend(ended_lines(&wanted, &model, most.ended));
    drop(wanted);
    let shown = found.lines.iter().map(|line| line.shown).collect();
    let tasks = views(api, caller, shown).await?;
    let mut arrays: BTreeMap<TaskId, ArrayLine> =
        found.lines.into_iter().filter_map(|line| Some((line.shown, line.array?))).collect();
    let with_array =
        |task: danlu_wire::api::TaskView| Line { array: arrays.remove(&TaskId(task.id)), task };
    overview.lines = tasks.into_iter().map(with_array).collect();
    Ok(overview)
}

struct OverviewLines {
    lines: Vec<OverviewLine>,
    not_shown: usize,
}

struct OverviewLine {
    /// The task that stands for the line.
    shown: TaskId,
    array: Option<ArrayLine>,
}

/// What runs before what waits, each in the order of submission.
fn open_lines(wanted: &TaskSelection<'_>, model: &ReadModel, most_waiting: usize) -> OverviewLines {
    let (mut active, mut waiting) = (Vec::new(), Vec::new());
    let mut not_shown = 0;
    let mut put = |id: TaskId, runs: bool, count: usize| {
        if runs {
            active.push(id);
        } else if waiting.len() < most_waiting {
            waiting.push(id);
        } else {
            not_shown += count;
        }
    };
    let digest = &model.digest;
    let arrays = digest.open_arrays.iter().filter_map(|first| digest.arrays.get_key_value(first));
    let mut arrays = arrays.filter(|(_, array)| is_wanted(wanted, model, array)).peekable();
    for (id, brief) in &digest.open_singles {
        while let Some((first, array)) = arrays.next_if(|(first, _)| *first < id) {
            put(*first, !array.active.is_empty(), array.size());
        }
        if wanted.lets_through(*id, brief) {
            put(*id, !brief.is_waiting(), 1);
        }
    }
    arrays.for_each(|(first, array)| put(*first, !array.active.is_empty(), array.size()));
    let lines = active.into_iter().chain(waiting).map(|id| line(model, id));
    OverviewLines { lines: lines.collect(), not_shown }
}

fn is_wanted(wanted: &TaskSelection<'_>, model: &ReadModel, array: &ArrayDigest) -> bool {
    let spokesman = array.spokesman();
    let brief = spokesman.and_then(|id| model.briefs.get_key_value(&id));
    brief.is_some_and(|(id, brief)| wanted.lets_through(*id, brief))
}

/// The newest first.
fn ended_lines(wanted: &TaskSelection<'_>, model: &ReadModel, most: usize) -> Vec<OverviewLine> {
    let digest = &model.digest;
    let mut arrays = BTreeSet::new();
    let mut lines = Vec::new();
    for id in digest.ended.iter().rev() {
        if lines.len() == most {
            break;
        }
        let Some(brief) = model.briefs.get(id) else { continue };
        let first = model.element(*id).map(|element| element.first);
        let has_line =
            |first: TaskId| digest.open_arrays.contains(&first) || arrays.contains(&first);
        if !first.is_some_and(has_line) && wanted.lets_through(*id, brief) {
            arrays.extend(first);
            lines.push(line(model, first.unwrap_or(*id)));
        }
    }
    lines
}

/// Of a task, or of the array whose first element it is.
fn line(model: &ReadModel, id: TaskId) -> OverviewLine {
    let array = model.digest.arrays.get(&id).filter(|array| array.size() > 1);
    let Some(array) = array else {
        let alone = model.digest.arrays.get(&id).and_then(ArrayDigest::spokesman);
        return OverviewLine { shown: alone.unwrap_or(id), array: None };
    };
    let mut counts: BTreeMap<TaskStateName, usize> =
        array.counts.iter().map(|(state, count)| (*state, *count)).collect();
    let mut since: Option<Time> = None;
    for id in &array.active {
        let state = view::active_state(model, *id);
        *counts.entry(state).or_default() += 1;
        if state == TaskStateName::Running {
            let run = model.tasks.get(id).and_then(|task| model.runs.get(&task.trail().last_run?));
            since = since.into_iter().chain(run.and_then(|run| view::started_at(run))).min();
        }
    }
    let (first, last) = array.first_and_last().unwrap_or((id, id));
    let summary = ArrayLine {
        first: first.0,
        last: last.0,
        indices: indices(model, array),
        counts,
        running_since: since.map(view::rfc3339),
    };
    OverviewLine { shown: array.spokesman().unwrap_or(id), array: Some(summary) }
}

/// As they were submitted, while none has been removed; then of those that are left.
fn indices(model: &ReadModel, array: &ArrayDigest) -> Vec<(u32, u32)> {
    let task = array.spokesman().and_then(|id| model.tasks.get(&id));
    let submitted = task.and_then(|task| task.spec.array.as_ref());
    match submitted {
        Some(spec) if spec.indices.len() == array.size() => ranges(spec.indices.iter().copied()),
        _ => {
            let ids = array.waiting.iter().chain(&array.active).chain(&array.ended);
            ranges(ids.filter_map(|id| Some(model.element(*id)?.index)))
        }
    }
}
