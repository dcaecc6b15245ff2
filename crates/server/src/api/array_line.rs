//! An array as one line: how many of its elements are in which state, whether they are live or in the history.

use super::{Api, ApiError, view};
use crate::read_model::{ArrayDigest, ReadModel};
use crate::store::history::{HistoryQuery, RetiredElements};
use danlu_core::task::ArraySpec;
use danlu_core::{TaskId, Time};
use danlu_wire::api::{ArrayLine, MOST_ROWS, TaskStateName, ranges};
use std::collections::{BTreeMap, BTreeSet};

/// Of arrays by the ids of their first elements, each with an element that stands for it. One with a single element
/// left is no array any more. `with_past` is the model with what the history has shown so far.
pub(super) async fn array_lines(
    api: &Api,
    (model, with_past): (&ReadModel, &ReadModel),
    arrays: Vec<(TaskId, TaskId)>,
) -> Result<BTreeMap<TaskId, ArrayLine>, ApiError> {
    let all = arrays.into_iter().map(|(first, shown)| Elements::of(model, with_past, first, shown));
    let all: Vec<Elements<'_>> = all.collect();
    let incomplete = all.iter().filter(|it| !it.is_whole()).map(|it| it.first).collect();
    let mut retired: BTreeMap<TaskId, Vec<RetiredElements>> = BTreeMap::new();
    for part in api.handle.history().elements(incomplete).await? {
        retired.entry(part.array).or_default().push(part);
    }
    let mut lines = BTreeMap::new();
    for mut elements in all {
        elements.retired = retired.remove(&elements.first).unwrap_or_default();
        if elements.count() > 1 {
            let indices = match elements.is_whole() {
                true => None,
                false => elements.indices_left(api).await?,
            };
            lines.insert(elements.first, elements.line(indices));
        }
    }
    Ok(lines)
}

/// The elements of an array.
struct Elements<'a> {
    model: &'a ReadModel,
    first: TaskId,
    submitted: Option<&'a ArraySpec>,
    live: Option<&'a ArrayDigest>,
    retired: Vec<RetiredElements>,
}

impl<'a> Elements<'a> {
    fn of(
        model: &'a ReadModel,
        with_past: &'a ReadModel,
        first: TaskId,
        shown: TaskId,
    ) -> Elements<'a> {
        let submitted = with_past.tasks.get(&shown).and_then(|task| task.spec.array.as_ref());
        let live = model.digest.arrays.get(&first);
        Elements { model, first, submitted, live, retired: Vec::new() }
    }

    fn count(&self) -> usize {
        let retired = self.retired.iter().map(|part| part.count).sum::<usize>();
        self.live.map_or(0, ArrayDigest::size) + retired
    }

    /// As it was submitted: none has been removed.
    fn is_whole(&self) -> bool {
        self.submitted.is_some_and(|spec| spec.indices.len() == self.count())
    }

    /// Of one of which elements have been removed; `None` if there are too many to look for them.
    async fn indices_left(&self, api: &Api) -> Result<Option<Vec<(u32, u32)>>, ApiError> {
        let index = |id: &TaskId| Some(self.model.element(*id)?.index);
        let live = self.live.into_iter();
        let ids = live.flat_map(|it| it.waiting.iter().chain(&it.active).chain(&it.ended));
        let mut indices: BTreeSet<u32> = ids.filter_map(index).collect();
        if !self.retired.is_empty() {
            let array = Some(self.first);
            let query = HistoryQuery { array, limit: MOST_ROWS, ..HistoryQuery::default() };
            let page = api.handle.history().page(query).await?;
            if page.more {
                return Ok(None);
            }
            indices.extend(page.tasks.iter().filter_map(|it| Some(it.task.array?.index)));
        }
        Ok(Some(ranges(indices)))
    }

    /// `indices` unless they are as they were submitted.
    fn line(&self, indices: Option<Vec<(u32, u32)>>) -> ArrayLine {
        let mut counts: BTreeMap<TaskStateName, usize> = BTreeMap::new();
        let mut add = |state, count| *counts.entry(state).or_default() += count;
        let live = || self.live.into_iter();
        live().flat_map(|it| &it.counts).for_each(|(state, count)| add(*state, *count));
        self.retired.iter().for_each(|part| add(part.state, part.count));
        let mut since: Option<Time> = None;
        for id in live().flat_map(|it| &it.active) {
            let state = view::active_state(self.model, *id);
            add(state, 1);
            if state == TaskStateName::Running {
                let run = self.model.tasks.get(id);
                let run = run.and_then(|task| self.model.runs.get(&task.trail().last_run?));
                since = since.into_iter().chain(run.and_then(|run| view::started_at(run))).min();
            }
        }
        let ends = self.retired.iter().map(|part| (part.first, part.last));
        let ends: Vec<(TaskId, TaskId)> =
            live().filter_map(ArrayDigest::first_and_last).chain(ends).collect();
        let first = ends.iter().map(|(first, _)| *first).min().unwrap_or(self.first);
        let last = ends.iter().map(|(_, last)| *last).max().unwrap_or(self.first);
        let submitted = || self.submitted.map(|spec| ranges(spec.indices.iter().copied()));
        ArrayLine {
            first: first.0,
            last: last.0,
            indices: indices.or_else(submitted).unwrap_or_default(),
            counts,
            running_since: since.map(view::rfc3339),
        }
    }
}
