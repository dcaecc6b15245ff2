//! The list of tasks: filters in the address, actions on several tasks.

use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use super::rows::{TaskRow, row};
use super::states;
use super::task_query::TaskListQuery;
use crate::api::{Api, select};
use askama::Template;
use axum::extract::{Query, State};
use danlu_messages::web::{pages, tasks as msg};
use danlu_wire::api::{Line, ME, TaskSort, TaskStateName};

#[derive(Template)]
#[template(path = "tasks.html")]
struct TasksPage<'a> {
    context: &'a PageContext,
    query: TaskListQuery,
    tabs: Vec<Tab>,
    states: Vec<(&'static str, &'static str)>,
    users: Vec<String>,
    times: Vec<(&'static str, &'static str)>,
    sorts: Vec<(&'static str, &'static str)>,
    rows: Vec<TaskRow>,
    total: String,
    /// The pages before and after, and the first one.
    previous: Option<String>,
    next: Option<String>,
    first: Option<String>,
}

struct Tab {
    address: String,
    words: &'static str,
    chosen: bool,
}

pub(super) async fn tasks(
    State(api): State<Api>,
    visit: Visit,
    Query(given): Query<Vec<(String, String)>>,
) -> PageResult {
    let query = TaskListQuery::read(given);
    let found = select(&api, &visit.caller, query.filter()).await.map_err(visit.no())?;
    let (model, line) = (found.model, |task| Line { task, array: None });
    let (previous, found) = (found.previous, found.tasks);
    let rows = found.tasks.into_iter().map(|task| row(&line(task), &model, &visit, None));
    let visibility = visit.caller.visibility(&model);
    let users = model.users.values().filter(|user| !user.removed && visibility.user(user.id));
    let mut users: Vec<String> = users.map(|user| user.name.clone()).collect();
    users.sort_unstable();
    Ok(page(&TasksPage {
        context: &visit.context,
        tabs: tabs(&query),
        states: TaskStateName::ALL.map(|state| (state.as_str(), states::word(state))).to_vec(),
        users,
        rows: rows.collect(),
        times: times(),
        sorts: sorts(),
        total: match found.more_than_total {
            true => msg::more_than(&found.total),
            false => found.total.to_string(),
        },
        first: previous.as_ref().map(|_| query.first_page().address()),
        previous: previous.map(|before| query.up_to(before)),
        next: found.next_cursor.map(|cursor| query.from(cursor)),
        query,
    }))
}

fn tabs(query: &TaskListQuery) -> Vec<Tab> {
    let all = ["", "active", "waiting", "unsuccessful", "over"];
    let words = [msg::all(), msg::running(), msg::waiting(), msg::failed(), msg::ended()];
    let tab = |(name, words): (&str, _)| {
        let tab = TaskListQuery { state: name.to_owned(), ..query.first_page() };
        Tab { address: tab.address(), words, chosen: query.state == name }
    };
    all.into_iter().zip(words).map(tab).collect()
}

/// As `since` in the address.
fn times() -> Vec<(&'static str, &'static str)> {
    vec![
        ("", msg::any_time()),
        ("1d", msg::last_day()),
        ("7d", msg::last_week()),
        ("30d", msg::last_month()),
        ("365d", msg::last_year()),
    ]
}

fn sorts() -> Vec<(&'static str, &'static str)> {
    let words = |sort| match sort {
        TaskSort::Id => msg::newest_first(),
        TaskSort::Ended => msg::ended_last_first(),
        TaskSort::Ran => msg::longest_first(),
    };
    TaskSort::ALL.map(|sort| (sort.as_str(), words(sort))).to_vec()
}

impl TasksPage<'_> {
    fn me(&self) -> &'static str {
        ME
    }

    /// A time in the address that none of the choices is.
    fn other_time(&self) -> bool {
        self.times.iter().all(|(value, _)| *value != self.query.since)
    }
}
