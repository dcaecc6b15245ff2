//! A filter, resolved against the read model: which tasks it lets through, and in which order.

use super::filter::{EndedBetween, Filter};
use super::{ApiError, view};
use crate::daemon::clock;
use crate::read_model::{Brief, BriefState, ReadModel};
use crate::store::history::{HistoryQuery, HistorySort, searched_text};
use danlu_core::state::Retired;
use danlu_core::task::TaskSpec;
use danlu_core::{NodeId, Run, Task, TaskId, Time, UserId};
use danlu_wire::api::{TaskSort, TaskStateName};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) struct TaskSelection<'a> {
    model: &'a ReadModel,
    filter: &'a Filter,
    named: Option<BTreeSet<TaskId>>,
    states: Option<Vec<TaskStateName>>,
    /// `None` for all users, `Some(None)` for an unknown user, who has no tasks.
    owner: Option<Option<UserId>>,
    /// The same for a machine.
    node: Option<Option<NodeId>>,
    words: Vec<String>,
    ended: EndedBetween,
    now: Time,
    /// Whether the words occur in what was looked at last: elements of an array stand side by side.
    looked_at: RefCell<Option<(Arc<TaskSpec>, bool)>>,
}

/// Where a task stands in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) key: i64,
    pub(super) id: TaskId,
}

