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
use std::ops::Range;
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
    let mut overview = Overview {
        user: caller.name.clone(),
        running: 0,
        running_gpus: 0,
        waiting: 0,
        gpus: view::gpu_states(&model),
        lines: Vec::new(),
        not_shown: 0,
        lines_before: 0,
        next_cursor: None,
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
    overview.lines_before = found.before;
    overview.next_cursor = found.next.map(|id| id.to_string());
    let is_first = found.before == 0;
    let (mut lines, mut with_past) = (found.lines, Arc::clone(&model));
    let more = most.ended - found.ended;
    if let Some(query) = query.filter(|_| more > 0 && is_first) {
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
    /// How many lines of what waits come before these, and the first one after them.
    before: usize,
    next: Option<TaskId>,
}

/// The lines of what waits that are asked for, by the ids at which they begin or end.
#[derive(Debug, Clone, Copy)]
struct WaitingPage {
    from: Option<TaskId>,
    before: Option<TaskId>,
    most: usize,
}

impl WaitingPage {
    fn of(filter: &Filter, most: usize) -> Result<WaitingPage, ApiError> {
        let place = |given: &Option<String>| cursor(given.as_deref(), filter.sort);
        let id = |position: Position| position.id;
        Ok(WaitingPage {
            from: place(&filter.cursor)?.map(id),
            before: place(&filter.before)?.map(id),
            most: most.min(filter.limit.max(1)),
        })
    }

    /// Of lines in the order of their ids. What would begin before the first one is the first page.
    fn range(self, waiting: &[(TaskId, usize)]) -> Range<usize> {
        let place = |id: TaskId| waiting.partition_point(|(line, _)| *line < id);
        let start = match (self.before, self.from) {
            (Some(before), _) => place(before).saturating_sub(self.most),
            (None, Some(from)) => place(from),
            (None, None) => 0,
        };
        start..waiting.len().min(start.saturating_add(self.most))
    }
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
    let mut found = open_lines(&wanted, model, WaitingPage::of(filter, most.waiting)?);
    let ended = match found.before {
        0 => ended_lines(&wanted, model, most.ended),
        _ => Vec::new(),
    };
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
fn open_lines(wanted: &TaskSelection<'_>, model: &ReadModel, page: WaitingPage) -> OverviewLines {
    let (mut active, mut waiting) = (Vec::new(), Vec::new());
    let mut put = |id: TaskId, runs: bool, count: usize| match runs {
        true => active.push(id),
        false => waiting.push((id, count)),
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
    let shown = page.range(&waiting);
    if shown.start > 0 {
        active.clear();
    }
    let not_shown = waiting[shown.end..].iter().map(|(_, count)| count).sum();
    let next = waiting.get(shown.end).map(|(id, _)| *id);
    let before = shown.start;
    let lines = active.into_iter().chain(waiting[shown].iter().map(|(id, _)| *id));
    let lines = lines.map(|id| line(model, id)).collect();
    OverviewLines { lines, ended: 0, not_shown, before, next }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_what_waits_begin_and_end_at_lines() {
        let waiting: Vec<(TaskId, usize)> = (1..=10).map(|id| (TaskId(id * 10), 1)).collect();
        let check = |from: Option<u64>, before: Option<u64>, expect: Range<usize>| {
            let page = WaitingPage { from: from.map(TaskId), before: before.map(TaskId), most: 4 };
            assert_eq!(page.range(&waiting), expect, "{page:?}");
        };
        check(None, None, 0..4);
        check(Some(50), None, 4..8);
        // The line has gone meanwhile: those after it.
        check(Some(51), None, 5..9);
        check(Some(999), None, 10..10);
        check(None, Some(50), 0..4);
        check(None, Some(70), 2..6);
        check(None, Some(i64::MAX as u64), 6..10);
        // What would begin before the first one is the first page.
        check(None, Some(20), 0..4);
    }
}
