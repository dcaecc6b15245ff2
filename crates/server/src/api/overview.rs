//! `danlu ls`: tasks that run, wait or ended recently, with arrays folded into one line.

use super::array_line::array_lines;
use super::body::Json;
use super::caller::Caller;
use super::filter::Filter;
use super::task_list::cursor;
use super::task_selection::{Position, TaskSelection};
use super::tasks::views_in;
use super::{Api, ApiError, view};
use crate::read_model::{ArrayDigest, ReadModel};
use crate::store::history::{HistoryQuery, HistorySort};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use danlu_core::state::Retired;
use danlu_core::{Task, TaskId};
use danlu_wire::api::{Document, Line, Overview, TaskSort};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How many lines of what waits, and of what has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MostLines {
    pub(crate) waiting: usize,
    pub(crate) ended: usize,
}

/// How often the history is read: arrays that have a line already may stand before others.
const MOST_PAGES: usize = 5;

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
    // It has no pages, but what makes no sense is refused here too.
    for place in [&filter.cursor, &filter.before] {
        cursor(place.as_deref(), filter.sort)?;
    }
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
    overview.waiting = model.digest.waiting_of(caller.id);
    let (found, query) = live_lines(&filter, &model, most)?;
    overview.not_shown = found.not_shown;
    let (mut lines, mut with_past) = (found.lines, Arc::clone(&model));
    let more = most.ended - found.ended;
    if let Some(query) = query.filter(|_| more > 0) {
        let mut past = past_lines(api, &model, query, more).await?;
        if let Some(named) = filter.named()? {
            past.retain(|Retired { task, .. }| named.contains(&task.id));
        }
        lines.extend(past.iter().map(|Retired { task, .. }| OverviewLine::of(task)));
        with_past = Arc::new(model.with_retired(past));
    }
    let arrays = lines.iter().filter_map(|line| Some((line.array?, line.shown)));
    let mut arrays = array_lines(api, (&model, &with_past), arrays.collect()).await?;
    let shown: Vec<TaskId> = lines.iter().map(|line| line.shown).collect();
    let tasks = views_in(api, caller, &with_past, &shown)?;
    let line = |task: danlu_wire::api::TaskView| {
        let array = task.array.and_then(|first| arrays.remove(&TaskId(first)));
        Line { array, task }
    };
    overview.lines = tasks.into_iter().map(line).collect();
    Ok(overview)
}

struct OverviewLines {
    lines: Vec<OverviewLine>,
    /// How many of them have ended.
    ended: usize,
    not_shown: usize,
}

struct OverviewLine {
    /// The task that stands for the line.
    shown: TaskId,
    /// The array of which it is an element.
    array: Option<TaskId>,
}

impl OverviewLine {
    fn of(task: &Task) -> OverviewLine {
        OverviewLine { shown: task.id, array: task.array.map(|element| element.first) }
    }
}

/// And the question that the history is to answer.
fn live_lines(
    filter: &Filter,
    model: &ReadModel,
    most: MostLines,
) -> Result<(OverviewLines, Option<HistoryQuery>), ApiError> {
    let wanted = TaskSelection::new(filter, model)?;
    let mut found = open_lines(&wanted, model, most.waiting);
    let ended = ended_lines(&wanted, model, most.ended);
    found.ended = ended.len();
    found.lines.extend(ended);
    Ok((found, wanted.of_history()))
}

/// What ended last of what has left the read model; one element for each array that has no line yet.
async fn past_lines(
    api: &Api,
    model: &ReadModel,
    query: HistoryQuery,
    most: usize,
) -> Result<Vec<Retired>, ApiError> {
    let (sort, limit) = (HistorySort::Ended, most);
    let mut query = HistoryQuery { sort, limit, ..query };
    let (mut lines, mut arrays) = (Vec::new(), BTreeSet::new());
    for _ in 0..MOST_PAGES {
        let page = api.handle.history().page(query.clone()).await?;
        let last = page.tasks.last().map(|it| Position::of_retired(it, TaskSort::Ended));
        for retired in page.tasks {
            let array = retired.task.array.map(|element| element.first);
            let has_live = |first| model.digest.arrays.contains_key(&first);
            let is_new = array.is_none_or(|first| !has_live(first) && arrays.insert(first));
            if is_new && !model.tasks.contains_key(&retired.task.id) {
                lines.push(retired);
            }
        }
        let Some(last) = last.filter(|_| page.more && lines.len() < most) else { break };
        query.after = Some((last.key, last.id));
        // The first page has arrays whose first element was removed, too; on the others they could hide the rest.
        query.folded = true;
    }
    lines.truncate(most);
    Ok(lines)
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
    OverviewLines { lines: lines.collect(), ended: 0, not_shown }
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
    match model.digest.arrays.get(&id) {
        Some(array) => OverviewLine { shown: array.spokesman().unwrap_or(id), array: Some(id) },
        None => OverviewLine { shown: id, array: None },
    }
}
