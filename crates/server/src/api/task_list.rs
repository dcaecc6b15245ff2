//! A page of the tasks that a filter lets through: live ones and those of the history in one order.

use super::caller::Caller;
use super::filter::Filter;
use super::task_selection::{Position, TaskSelection};
use super::tasks::views_in;
use super::{Api, ApiError};
use crate::read_model::{Brief, ReadModel};
use crate::store::history::HistoryQuery;
use danlu_core::TaskId;
use danlu_core::state::Retired;
use danlu_messages::errors;
use danlu_wire::api::{MOST_ROWS, TaskSort, Tasks};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

/// A page, and a read model in which its tasks are visible.
pub(crate) struct TaskList {
    pub(crate) tasks: Tasks,
    /// To be given as `before` for the rows before these.
    pub(crate) previous: Option<String>,
    pub(crate) model: Arc<ReadModel>,
}

/// How many the filter lets through, and a part of them.
struct Page {
    total: Total,
    positions: Vec<Position>,
    /// The first one that is not on it.
    next: Option<Position>,
    model: Arc<ReadModel>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Total {
    count: usize,
    /// There are more than these.
    is_less: bool,
}

/// The part of a list that begins after a position, in a direction.
#[derive(Debug, Clone, Copy)]
struct ListPart {
    after: Option<Position>,
    ascending: bool,
    limit: usize,
}

pub(crate) async fn select(
    api: &Api,
    caller: &Caller,
    filter: Filter,
) -> Result<TaskList, ApiError> {
    let model = api.handle.model();
    let filter = filter.of(caller, &model);
    let model = match filter.named()? {
        Some(named) => api.with_retired(model, &named.into_iter().collect::<Vec<_>>()).await?,
        None => model,
    };
    let limit = filter.limit.clamp(1, MOST_ROWS);
    if let Some(end) = cursor(filter.before.as_deref(), filter.sort)? {
        let back = ListPart { after: Some(end), ascending: !filter.oldest_first, limit };
        let mut page = page(api, &filter, &model, back).await?;
        // With fewer rows it is the first page.
        if page.positions.len() == limit {
            page.positions.reverse();
            let previous = page.next.and(page.positions.first().copied());
            return listed(api, caller, &filter, Page { next: Some(end), ..page }, previous).await;
        }
    }
    let start = match &filter.before {
        Some(_) => None,
        None => cursor(filter.cursor.as_deref(), filter.sort)?,
    };
    let ascending = filter.oldest_first;
    let after = start.and_then(|start| start.just_before(ascending, filter.sort));
    let page = page(api, &filter, &model, ListPart { after, ascending, limit }).await?;
    let previous = start.and(page.positions.first().copied());
    listed(api, caller, &filter, page, previous).await
}

async fn listed(
    api: &Api,
    caller: &Caller,
    filter: &Filter,
    Page { total, positions, next, model }: Page,
    previous: Option<Position>,
) -> Result<TaskList, ApiError> {
    let ids: Vec<TaskId> = positions.iter().map(|position| position.id).collect();
    let tasks = views_in(api, caller, &model, &ids)?;
    let written = |position: Position| position.written(filter.sort);
    let (next, next_cursor) = (next.map(|it| it.id.0), next.map(written));
    let Total { count: total, is_less: more_than_total } = total;
    let tasks = Tasks { tasks, total, more_than_total, next, next_cursor };
    Ok(TaskList { tasks, previous: previous.map(written), model })
}

async fn page(
    api: &Api,
    filter: &Filter,
    model: &Arc<ReadModel>,
    part: ListPart,
) -> Result<Page, ApiError> {
    let (mut positions, count, query) = live(filter, model, part)?;
    let mut total = Total { count, is_less: false };
    let mut model = Arc::clone(model);
    if let Some(query) = query.filter(|_| filter.ids.is_none()) {
        // What would stand behind a full page of live tasks is not read.
        let until = positions.get(part.limit).map(|last| (last.key, last.id));
        let query = HistoryQuery { until, ..query };
        let (past, count) = past(api, &model, (query, filter.sort), part).await?;
        total.is_less = count.is_none();
        total.count += count.unwrap_or(past.len());
        positions.extend(past.iter().map(|it| Position::of_retired(it, filter.sort)));
        part.sort(&mut positions);
        positions.truncate(part.limit + 1);
        let shown: BTreeSet<TaskId> = positions.iter().map(|it| it.id).collect();
        let past = past.into_iter().filter(|retired| shown.contains(&retired.task.id));
        model = Arc::new(model.with_retired(past));
    }
    let next = positions.get(part.limit).copied();
    positions.truncate(part.limit);
    Ok(Page { total, positions, next, model })
}

/// Of the read model: one more than fits, how many there are in all, and the question that the history is to answer.
fn live(
    filter: &Filter,
    model: &ReadModel,
    part: ListPart,
) -> Result<(Vec<Position>, usize, Option<HistoryQuery>), ApiError> {
    let wanted = TaskSelection::new(filter, model)?;
    let is_in_order = filter.sort == TaskSort::Id;
    let counted = wanted.counted();
    debug_assert!(counted.is_none_or(|count| {
        let all = model.briefs.iter().filter(|(id, brief)| wanted.lets_through(**id, brief));
        count == all.count()
    }));
    // Where nothing has to be counted, a page costs as much as it has rows.
    let is_page = is_in_order && counted.is_some();
    let range = match part.after.filter(|_| is_page) {
        None => (Bound::Unbounded, Bound::Unbounded),
        Some(after) if part.ascending => (Bound::Excluded(after.id), Bound::Unbounded),
        Some(after) => (Bound::Unbounded, Bound::Excluded(after.id)),
    };
    let known = |id: TaskId| model.briefs.get_key_value(&id);
    let briefs: Box<dyn DoubleEndedIterator<Item = (&TaskId, &Brief)>> =
        if let Some(named) = filter.named()? {
            Box::new(named.into_iter().filter_map(known))
        } else if wanted.only_active() {
            let tasks: BTreeSet<TaskId> = model.active_runs().map(|run| run.task).collect();
            Box::new(tasks.into_iter().filter_map(known))
        } else {
            Box::new(model.briefs.range(range))
        };
    let briefs: Box<dyn Iterator<Item = (&TaskId, &Brief)>> =
        if part.ascending { Box::new(briefs) } else { Box::new(briefs.rev()) };
    let (mut found, mut total) = (Vec::new(), 0);
    for (id, brief) in briefs {
        if is_page && (found.len() > part.limit || counted == Some(total)) {
            break;
        }
        if !wanted.lets_through(*id, brief) {
            continue;
        }
        total += 1;
        if is_in_order && found.len() > part.limit {
            continue;
        }
        let position = wanted.position(*id);
        if part.after.is_none_or(|after| part.is_beyond(position, after)) {
            found.push(position);
        }
    }
    part.sort(&mut found);
    found.truncate(part.limit + 1);
    Ok((found, counted.unwrap_or(total), wanted.of_history()))
}

/// Of the history: one more than fits, without those that are live, and how many there are in all, unless counting them
/// would take too long.
async fn past(
    api: &Api,
    model: &ReadModel,
    (query, sort): (HistoryQuery, TaskSort),
    part: ListPart,
) -> Result<(Vec<Retired>, Option<usize>), ApiError> {
    let after = part.after.map(|after| (after.key, after.id));
    let (ascending, limit) = (part.ascending, part.limit + 1);
    let mut total = query.is_counted().then(|| model.past.of(query.owner, query.states.as_deref()));
    let count = total.is_none();
    let mut query = HistoryQuery { ascending, after, limit, count, ..query };
    let mut found = Vec::new();
    loop {
        let page = api.handle.history().page(query.clone()).await?;
        total = total.or(page.total.map(|total| usize::try_from(total).unwrap_or(usize::MAX)));
        let (last, more) = (page.tasks.last().map(|it| Position::of_retired(it, sort)), page.more);
        let past = page.tasks.into_iter();
        found.extend(past.filter(|retired| !model.tasks.contains_key(&retired.task.id)));
        if found.len() > part.limit || !more || last.is_none() {
            found.truncate(part.limit + 1);
            return Ok((found, total));
        }
        let after = last.map(|last| (last.key, last.id));
        query = HistoryQuery { after, count: false, ..query };
    }
}

impl ListPart {
    fn is_beyond(&self, position: Position, after: Position) -> bool {
        if self.ascending { position > after } else { position < after }
    }

