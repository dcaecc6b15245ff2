//! The audit log entry for an input.

use crate::api::rfc3339;
use crate::daemon::handle::Asker;
use crate::store::Deed;
use danlu_core::idle::{IdleKind, IdleRung};
use danlu_core::user::UserChange;
use danlu_core::{Input, Reply, RunId, State, TaskId, Time, UserId};
use danlu_messages::acts::Act;
use std::collections::BTreeMap;

/// `None` for what only nodes and the engine itself send.
pub(crate) fn deed(state: &State, by: Asker, input: &Input) -> Option<Deed> {
    let task = |act: Act, id: &TaskId| (act, format!("task {id}"), String::new());
    let user = |act: Act, id: &UserId| {
        let name = state.users.get(id).map_or_else(|| id.to_string(), |user| user.name.clone());
        (act, format!("user {name}"), String::new())
    };
    let node = |act: Act, id| {
        let name = state.nodes.get(id).map_or("", |node| node.name.as_str());
        (act, format!("node {name}"), String::new())
    };
    let (act, target, detail) = match input {
        Input::Submit { spec, .. } => {
            let count = spec.array.as_ref().map_or(1, |array| array.indices.len());
            let many = if count > 1 { format!("{count} tasks") } else { String::new() };
            (Act::Submit, String::new(), many)
        }
        Input::Cancel { task: id, .. } => task(Act::Cancel, id),
        Input::Hold { task: id, .. } => task(Act::Hold, id),
        Input::Release { task: id, .. } => task(Act::Release, id),
        Input::Retry { task: id, .. } => task(Act::Retry, id),
        Input::Requeue { task: id, .. } => task(Act::Requeue, id),
        Input::Pause { task: id, .. } => task(Act::Pause, id),
        Input::Resume { task: id, .. } => task(Act::Resume, id),
        Input::Edit { task: id, .. } => task(Act::Edit, id),
        Input::Extend { task: id, more, .. } => {
            (Act::Extend, format!("task {id}"), format!("by {more}"))
        }
        Input::Keep { task: id, time, .. } => {
            let run = state.tasks.get(id).and_then(|task| state.runs.get(&task.trail().last_run?));
            let before = run.map_or(0, |run| run.idle.keeps);
            (Act::Keep, format!("task {id}"), format!("for {time}, kept {before} times before"))
        }
        Input::NoteIdle { run, since, kind, rung } => {
            let act = match rung {
                IdleRung::Told => Act::TellOfIdle,
                IdleRung::Asked => Act::AskAboutIdle,
            };
            (act, task_of(state, *run), idle_in_words(*run, *since, *kind))
        }
        Input::StopIdle { run, since, kind } => {
            (Act::StopIdle, task_of(state, *run), idle_in_words(*run, *since, *kind))
        }
        Input::Move { task: id, position, .. } => {
            (Act::Move, format!("task {id}"), format!("to place {position}"))
        }
        Input::Start { task: id, .. } => task(Act::Start, id),
        Input::Remove { task: id, .. } => task(Act::Remove, id),
        Input::Abandon { run, .. } => (Act::Abandon, format!("run {run}"), String::new()),
        Input::AddUser { name, admin, .. } => {
            let role = if *admin { "admin" } else { "user" };
            (Act::Add, format!("user {name}"), role.to_owned())
        }
        Input::SetUser { user: id, change, .. } => {
            let (act, target, _) = user(Act::Change, id);
            let template = change.template.as_ref().map(|_| String::from("…"));
            (act, target, in_words(&UserChange { template, ..change.clone() }))
        }
        Input::RemoveUser { user: id, .. } => user(Act::Remove, id),
        Input::AddNode { name, .. } => (Act::Add, format!("node {name}"), String::new()),
        Input::RemoveNode { node: id, .. } => node(Act::Remove, id),
        Input::Drain { node: id, .. } => node(Act::Drain, id),
        Input::Undrain { node: id, .. } => node(Act::Undrain, id),
        Input::ManageGpus { node: id, change, .. } => {
            let (act, target, _) = node(Act::ChangeGpusOf, id);
            (act, target, in_words(change))
        }
        Input::SetLabels { node: id, change, .. } => {
            let (act, target, _) = node(Act::Label, id);
            (act, target, labels_in_words(change))
        }
        Input::DeclareLost { node: id, force, .. } => {
            let (act, target, _) = node(Act::DeclareLostTheRunsOf, id);
            (act, target, if *force { String::from("by force") } else { String::new() })
        }
        Input::EndUnknownRuns { node: id, .. } => node(Act::EndTheUnknownRunsOf, id),
        Input::SetResources { node: id, resources, .. } => {
            let (act, target, _) = node(Act::ChangeResourcesOf, id);
            (act, target, in_words(resources))
        }
        Input::Configure { settings, .. } => {
            (Act::Change, String::from("settings"), difference(state.settings(), settings))
        }
        Input::Boot { .. }
        | Input::SkipIds { .. }
        | Input::NoteUsed { .. }
        | Input::Node { .. }
        | Input::Recall(_)
        | Input::Schedule => {
            return None;
        }
    };
    Some(Deed { user: by.name, origin: by.origin, act, target, detail })
}

