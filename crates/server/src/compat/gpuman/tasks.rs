//! Converts gpuman's task fields to Danlu's.

use super::GpumanBody;
use crate::api::caller::Caller;
use crate::api::{Api, ApiError, me, submit};
use danlu_core::notify_rule::{NotifyMoment, NotifyRule};
use danlu_core::task::{Output, Stream};
use danlu_core::{Input, Refusal, TaskId};
use danlu_messages::server::gpuman as msg;
use danlu_spec::{Change, Patch};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The label that has gpuman's mail address of a task.
const EMAIL: &str = "gpuman.email";

/// An empty field takes what the template of the caller says, `None` is nothing.
pub(super) async fn create(
    api: &Api,
    caller: &Caller,
    body: &GpumanBody,
) -> Result<Value, ApiError> {
    let mut task = me::template_of(api, caller);
    put(&mut task, body)?;
    discard_unnamed(&mut task, body);
    if let Some(address) = own_address(api, caller, body) {
        task.labels.get_or_default().entry(EMAIL.to_owned()).or_insert(address);
    }
    tell_by_mail(api, &mut task);
    let id = submit::accept(api, caller, task, None, None).await?.id;
    Ok(json!({ "ret": format!("创建成功,任务ID {id}") }))
}

/// gpuman discards what no file is named for.
fn discard_unnamed(task: &mut Patch, body: &GpumanBody) {
    let empty = |key| field(body, key).is_some_and(|text| text.is_empty());
    let output = task.output.get_or_default();
    for (key, stream) in [("stdout", &mut output.stdout), ("stderr", &mut output.stderr)] {
        if empty(key) && stream.value().is_none() && output.both.value().is_none() {
            *stream = Change::Set(Stream::Discard);
        }
    }
}

/// An empty field keeps what was there, `None` takes it away. The task keeps its place.
pub(super) async fn update(
    api: &Api,
    caller: &Caller,
    body: &GpumanBody,
) -> Result<Value, ApiError> {
    let id = task_id(body)?;
    let model = api.model_with(&[id]).await?;
    let task = model.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    caller.may_see_inside(&model, task)?;
    let mut changed = submit::described(task);
    put(&mut changed, body)?;
    tell_by_mail(api, &mut changed);
    submit::replace(api, caller, task, changed).await?;
    Ok(json!({ "ret": format!("更新成功,任务ID {id}") }))
}

pub(super) async fn cancel(
    api: &Api,
    caller: &Caller,
    body: &GpumanBody,
) -> Result<Value, ApiError> {
    let task = task_id(body)?;
    caller.ask(api, Input::Cancel { by: caller.actor(), task }).await?;
    Ok(json!({ "ret": format!("取消成功,任务ID {task}") }))
}

/// gpuman mails at the start and at the end to each address, if the lab has a mail server.
fn tell_by_mail(api: &Api, task: &mut Patch) {
    if !api.notifier.channels().known().email {
        return;
    }
    let given = task.labels.value().and_then(|labels| labels.get(EMAIL));
    let given = given.map_or("", String::as_str);
    let addresses = given.split([',', ';']).map(str::trim).filter(|address| !address.is_empty());
    let on: BTreeSet<NotifyMoment> = [NotifyMoment::Start, NotifyMoment::End].into();
    let rule = |to: Option<&str>| NotifyRule {
        on: if to.is_some() { on.clone() } else { BTreeSet::new() },
        to: to.map(str::to_owned),
    };
    let rules: Vec<NotifyRule> = addresses.map(|address| rule(Some(address))).collect();
    task.notify = Change::Set(if rules.is_empty() { vec![rule(None)] } else { rules });
}

fn task_id(body: &GpumanBody) -> Result<TaskId, ApiError> {
    let id = field(body, "tid").and_then(|text| text.parse().ok());
    id.map(TaskId).ok_or_else(|| wrong("tid", msg::expected_task_id()))
}

fn wrong(field: &str, what: &str) -> ApiError {
    ApiError::bad_request(msg::bad_field(&field, &what), msg::as_gpuman_writes())
}

