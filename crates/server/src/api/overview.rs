//! What a person wants to see first: lines for what runs, waits and has ended of late, arrays folded.

use super::caller::Caller;
use super::filter::{Filter, Wanted};
use super::tasks::views;
use super::{Api, ApiError, view};
use crate::model::{Brief, BriefState, ReadModel};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use danlu_core::task::ArrayElement;
use danlu_core::{TaskId, Time};
use danlu_wire::api::{ArrayLine, Document, Line, Overview, TaskStateName};
use std::collections::{BTreeMap, BTreeSet};

/// Lines of what waits, and of what has ended.
const WAITING_LINES: usize = 200;
const ENDED_LINES: usize = 10;

pub(super) async fn overview(
    State(api): State<Api>,
    caller: Caller,
    filter: Result<Query<Filter>, QueryRejection>,
) -> Result<Json<Document<Overview>>, ApiError> {
    let Query(filter) = filter?;
    let filter = filter.of(&caller);
    let model = api.handle.model();
    let mut overview = Overview {
        user: caller.name.clone(),
        running: 0,
        running_gpus: 0,
        waiting: 0,
        gpus: view::gpu_states(&model),
        lines: Vec::new(),
        not_shown: 0,
    };
    for run in model.active_runs() {
        let task = model.tasks.get(&run.task).filter(|task| task.owner == caller.id);
        if let Some(task) = task {
            overview.running += 1;
            overview.running_gpus += task.spec.request.gpus;
        }
    }
    let wanted = filter.wanted(&model)?;
    let mut found = open_lines(&wanted, &model, |brief| {
        overview.waiting += usize::from(brief.owner == caller.id && brief.is_waiting());
    });
    overview.not_shown = found.not_shown;
    found.lines.extend(ended_lines(&wanted, &model, &found.arrays));
    drop(wanted);
    let shown = found.lines.iter().map(|line| line.shown).collect();
    let tasks = views(&api, shown).await?;
    let mut arrays: BTreeMap<TaskId, ArrayLine> =
        found.lines.into_iter().filter_map(|line| Some((line.shown, line.array?))).collect();
    let with_array =
        |task: danlu_wire::api::TaskView| Line { array: arrays.remove(&TaskId(task.id)), task };
    overview.lines = tasks.into_iter().map(with_array).collect();
    Ok(Json(Document::new(overview)))
}

struct Found {
    lines: Vec<Folded>,
    /// The arrays that have a line, or would have if there were room.
    arrays: BTreeSet<TaskId>,
    not_shown: usize,
}

struct Folded {
    /// The task that stands for the line.
    shown: TaskId,
    array: Option<ArrayLine>,
}

/// What runs before what waits, each in the order of submission.
fn open_lines(wanted: &Wanted<'_>, model: &ReadModel, mut count: impl FnMut(&Brief)) -> Found {
    let (mut active, mut waiting) = (Vec::new(), Vec::new());
    let mut arrays = BTreeSet::new();
    let mut not_shown = 0;
    for (id, brief) in model.briefs.iter().filter(|(_, brief)| !brief.is_over()) {
        count(brief);
        let first = brief.array.map(|element| element.first);
        let folded = first.is_some_and(|first| arrays.contains(&first));
        if folded || !wanted.lets_through(*id, brief) {
            continue;
        }
        arrays.extend(first);
        let line = fold(model, *id, brief);
        let runs = match &line.array {
            Some(array) => array.counts.keys().any(|state| !state.is_waiting() && !state.is_over()),
            None => !brief.is_waiting(),
        };
        if runs {
            active.push(line);
        } else if waiting.len() < WAITING_LINES {
            waiting.push(line);
        } else {
            not_shown += line.array.map_or(1, |array| array.len());
        }
    }
    active.append(&mut waiting);
    Found { lines: active, arrays, not_shown }
}

/// The newest first.
fn ended_lines(wanted: &Wanted<'_>, model: &ReadModel, shown: &BTreeSet<TaskId>) -> Vec<Folded> {
    let mut lines = Vec::new();
    let mut arrays = shown.clone();
    for (id, brief) in model.briefs.iter().rev().filter(|(_, brief)| brief.is_over()) {
        if lines.len() == ENDED_LINES {
            break;
        }
        let first = brief.array.map(|element| element.first);
        let folded = first.is_some_and(|first| arrays.contains(&first));
        if !folded && wanted.lets_through(*id, brief) {
            arrays.extend(first);
            lines.push(fold(model, *id, brief));
        }
    }
    lines
}

/// The whole array that a task belongs to: its elements have ids that follow each other.
fn fold(model: &ReadModel, id: TaskId, brief: &Brief) -> Folded {
    let Some(ArrayElement { first, .. }) = brief.array else {
        return Folded { shown: id, array: None };
    };
    let element = |(id, brief): (&TaskId, &Brief)| {
        let index = brief.array.filter(|element| element.first == first)?.index;
        Some((*id, index, brief.state))
    };
    let mut line = ArrayLine::default();
    let mut since: Option<Time> = None;
    let mut waits = None;
    for (id, index, state) in model.briefs.range(first..).map_while(element) {
        let name = match state {
            BriefState::Waiting(name) | BriefState::Ended(name) => name,
            BriefState::Active => view::active_state(model, id),
        };
        line.add(id.0, index, name);
        if name == TaskStateName::Running {
            let run = model.tasks.get(&id).and_then(|task| model.runs.get(&task.last_run?));
            since = since.into_iter().chain(run.and_then(|run| view::started_at(run))).min();
        }
        waits = waits.or(name.is_waiting().then_some(id));
    }
    line.sort();
    line.running_since = since.map(view::rfc3339);
    // One that waits tells why.
    let shown = waits.unwrap_or(id);
    let alone = line.len() == 1;
    Folded { shown, array: (!alone).then_some(line) }
}