fn task_of(state: &State, run: RunId) -> String {
    let task = state.runs.get(&run).map(|run| run.task);
    task.map_or_else(|| format!("run {run}"), |task| format!("task {task}"))
}

/// The rule is the one of the settings.
fn idle_in_words(run: RunId, since: Time, kind: IdleKind) -> String {
    format!("run {run}, rule idle.act, {} since {}", kind.as_str(), rfc3339(since))
}

/// Which task it became.
pub(crate) fn with_reply(deed: Deed, reply: Reply) -> Deed {
    match reply {
        Reply::Task(id) if deed.target.is_empty() => Deed { target: format!("task {id}"), ..deed },
        Reply::Task(_) | Reply::Done | Reply::Node(_) | Reply::User(_) => deed,
    }
}

/// Longer ones are cut; the log tells who and what, not everything.
const MOST_BYTES: usize = 1_000;

/// `room = b12, old is gone`.
fn labels_in_words(change: &BTreeMap<String, Option<String>>) -> String {
    let words = change.iter().map(|(key, value)| match value {
        Some(value) => format!("{key} = {value}"),
        None => format!("{key} is gone"),
    });
    cut(&words.collect::<Vec<String>>())
}

/// What is set in it.
fn in_words(change: &impl serde::Serialize) -> String {
    let whole = serde_json::to_value(change).unwrap_or_default();
    let given = whole.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    let given: Vec<String> = given.map(|(name, value)| format!("{name} = {value}")).collect();
    cut(&given)
}

fn difference(before: &impl serde::Serialize, after: &impl serde::Serialize) -> String {
    let flat = |settings: serde_json::Value| {
        let mut found = Vec::new();
        flatten(&settings, String::new(), &mut found);
        found
    };
    let before = flat(serde_json::to_value(before).unwrap_or_default());
    let after = flat(serde_json::to_value(after).unwrap_or_default());
    let new = after.iter().filter(|entry| !before.contains(entry));
    let gone = before.iter().filter(|(key, _)| !after.iter().any(|(kept, _)| kept == key));
    let new = new.map(|(key, value)| format!("{key} = {value}"));
    let all: Vec<String> = new.chain(gone.map(|(key, _)| format!("{key} is gone"))).collect();
    cut(&all)
}

fn flatten(value: &serde_json::Value, key: String, found: &mut Vec<(String, String)>) {
    let serde_json::Value::Object(fields) = value else {
        return found.push((key, value.to_string()));
    };
    for (name, value) in fields {
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        flatten(value, key, found);
    }
}

fn cut(parts: &[String]) -> String {
    let mut text = parts.join(", ");
    if text.len() > MOST_BYTES {
        text.truncate(text.floor_char_boundary(MOST_BYTES));
        text.push('…');
    }
    text
}