/// Where the caller wants mail about their tasks; none for a task that says `None`.
fn own_address(api: &Api, caller: &Caller, body: &GpumanBody) -> Option<String> {
    let wanted = field(body, "email").is_none_or(|email| email != "None");
    let model = api.handle.model();
    model.users.get(&caller.id).filter(|_| wanted)?.profile.email.clone()
}

/// Texts and numbers alike.
fn field(body: &GpumanBody, key: &str) -> Option<String> {
    match body.get(key)? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null => Some(String::from("None")),
        _ => None,
    }
}

/// gpuman's fields over those of the task. Empty ones keep what was there.
fn put(task: &mut Patch, body: &GpumanBody) -> Result<(), ApiError> {
    let given = |key: &str| field(body, key).filter(|text| !text.is_empty());
    if let Some(command) = given("cmd") {
        task.command = Change::Set(vec![command]);
        task.shell = Change::Set(true);
    }
    if let Some(directory) = given("wkd") {
        task.directory = Change::Set(directory);
    }
    if let Some(count) = given("ngpu") {
        let count: i64 = count.parse().map_err(|_| wrong("ngpu", msg::expected_number()))?;
        let count = u32::try_from(count.max(0)).map_err(|_| wrong("ngpu", msg::too_many()))?;
        task.gpus = Change::Set(count);
    }
    if let Some(ids) = given("force_gpuids") {
        task.gpu_ids = Change::Set(gpu_ids(ids)?);
    }
    if let Some(argument) = given("real_gpuid_args") {
        task.gpu_argument = some(argument).into();
    }
    if let Some(limit) = given("timeout") {
        task.time_limit = some(limit).map(|text| seconds(&text)).transpose()?.into();
    }
    if let Some(description) = given("desc") {
        task.description = Change::Set(description);
    }
    if let Some(email) = given("email") {
        let labels = task.labels.get_or_default();
        labels.remove(EMAIL);
        labels.extend(some(email).map(|email| (EMAIL.to_owned(), email)));
    }
    let (stdout, stderr) = (given("stdout"), given("stderr"));
    if stdout.is_some() || stderr.is_some() {
        task.output = Change::Set(output(&task.output(), stdout, stderr).into());
    }
    Ok(())
}

fn some(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty() && text != "None")
}

fn gpu_ids(text: String) -> Result<Vec<u32>, ApiError> {
    let Some(text) = some(text) else { return Ok(Vec::new()) };
    let numbers = text.split(',').map(|number| number.trim().parse());
    let wrong = |_| wrong("force_gpuids", msg::expected_numbers());
    numbers.collect::<Result<_, _>>().map_err(wrong)
}

/// Never less than what was asked for.
fn seconds(text: &str) -> Result<u64, ApiError> {
    match text.parse::<f64>().map(f64::ceil) {
        Ok(whole) if (1.0..1e12).contains(&whole) => Ok(whole as u64),
        _ => Err(wrong("timeout", msg::seconds_or_none())),
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

/// What the template is with gpuman's fields over it; `None` where none of them was given. The mail address is the account's.
pub(super) fn template(
    before: Option<&str>,
    body: &GpumanBody,
) -> Result<Option<String>, ApiError> {
    let fields = ["wkd", "cmd", "stdout", "stderr", "ngpu", "force_gpuids", "real_gpuid_args"];
    let mut fields = fields.into_iter().chain(["timeout", "desc"]);
    if !fields.any(|name| field(body, name).is_some_and(|text| !text.is_empty())) {
        return Ok(None);
    }
    let before = before.and_then(|text| serde_json::from_str(text).ok());
    let mut task: Patch = before.unwrap_or_default();
    put(&mut task, body)?;
    task.labels.get_or_default().remove(EMAIL);
    if task.command.value().is_some_and(|words| words == &["None"]) {
        (task.command, task.shell) = (Change::Keep, Change::Keep);
    }
    let template = task.without_defaults();
    Ok(Some(match template.is_empty() {
        true => String::new(),
        false => serde_json::to_string(&template).unwrap_or_default(),
    }))
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
