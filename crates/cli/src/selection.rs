//! Which tasks a verb acts on: ids, ranges, `@`, all of the user's own, or those that match filters.

use std::{borrow::Cow, collections::BTreeSet};

use clap::Args;
use danlu_messages::cli::program as msg;
use danlu_wire::api::TaskStateName;

use crate::{
    client::{Client, Query},
    failure::{Exit, Failure},
    parse::{
        task_ids::{TaskName, TaskNames, parse_task_names},
        task_state::{States, parse_state},
    },
};

#[derive(Clone, Debug, Args)]
pub(crate) struct Selection {
    #[arg(value_name = "ID", value_parser = parse_task_names, help = msg::task_ids())]
    ids: Vec<TaskNames>,

    #[arg(long, conflicts_with = "ids", help = msg::all_of_mine())]
    all: bool,

    #[command(flatten)]
    filters: Filters,
}

/// Filters that lists and bulk acts share.
#[derive(Clone, Debug, Args)]
pub(crate) struct Filters {
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = parse_state, help = msg::in_states())]
    state: Vec<States>,

    #[arg(long, value_name = "NAME", help = msg::only_tasks_of_this_user())]
    user: Option<String>,

    #[arg(long, value_name = "NAME", help = msg::on_machine())]
    node: Option<String>,

    #[arg(long, value_name = "K=V", help = msg::only_tasks_with_this_label())]
    label: Option<String>,

    #[arg(long, value_name = "NAME", help = msg::only_tasks_of_this_project())]
    project: Option<String>,
}

impl Filters {
    pub(crate) fn is_empty(&self) -> bool {
        let texts = [&self.user, &self.node, &self.label, &self.project];
        self.state.is_empty() && texts.iter().all(|text| text.is_none())
    }

    pub(crate) fn has_states(&self) -> bool {
        !self.state.is_empty()
    }

    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    pub(crate) fn query(&self) -> Query {
        Query {
            states: self.state.iter().flat_map(|states| states.0.iter().copied()).collect(),
            user: self.user.clone(),
            node: self.node.clone(),
            label: self.label.clone(),
            project: self.project.clone(),
            ..Query::default()
        }
    }
}

/// The ids that a selection stands for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selected {
    pub(crate) ids: Vec<u64>,
    /// From ranges: those that do not exist are left out in silence.
    pub(crate) may_be_missing: BTreeSet<u64>,
    /// Every single one was written down.
    pub(crate) one_by_one: bool,
}

impl Selection {
    pub(crate) fn is_empty(&self) -> bool {
        self.ids.is_empty() && !self.all && self.filters.is_empty()
    }

    /// For a verb that means all of mine when nothing is named.
    pub(crate) fn or_all(&self) -> Cow<'_, Self> {
        if self.is_empty() {
            Cow::Owned(Self { all: true, ..self.clone() })
        } else {
            Cow::Borrowed(self)
        }
    }

    /// `sensible` are the states in which the act makes sense, for `--all` and filters.
    pub(crate) fn resolve(
        &self,
        client: &Client,
        sensible: &[TaskStateName],
    ) -> Result<Selected, Failure> {
        if self.is_empty() {
            return Err(nothing_named());
        }
        if !self.ids.is_empty() {
            if !self.filters.is_empty() {
                return Err(ids_and_filters());
            }
            return resolve_names(client, self.ids.iter().flat_map(|names| &names.0));
        }
        let mut query = self.filters.query();
        if query.states.is_empty() {
            query.states = sensible.to_vec();
        }
        if query.user.is_none() {
            query.user = Some(client.who_am_i()?.user);
        }
        query.oldest_first = true;
        let ids = client.list(&query)?.iter().map(|task| task.id).collect();
        Ok(Selected { ids, ..Selected::default() })
    }
}

/// In the order in which they were named, none twice.
pub(crate) fn resolve_names<'a>(
    client: &Client,
    names: impl Iterator<Item = &'a TaskName>,
) -> Result<Selected, Failure> {
    let mut selected = Selected { one_by_one: true, ..Selected::default() };
    let mut seen = BTreeSet::new();
    let mut named = BTreeSet::new();
    let mut add = |id: u64, ids: &mut Vec<u64>| {
        if seen.insert(id) {
            ids.push(id);
        }
    };
    for name in names {
        match *name {
            TaskName::Range(first, last) => {
                selected.one_by_one = false;
                for id in first..=last {
                    add(id, &mut selected.ids);
                    selected.may_be_missing.insert(id);
                }
            }
            one @ (TaskName::Id(_) | TaskName::Mine(_)) => {
                let id = resolve_one(client, one)?;
                add(id, &mut selected.ids);
                named.insert(id);
            }
        }
    }
    selected.may_be_missing.retain(|id| !named.contains(id));
    Ok(selected)
}

/// The id of one task; asks the server only for `@`.
pub(crate) fn resolve_one(client: &Client, name: TaskName) -> Result<u64, Failure> {
    let back = match name {
        TaskName::Id(id) | TaskName::Range(id, _) => return Ok(id),
        TaskName::Mine(back) => back as usize,
    };
    let user = client.who_am_i()?.user;
    let query = Query { user: Some(user), limit: Some(back + 1), ..Query::default() };
    let mine = client.list(&query)?;
    mine.get(back).map(|task| task.id).ok_or_else(|| {
        let count = mine.len();
        Failure::new(Exit::NotFound, msg::too_few_tasks_back(&count, &back)).hint("danlu ls")
    })
}

fn nothing_named() -> Failure {
    Failure::new(Exit::Usage, msg::no_task_is_named()).hint(msg::give_ids_or_filters())
}

fn ids_and_filters() -> Failure {
    Failure::new(Exit::Usage, msg::ids_and_filters_exclude_each_other())
        .hint(msg::leave_out_one_of_them())
}
