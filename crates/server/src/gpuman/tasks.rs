//! gpuman's tasks, as ours.

use super::Body;
use crate::api::caller::Caller;
use crate::api::{Api, ApiError, submit};
use danlu_core::task::{Output, Stream};
use danlu_core::{Input, Refusal, TaskId};
use danlu_messages::errors;
use danlu_wire::api::Submit;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The label that has gpuman's mail address of a task.
const EMAIL: &str = "gpuman.email";

pub(super) async fn create(api: &Api, caller: &Caller, body: &Body) -> Result<Value, ApiError> {
    let mut task = Submit::default();
    put(&mut task, body, false)?;
    let id = submit::accept(api, caller, task, None, None).await?.id;
    Ok(json!({ "ret": format!("创建成功,任务ID {id}") }))
}

/// An empty field keeps what was there, `None` takes it away. The task keeps its place.
pub(super) async fn update(api: &Api, caller: &Caller, body: &Body) -> Result<Value, ApiError> {
    let id = task_id(body)?;
    let model = api.handle.model();
    let task = model.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    caller.may_see_inside(&model, task)?;
    let mut changed = submit::described(task);
    put(&mut changed, body, true)?;
    submit::replace(api, caller, task, changed).await?;
    Ok(json!({ "ret": format!("更新成功,任务ID {id}") }))
}

pub(super) async fn cancel(api: &Api, caller: &Caller, body: &Body) -> Result<Value, ApiError> {
    let task = task_id(body)?;
    caller.ask(api, Input::Cancel { by: caller.actor(), task }).await?;
    Ok(json!({ "ret": format!("取消成功,任务ID {task}") }))
}

fn task_id(body: &Body) -> Result<TaskId, ApiError> {
    let id = field(body, "tid").and_then(|text| text.parse().ok());
    id.map(TaskId).ok_or_else(|| wrong("tid", "the id of a task"))
}

fn wrong(field: &str, what: &str) -> ApiError {
    ApiError::bad_request(format!("{field}: {what}"), errors::as_gpuman_writes_it())
}

/// Texts and numbers alike.
fn field(body: &Body, key: &str) -> Option<String> {
    match body.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null => Some(String::from("None")),
        _ => None,
    }
}

/// gpuman's fields over those of the task. In an update empty ones keep what was there.
fn put(task: &mut Submit, body: &Body, update: bool) -> Result<(), ApiError> {
    let given = |key: &str| field(body, key).filter(|text| !(update && text.is_empty()));
    if let Some(command) = given("cmd") {
        task.command = vec![command];
        task.shell = true;
    }
    if let Some(directory) = given("wkd") {
        task.directory = directory;
    }
    if let Some(count) = given("ngpu") {
        let count: i64 = count.parse().map_err(|_| wrong("ngpu", "a number"))?;
        task.gpus = Some(u32::try_from(count.max(0)).map_err(|_| wrong("ngpu", "too many"))?);
    }
    if let Some(ids) = given("force_gpuids") {
        task.request.gpu_ids = gpu_ids(ids)?;
    }
    if let Some(argument) = given("real_gpuid_args") {
        task.gpu_argument = some(argument);
    }
    if let Some(limit) = given("timeout") {
        task.time_limit = some(limit).map(|text| seconds(&text)).transpose()?;
    }
    if let Some(description) = given("desc") {
        task.description = description;
    }
    if let Some(email) = given("email") {
        task.labels.remove(EMAIL);
        task.labels.extend(some(email).map(|email| (EMAIL.to_owned(), email)));
    }
    let (stdout, stderr) = (given("stdout"), given("stderr"));
    if stdout.is_some() || stderr.is_some() {
        task.output = output(&task.output, stdout, stderr);
    }
    Ok(())
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty() && text != "None")
}

fn gpu_ids(text: String) -> Result<Vec<u32>, ApiError> {
    let Some(text) = some(text) else { return Ok(Vec::new()) };
    let numbers = text.split(',').map(|number| number.trim().parse());
    numbers.collect::<Result<_, _>>().map_err(|_| wrong("force_gpuids", "numbers such as 0,2"))
}

/// Never less than what was asked for.
fn seconds(text: &str) -> Result<u64, ApiError> {
    let seconds: f64 = text.parse().map_err(|_| wrong("timeout", "seconds, or None"))?;
    match seconds.ceil() {
        whole if (1.0..1e12).contains(&whole) => Ok(whole as u64),
        _ => Err(wrong("timeout", "seconds, or None")),
    }
}

/// Files are appended to. The same name twice, or `stdout`, is one file for both.
fn output(before: &Output, stdout: Option<String>, stderr: Option<String>) -> Output {
    let stream = |name: String| match name.as_str() {
        "" | "/dev/null" | "devnull" | "None" => Stream::Discard,
        _ => Stream::Append { path: name },
    };
    if let (Some(out), Some(err)) = (&stdout, &stderr)
        && (err == "stdout" || err == out)
        && stream(out.clone()) != Stream::Discard
    {
        return Output { both: Some(out.clone()), stdout: None, stderr: None };
    }
    Output {
        both: before.both.clone().filter(|_| stdout.is_none()),
        stdout: stdout.map(stream).or_else(|| before.stdout.clone()),
        stderr: stderr.map(stream).or_else(|| before.stderr.clone()),
    }
}

/// gpuman's fields of a template, in ours.
pub(super) fn template(body: &Body) -> Result<String, ApiError> {
    let mut task = Submit::default();
    put(&mut task, body, true)?;
    let plain = serde_json::to_value(Submit::default()).unwrap_or_default();
    let given = serde_json::to_value(&task).unwrap_or_default();
    let fields = given.as_object().into_iter().flatten();
    let changed: Map<String, Value> = fields
        .filter(|(name, value)| plain.get(*name) != Some(value))
        .filter(|(name, _)| !["command", "shell", "labels"].contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    Ok(if changed.is_empty() { String::new() } else { Value::Object(changed).to_string() })
}

/// As gpuman shows it.
pub(super) fn file_name(stream: Option<&Stream>, output: &Output) -> String {
    match (stream, &output.both) {
        (Some(Stream::Append { path } | Stream::Truncate { path }), _) => path.clone(),
        (Some(Stream::Discard), _) => String::from("/dev/null"),
        (None, Some(both)) => both.clone(),
        (None, None) => String::new(),
    }
}

pub(super) fn email(labels: &BTreeMap<String, String>) -> String {
    labels.get(EMAIL).cloned().unwrap_or_default()
}
