//! The list of tasks: filters in the address, actions on several tasks.

use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use super::rows::{TaskRow, row};
use super::states;
use crate::api::{Api, Filter, select};
use askama::Template;
use axum::extract::{Query, State};
use danlu_messages::web::{pages, tasks as msg};
use danlu_wire::api::{Line, ME, TaskStateName};

const ROWS: usize = 50;

/// The filters in the address. Empty means absent: forms send both.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskListQuery {
    state: String,
    user: String,
    node: String,
    project: String,
    label: String,
    array: String,
    cursor: String,
}

/// One name for several states, as people think of them.
const GROUPS: [(&str, &str); 4] = [
    ("active", "running,starting,paused,stopping,lost"),
    ("waiting", "queued,blocked,held"),
    ("unsuccessful", "failed,timed_out"),
    ("over", "succeeded,failed,cancelled,timed_out"),
];

#[derive(Template)]
#[template(path = "tasks.html")]
struct TasksPage<'a> {
    context: &'a PageContext,
    query: TaskListQuery,
    tabs: Vec<Tab>,
    states: Vec<(&'static str, &'static str)>,
    users: Vec<String>,
    rows: Vec<TaskRow>,
    total: usize,
    next: Option<String>,
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
    let model = api.handle.model();
    let line = |task| Line { task, array: None };
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
        total: found.total,
        next: found
            .next
            .map(|id| TaskListQuery { cursor: id.to_string(), ..query.clone() }.address()),
        query,
    }))
}

impl TaskListQuery {
    fn read(given: Vec<(String, String)>) -> TaskListQuery {
        let mut query = TaskListQuery::default();
        for (name, value) in given {
            let field = match name.as_str() {
                "state" => &mut query.state,
                "user" => &mut query.user,
                "node" => &mut query.node,
                "project" => &mut query.project,
                "label" => &mut query.label,
                "array" => &mut query.array,
                "cursor" => &mut query.cursor,
                _ => continue,
            };
            value.trim().clone_into(field);
        }
        query
    }

    fn filter(&self) -> Filter {
        let group = GROUPS.iter().find(|(name, _)| *name == self.state);
        let state = group.map_or_else(|| self.state.clone(), |(_, states)| (*states).to_owned());
        let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        Filter {
            state: given(&state),
            user: given(&self.user),
            node: given(&self.node),
            label: given(&self.label),
            project: given(&self.project),
            array: self.array.parse().ok(),
            cursor: self.cursor.parse().ok(),
            limit: ROWS,
            ..Filter::default()
        }
    }

    fn address(&self) -> String {
        let all = [
            ("state", &self.state),
            ("user", &self.user),
            ("node", &self.node),
            ("project", &self.project),
            ("label", &self.label),
            ("array", &self.array),
            ("cursor", &self.cursor),
        ];
        let given = all.iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> =
            given.map(|(name, value)| format!("{name}={}", super::form::encode(value))).collect();
        if pairs.is_empty() { "/tasks".to_owned() } else { format!("/tasks?{}", pairs.join("&")) }
    }

    /// More than the tabs say.
    fn is_special(&self) -> bool {
        [&self.node, &self.project, &self.label, &self.array].iter().any(|it| !it.is_empty())
    }
}

fn tabs(query: &TaskListQuery) -> Vec<Tab> {
    let all = ["", "active", "waiting", "unsuccessful", "over"];
    let words = [msg::all(), msg::running(), msg::waiting(), msg::failed(), msg::ended()];
    let tab = |(name, words): (&str, _)| {
        let tab = TaskListQuery { state: name.to_owned(), cursor: String::new(), ..query.clone() };
        Tab { address: tab.address(), words, chosen: query.state == name }
    };
    all.into_iter().zip(words).map(tab).collect()
}

impl TasksPage<'_> {
    fn me(&self) -> &'static str {
        ME
    }
}