impl<'a> TaskSelection<'a> {
    pub(super) fn new(
        filter: &'a Filter,
        model: &'a ReadModel,
    ) -> Result<TaskSelection<'a>, ApiError> {
        let id = |name: &String| {
            let named = || model.users.values().filter(|user| user.name == *name);
            named().find(|user| !user.removed).or_else(|| named().next()).map(|user| user.id)
        };
        let node = |name: &String| {
            model.nodes.values().find(|node| node.name == *name).map(|node| node.id)
        };
        let now = clock::now();
        Ok(TaskSelection {
            model,
            filter,
            named: filter.named()?,
            states: filter.states()?,
            owner: filter.user.as_ref().map(id),
            node: filter.node.as_ref().map(node),
            words: filter.words()?,
            ended: filter.ended(now)?,
            now,
            looked_at: RefCell::new(None),
        })
    }

    /// Tasks with an active run are few, however many there are in total.
    pub(super) fn only_active(&self) -> bool {
        let active = |state: &TaskStateName| !state.is_waiting() && !state.is_over();
        self.states.as_ref().is_some_and(|states| states.iter().all(active))
    }

    /// Checks that do not need the task's row come first and decide most cases.
    pub(super) fn lets_through(&self, id: TaskId, brief: &Brief) -> bool {
        let state = |states: &Vec<TaskStateName>| match brief.state {
            BriefState::Waiting(name) | BriefState::Ended(name) => states.contains(&name),
            BriefState::Active => states.contains(&view::active_state(self.model, id)),
        };
        let of = |first: u64| self.model.element(id).is_some_and(|it| it.first.0 == first);
        self.owner.is_none_or(|owner| owner == Some(brief.owner))
            && self.filter.only.is_none_or(|only| only == brief.owner)
            && self.is_named(id)
            && self.filter.array.is_none_or(of)
            && self.states.as_ref().is_none_or(state)
            && (!self.looks_inside()
                || self.model.tasks.get(&id).is_some_and(|task| self.inside(task)))
    }

    /// How many it lets through, if that can be told without a look at each: only users and states count.
    pub(super) fn counted(&self) -> Option<usize> {
        if self.named.is_some() || self.filter.array.is_some() || self.looks_inside() {
            return None;
        }
        let is_theirs = |user| {
            self.owner.is_none_or(|owner| owner == Some(user))
                && self.filter.only.is_none_or(|only| only == user)
        };
        let settled = self.model.digest.count(|user, state| match state {
            BriefState::Waiting(name) | BriefState::Ended(name) => {
                is_theirs(user) && self.states.as_ref().is_none_or(|states| states.contains(&name))
            }
            BriefState::Active => is_theirs(user) && self.states.is_none(),
        });
        let active = match self.states {
            None => 0,
            Some(_) => self.active().count(),
        };
        Some(settled + active)
    }

    /// Those with a run that has not ended.
    fn active(&self) -> impl Iterator<Item = TaskId> {
        let tasks: BTreeSet<TaskId> = self.model.active_runs().map(|run| run.task).collect();
        tasks.into_iter().filter(|id| {
            let brief = self.model.briefs.get(id);
            brief.is_some_and(|it| it.state == BriefState::Active && self.lets_through(*id, it))
        })
    }

    fn looks_inside(&self) -> bool {
        let filter = self.filter;
        filter.label.is_some()
            || filter.project.is_some()
            || self.node.is_some()
            || !self.words.is_empty()
            || !self.ended.is_any_time()
    }

    fn inside(&self, task: &Task) -> bool {
        let label = |wanted: &String| match wanted.split_once('=') {
            Some((key, value)) => task.spec.labels.get(key).is_some_and(|it| it == value),
            None => task.spec.labels.contains_key(wanted),
        };
        let ran_on = |node: Option<NodeId>| {
            let run = task.trail().last_run.and_then(|run| self.model.runs.get(&run));
            node.is_some_and(|node| run.is_some_and(|run| run.part_on(node).is_some()))
        };
        let project = |wanted: &String| task.spec.project.as_ref() == Some(wanted);
        self.filter.label.as_ref().is_none_or(label)
            && self.filter.project.as_ref().is_none_or(project)
            && self.node.is_none_or(ran_on)
            && self.ended.has(task.ended_at().unwrap_or(self.now))
            && (self.words.is_empty() || self.has_words(task))
    }

    fn has_words(&self, task: &Task) -> bool {
        let look = || {
            let text = searched_text(task);
            self.words.iter().all(|word| text.contains(word))
        };
        // Each element of a sweep has values of its own.
        if !task.values().is_empty() {
            return look();
        }
        let mut looked_at = self.looked_at.borrow_mut();
        match &*looked_at {
            Some((spec, has)) if Arc::ptr_eq(spec, &task.spec) => *has,
            _ => {
                let has = look();
                *looked_at = Some((Arc::clone(&task.spec), has));
                has
            }
        }
    }

    /// Whether it is among those that are named, if any are.
    pub(super) fn is_named(&self, id: TaskId) -> bool {
        self.named.as_ref().is_none_or(|named| named.contains(&id))
    }

    /// The same question to the history; `None` if nothing of it is let through.
    pub(super) fn of_history(&self) -> Option<HistoryQuery> {
        let over = |states: &Vec<TaskStateName>| -> Vec<TaskStateName> {
            states.iter().copied().filter(|state| state.is_over()).collect()
        };
        let states = self.states.as_ref().map(over);
        if states.as_ref().is_some_and(Vec::is_empty) {
            return None;
        }
        let owner = match (self.owner, self.filter.only) {
            (Some(None), _) => return None,
            (Some(Some(owner)), Some(only)) if owner != only => return None,
            (owner, only) => owner.flatten().or(only),
        };
        let label = |wanted: &String| match wanted.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (wanted.clone(), None),
        };
        Some(HistoryQuery {
            owner,
            states,
            node: match self.node {
                Some(None) => return None,
                node => node.flatten(),
            },
            label: self.filter.label.as_ref().map(label),
            project: self.filter.project.clone(),
            array: self.filter.array.map(TaskId),
            text: self.filter.text.clone(),
            ended_from: self.ended.from,
            ended_before: self.ended.before,
            sort: match self.filter.sort {
                TaskSort::Id => HistorySort::Id,
                TaskSort::Ended => HistorySort::Ended,
                TaskSort::Ran => HistorySort::Ran,
            },
            ..HistoryQuery::default()
        })
    }

    /// Of a task in the model.
    pub(super) fn position(&self, id: TaskId) -> Position {
        let task = || self.model.tasks.get(&id);
        let key = match self.filter.sort {
            TaskSort::Id => by_id(id),
            TaskSort::Ended => task().and_then(|it| it.ended_at()).map_or(i64::MAX, |it| it.0),
            TaskSort::Ran => {
                let run = task().and_then(|task| self.model.runs.get(&task.trail().last_run?));
                run.map_or(0, |run| ran(run, Some(self.now)))
            }
        };
        Position { key, id }
    }
}

impl Position {
    pub(super) fn of_retired(Retired { task, runs }: &Retired, sort: TaskSort) -> Position {
        let key = match sort {
            TaskSort::Id => by_id(task.id),
            TaskSort::Ended => task.ended_at().unwrap_or(task.submitted_at).0,
            TaskSort::Ran => {
                let run = runs.iter().find(|run| Some(run.id) == task.trail().last_run);
                run.map_or(0, |run| ran(run, None))
            }
        };
        Position { key, id: task.id }
    }
}

fn by_id(id: TaskId) -> i64 {
    i64::try_from(id.0).unwrap_or(i64::MAX)
}

/// Milliseconds, up to its end or till now.
fn ran(run: &Run, now: Option<Time>) -> i64 {
    let span = view::started_at(run).zip(view::ended_at(run).or(now));
    span.map_or(0, |(from, to)| to.0.saturating_sub(from.0).max(0))
}