    fn sort(&self, positions: &mut [Position]) {
        match self.ascending {
            true => positions.sort_unstable(),
            false => positions.sort_unstable_by(|a, b| b.cmp(a)),
        }
    }
}

/// `12`, or of a list that is not sorted by id `1763450000000-12`. One of another order is some place in this one.
pub(super) fn cursor(given: Option<&str>, sort: TaskSort) -> Result<Option<Position>, ApiError> {
    let Some(given) = given else { return Ok(None) };
    Position::read(given, sort).map(Some).ok_or_else(|| {
        ApiError::bad_request(errors::not_a_cursor(&given), errors::cursor_of_an_answer())
    })
}

impl Position {
    fn read(given: &str, sort: TaskSort) -> Option<Position> {
        let number = |text: &str| text.parse::<u64>().ok().and_then(|it| i64::try_from(it).ok());
        let (key, id) = match sort {
            TaskSort::Id => {
                let id = given.split_once('-').map_or(given, |(_, id)| id);
                (id, id)
            }
            TaskSort::Ended | TaskSort::Ran => given.split_once('-').unwrap_or((given, "0")),
        };
        Some(Position { key: number(key)?, id: TaskId(id.parse().ok()?) })
    }

    fn written(self, sort: TaskSort) -> String {
        match sort {
            TaskSort::Id => self.id.to_string(),
            TaskSort::Ended | TaskSort::Ran => format!("{}-{}", self.key.max(0), self.id),
        }
    }

