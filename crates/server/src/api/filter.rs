//! Filters of task lists.

use super::caller::Caller;
use super::{ApiError, view};
use crate::read_model::{Brief, BriefState, ReadModel};
use danlu_core::settings::Visibility;
use danlu_core::{Task, TaskId, UserId};
use danlu_messages::errors;
use danlu_wire::api::{ME, MOST_ROWS, TaskStateName};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Filter {
    /// Names of states, separated by commas.
    #[schemars(regex(
        pattern = r"^(held|blocked|queued|starting|running|paused|stopping|lost|succeeded|failed|cancelled|timed_out)(,(held|blocked|queued|starting|running|paused|stopping|lost|succeeded|failed|cancelled|timed_out))*$"
    ))]
    pub(crate) state: Option<String>,
    pub(crate) user: Option<String>,
    pub(crate) node: Option<String>,
    /// `key=value`.
    pub(crate) label: Option<String>,
    pub(crate) project: Option<String>,
    /// The first id of an array: its elements.
    pub(crate) array: Option<u64>,
    /// Newest first unless told otherwise.
    pub(crate) oldest_first: bool,
    pub(crate) cursor: Option<u64>,
    pub(crate) limit: usize,
    /// Limits the list to the tasks of this user.
    #[serde(skip)]
    pub(crate) only: Option<UserId>,
}

impl Default for Filter {
    fn default() -> Self {
        Filter {
            state: None,
            user: None,
            node: None,
            label: None,
            project: None,
            array: None,
            oldest_first: false,
            cursor: None,
            limit: MOST_ROWS,
            only: None,
        }
    }
}

/// A filter, resolved against the read model.
pub(super) struct TaskSelection<'a> {
    model: &'a ReadModel,
    filter: &'a Filter,
    states: Option<Vec<TaskStateName>>,
    /// `None` for all users, `Some(None)` for an unknown user, who has no tasks.
    owner: Option<Option<UserId>>,
}

impl Filter {
    /// Replaces `me` with the caller's name, and limits the filter to what the caller may see.
    pub(super) fn of(mut self, caller: &Caller, model: &ReadModel) -> Filter {
        let own = model.ledger.settings.visibility == Visibility::Own;
        self.only = (own && !caller.admin).then_some(caller.id);
        if self.user.as_deref() == Some(ME) {
            self.user = Some(caller.name.clone());
        }
        self
    }

    pub(super) fn wanted<'a>(
        &'a self,
        model: &'a ReadModel,
    ) -> Result<TaskSelection<'a>, ApiError> {
        let id = |name: &String| {
            let named = || model.users.values().filter(|user| user.name == *name);
            named().find(|user| !user.removed).or_else(|| named().next()).map(|user| user.id)
        };
        Ok(TaskSelection {
            model,
            filter: self,
            states: self.states()?,
            owner: self.user.as_ref().map(id),
        })
    }

    fn states(&self) -> Result<Option<Vec<TaskStateName>>, ApiError> {
        let Some(names) = &self.state else { return Ok(None) };
        let one = |name: &str| {
            TaskStateName::ALL.into_iter().find(|state| state.as_str() == name).ok_or_else(|| {
                let known = TaskStateName::ALL.map(TaskStateName::as_str).join(", ");
                ApiError::bad_request(
                    errors::name_is_not_a_state(&name),
                    &errors::one_of_known(&known),
                )
            })
        };
        names.split(',').map(one).collect::<Result<_, _>>().map(Some)
    }

    fn looks_inside(&self) -> bool {
        self.label.is_some() || self.project.is_some() || self.node.is_some()
    }
}

impl TaskSelection<'_> {
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
            && self.filter.array.is_none_or(of)
            && self.states.as_ref().is_none_or(state)
            && (!self.filter.looks_inside()
                || self.model.tasks.get(&id).is_some_and(|task| self.inside(task)))
    }

    fn inside(&self, task: &Task) -> bool {
        let label = |wanted: &String| match wanted.split_once('=') {
            Some((key, value)) => task.spec.labels.get(key).is_some_and(|it| it == value),
            None => task.spec.labels.contains_key(wanted),
        };
        let node = |name: &String| {
            let run = task.trail().last_run.and_then(|run| self.model.runs.get(&run));
            let mut nodes = run.into_iter().flat_map(|run| &run.parts).map(|part| part.node);
            nodes.any(|id| self.model.nodes.get(&id).is_some_and(|node| node.name == *name))
        };
        let project = |wanted: &String| task.spec.project.as_ref() == Some(wanted);
        self.filter.label.as_ref().is_none_or(label)
            && self.filter.project.as_ref().is_none_or(project)
            && self.filter.node.as_ref().is_none_or(node)
    }
}
