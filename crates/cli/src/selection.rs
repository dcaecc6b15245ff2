//! Which tasks a verb is to act on: ids, ranges, `@`, all of mine, or those that filters let through.

use std::{borrow::Cow, collections::BTreeSet};

use clap::Args;
use danlu_wire::api::TaskStateName;

use crate::{
    client::{Client, Query},
    failure::{Exit, Failure},
    given::{
        task_ids::{TaskName, TaskNames, parse_task_names},
        task_state::{States, parse_state},
    },
    language::{say, text},
};

#[derive(Clone, Debug, Args)]
pub(crate) struct Selection {
    #[arg(value_name = "ID", value_parser = parse_task_names, help = text(
        "Tasks: 12, a range 3-9, a list 1,3,5-9, `@` your last one, `@~1` the one before",
        "任务：12、范围 3-9、列表 1,3,5-9、`@` 您最近的任务、`@~1` 再前一个",
    ))]
    ids: Vec<TaskNames>,

    #[arg(long, conflicts_with = "ids", help = text(
        "All of my tasks for which it makes sense",
        "我的所有适用的任务",
    ))]
    all: bool,

    #[command(flatten)]
    filters: Filters,
}

/// Filters that lists and bulk acts share.
#[derive(Clone, Debug, Args)]
pub(crate) struct Filters {
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = parse_state, help = text(
        "Only tasks in these states: running, queued, failed, …; or open, waiting, active, ended",
        "仅这些状态的任务：running、queued、failed 等；或 open、waiting、active、ended",
    ))]
    state: Vec<States>,

    #[arg(long, value_name = "NAME", help = text("Only tasks of this user", "仅该用户的任务"))]
    user: Option<String>,

    #[arg(long, value_name = "NAME", help = text(
        "Only tasks that run or ran on this machine",
        "仅在该机器上运行过的任务",
    ))]
    node: Option<String>,

    #[arg(long, value_name = "K=V", help = text("Only tasks with this label", "仅带有该标签的任务"))]
    label: Option<String>,
}

impl Filters {
    pub(crate) fn is_empty(&self) -> bool {
        self.state.is_empty() && self.user.is_none() && self.node.is_none() && self.label.is_none()
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
            one => {
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
        Failure::new(
            Exit::NotFound,
            say!(
                "you have {count} tasks, so there is no `@~{back}`",
                "您只有 {count} 个任务，没有 `@~{back}`"
            ),
        )
        .hint("danlu ls")
    })
}

fn nothing_named() -> Failure {
    Failure::new(Exit::Usage, text("no task is named", "没有指明任务")).hint(text(
        "name ids (12, 3-9, @), or --all, or filters such as --state queued",
        "请指明编号（12、3-9、@），或 --all，或筛选条件如 --state queued",
    ))
}

fn ids_and_filters() -> Failure {
    Failure::new(
        Exit::Usage,
        text("ids and filters exclude each other", "编号与筛选条件不能同时使用"),
    )
    .hint(text("leave out one of them", "请去掉其中之一"))
}