    /// What comes after it begins with this position; `None` if everything does.
    fn just_before(self, ascending: bool, sort: TaskSort) -> Option<Position> {
        let step = |key: i64, id: u64| match (ascending, sort) {
            (true, TaskSort::Id) => Some((key.checked_sub(1)?, id.checked_sub(1)?)),
            (true, TaskSort::Ended | TaskSort::Ran) => Some((key, id.checked_sub(1)?)),
            (false, TaskSort::Id) => Some((key.saturating_add(1), id.saturating_add(1))),
            (false, TaskSort::Ended | TaskSort::Ran) => Some((key, id.saturating_add(1))),
        };
        let (key, id) = step(self.key, self.id.0)?;
        Some(Position { key, id: TaskId(id) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written() {
        let check = |key, id, sort| {
            let position = Position { key, id: TaskId(id) };
            assert_eq!(Position::read(&position.written(sort), sort), Some(position));
        };
        check(12, 12, TaskSort::Id);
        check(1_763_450_000_000, 12, TaskSort::Ended);
        check(i64::MAX, 12, TaskSort::Ended);
        check(0, 12, TaskSort::Ran);
        let of = |key, id| Some(Position { key, id: TaskId(id) });
        assert_eq!(Position::read("12", TaskSort::Ran), of(12, 0));
        assert_eq!(Position::read("5-12", TaskSort::Id), of(12, 12));
        assert_eq!(Position::read("-1-2", TaskSort::Ran), None);
    }

    #[test]
    fn a_page_begins_with_the_task_of_its_cursor() {
        for (ascending, sort) in
            [(true, TaskSort::Id), (false, TaskSort::Id), (true, TaskSort::Ran)]
        {
            let part = |after| ListPart { after, ascending, limit: 1 };
            let position = Position { key: 5, id: TaskId(5) };
            let after = position.just_before(ascending, sort).expect("there is one");
            assert!(part(Some(after)).is_beyond(position, after), "{ascending} {sort:?}");
            assert!(!part(Some(position)).is_beyond(position, position));
        }
        let first = Position { key: 0, id: TaskId(0) };
        assert_eq!(first.just_before(true, TaskSort::Id), None);
    }
}
