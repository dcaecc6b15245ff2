//! Lists of tasks and users in gpuman's format.

use super::tasks::{email, file_name};
use crate::api::caller::Caller;
use crate::api::{Api, ApiError, Filter, select, view};
use crate::parse::task_state::ENDED;
use crate::read_model::ReadModel;
use danlu_core::task::Outcome;
use danlu_core::{Task, Thousandths, Time, User};
use danlu_wire::api::{TaskStateName, TaskView};
use serde_json::{Value, json};

/// Of those that have ended, the newest.
const MOST_ENDED: usize = 1_000;

/// `{"done_tasks": …, "run_tasks": …, "wait_tasks": …}`; of one user, lists that are empty are left out.
pub(super) async fn everything(
    api: &Api,
    caller: &Caller,
    user: Option<&str>,
) -> Result<Value, ApiError> {
    let ended = Filter {
        user: user.map(str::to_owned),
        state: Some(ENDED.map(TaskStateName::as_str).join(",")),
        limit: MOST_ENDED,
        ..Filter::default()
    };
    let model = select(api, caller, ended).await?.model;
    let visibility = caller.visibility(&model);
    let (mut done, mut running, mut waiting) = (Vec::new(), Vec::new(), Vec::new());
    for (_, task) in model.tasks.iter().rev() {
        let owner = model.users.get(&task.owner);
        let theirs = user.is_none_or(|user| owner.is_some_and(|owner| owner.name == user));
        if !theirs || !visibility.task(task.id) {
            continue;
        }
        let list = match view::state_name(&model, task.id) {
            state if state.is_over() && done.len() >= MOST_ENDED => continue,
            state if state.is_over() => &mut done,
            state if state.is_waiting() => &mut waiting,
            _ => &mut running,
        };
        list.push(row(api, &model, task));
    }
    let mut answer = json!({});
    let lists = [("done_tasks", done), ("run_tasks", running), ("wait_tasks", waiting)];
    for (name, mut rows) in lists {
        rows.reverse();
        if user.is_none() || !rows.is_empty() {
            answer[name] = Value::Array(rows);
        }
    }
    Ok(answer)
}

/// gpuman's eighteen columns.
fn row(api: &Api, model: &ReadModel, task: &Task) -> Value {
    let shown = view::task(model, task, None);
    let (spec, launch) = (&task.spec, &task.spec.launch);
    let numbers = |ids: &[u32]| match ids {
        [] => String::from("None"),
        ids => ids.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
    };
    let output = &launch.output;
    let limit = task.time_limit().map(|span| format!("{:.1}", span.0 as f64 / 1000.0));
    let run = task.trail().last_run.and_then(|id| model.runs.get(&id));
    // Of a run on another machine it would mean nothing here.
    let pid = run.filter(|run| !run.is_ended()).and_then(|run| api.files.leader(run.id));
    json!([
        task.id.to_string(),
        shown.user,
        launch.directory,
        spec.command.join(" "),
        file_name(output.stdout.as_ref(), output),
        file_name(output.stderr.as_ref(), output),
        spec.request.gpus.to_string(),
        numbers(&spec.request.gpu_ids),
        launch.gpu_argument.as_deref().unwrap_or("None"),
        numbers(&shown.gpu_ids),
        limit.unwrap_or_else(|| String::from("None")),
        pid.map_or_else(|| String::from("None"), |pid| pid.to_string()),
        clock(Some(task.submitted_at)),
        clock(run.and_then(|run| view::started_at(run))),
        clock(task.ended_at()),
        status(&shown, task),
        email(&spec.labels),
        spec.description,
    ])
}

fn status(shown: &TaskView, task: &Task) -> String {
    match (shown.state, task.outcome()) {
        (state, _) if state.is_waiting() => String::from("None"),
        (TaskStateName::Succeeded, _) => String::from("done"),
        (TaskStateName::Cancelled, _) | (_, Some(Outcome::Cancelled { .. })) => {
            String::from("cancelled")
        }
        (_, Some(_)) => format!("failed({})", shown.exit_code.unwrap_or(1)),
        (_, None) => String::from("running"),
    }
}

/// As C writes times: `Mon Nov 16 05:47:12 2026`.
fn clock(time: Option<Time>) -> String {
    let time = time.and_then(|time| jiff::Timestamp::from_millisecond(time.0).ok());
    let local = time.map(|time| time.to_zoned(jiff::tz::TimeZone::system()));
    local.map_or_else(
        || String::from("None"),
        |time| time.strftime("%a %b %e %H:%M:%S %Y").to_string(),
    )
}

pub(super) fn users(api: &Api, caller: &Caller) -> Value {
    let model = api.handle.model();
    let visibility = caller.visibility(&model);
    let seen = |user: &&std::sync::Arc<User>| !user.removed && visibility.user(user.id);
    let mut all: Vec<_> = model.users.values().filter(seen).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    let shown = |user: &User| {
        let mut parts = vec![json!(user.name)];
        if user.os_name() != user.name {
            parts.push(json!(user.os_name()));
        }
        if caller.admin && user.priority != Thousandths::ONE {
            parts.push(json!(user.priority));
        }
        if parts.len() == 1 { json!(user.name) } else { Value::Array(parts) }
    };
    let mut answer = json!({ "ret": "完成" });
    for (name, admin) in [("usrs", false), ("admins", true)] {
        let of_kind = all.iter().filter(|user| user.admin == admin);
        let list: Vec<Value> = of_kind.map(|user| shown(user)).collect();
        if !list.is_empty() {
            answer[name] = Value::Array(list);
        }
    }
    answer
}
