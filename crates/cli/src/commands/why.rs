//! `danlu why`: what a task waits for, who holds it, when it may start.

pub(super) mod machines;

use clap::Args;
use danlu_core::WaitReason;
use danlu_wire::api::{Document, TaskView};
use jiff::Timestamp;

use crate::{
    client::{Client, answers::Why, read},
    failure::Failure,
    given::task_ids::{TaskName, parse_one_task},
    language::{say, text},
    screen::{self, clock, states, tasks, width},
    selection::resolve_one,
};

#[derive(Debug, Args)]
#[command(
    about = text("Why a task waits, and when it may start", "任务为何等待，何时可能开始"),
    override_usage = text("danlu why ID [OPTIONS]", "danlu why 编号 [选项]"),
    after_help = text(
        "Examples:\n  danlu why 12\n  danlu why @",
        "示例：\n  danlu why 12\n  danlu why @",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = text(
        "The task: its id, `@` your last one, `@~1` the one before",
        "任务：编号、`@` 您最近的、`@~1` 再前一个",
    ))]
    id: TaskName,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let id = resolve_one(client, arguments.id)?;
    let document = client.get_document(&format!("/tasks/{id}/why"))?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let why = read::<Document<Why>>(&document)?.content.why;
    let now = Timestamp::now();
    let mut out = sentence(&why.task, now);
    if let Some(wait) = &why.task.wait {
        out += &circumstances(client, wait, now)?;
        if let Some(start) = why.expected_start_at.as_deref().and_then(clock::read) {
            let at = clock::short(start, now);
            out += &say!("expected start {at}\n", "预计开始于 {at}\n");
        }
        if let Some(hint) = hint(wait, id) {
            out += &format!("hint: {hint}\n");
        }
    }
    screen::print(&out)
}

fn sentence(task: &TaskView, now: Timestamp) -> String {
    let (id, name) = (task.id, width::plain(&tasks::name(task)));
    let words = width::plain(&tasks::why_or_where(task, now));
    match &task.wait {
        Some(WaitReason::Held) => {
            say!("task {id} ({name}) is held.\n", "任务 {id}（{name}）被扣住。\n")
        }
        Some(_) => {
            say!("task {id} ({name}) waits: {words}.\n", "任务 {id}（{name}）等待中：{words}。\n")
        }
        None => {
            let state = states::word(task.state);
            say!(
                "task {id} ({name}) does not wait: {state}, {words}\n",
                "任务 {id}（{name}）没有在等待：{state}，{words}\n"
            )
        }
    }
}

/// What one would ask next.
fn circumstances(client: &Client, wait: &WaitReason, now: Timestamp) -> Result<String, Failure> {
    match wait {
        WaitReason::Held
        | WaitReason::AboutToStart
        | WaitReason::Begins { .. }
        | WaitReason::RetryAt { .. }
        | WaitReason::QueuePaused
        | WaitReason::ArrayLimit { .. } => Ok(String::new()),
        WaitReason::Dependencies { on } => {
            on.iter().map(|id| other_task(client, id.0, now)).collect()
        }
        WaitReason::Behind { first } | WaitReason::WouldDelay { first, .. } => {
            Ok(other_task(client, first.0, now)? + &machines::lines(client, now)?)
        }
        _ => machines::lines(client, now),
    }
}

fn other_task(client: &Client, id: u64, now: Timestamp) -> Result<String, Failure> {
    let task = client.task(id)?;
    let (name, user) = (width::plain(&tasks::name(&task)), width::plain(&task.user));
    let state = states::word(task.state);
    let words = width::plain(&tasks::why_or_where(&task, now));
    Ok(say!(
        "  {id} ({name}, {user}) {state}: {words}\n",
        "  {id}（{name}，{user}）{state}：{words}\n"
    ))
}

fn hint(wait: &WaitReason, id: u64) -> Option<String> {
    match wait {
        WaitReason::Held | WaitReason::InDoubt { .. } => Some(format!("danlu release {id}")),
        WaitReason::NodesUnfit { .. } => Some("danlu nodes".to_owned()),
        WaitReason::GpusOnSeveralNodes { .. } => Some(
            text(
                "danlu gpu disable on all but one of them, or danlu node remove NAME",
                "请在其余机器上停用：danlu gpu disable，或移除：danlu node remove 机器",
            )
            .to_owned(),
        ),
        WaitReason::QueuePaused => Some("danlu resume-queue".to_owned()),
        WaitReason::NeverFits => Some(format!("danlu edit {id} --gpus 1")),
        WaitReason::NoNodes | WaitReason::NodesUnavailable { .. } => Some("danlu nodes".to_owned()),
        WaitReason::GpusUnavailable { .. } => {
            Some(text("danlu gpus names the processes", "danlu gpus 会列出这些进程").to_owned())
        }
        WaitReason::GpusDisabled { gpu_ids } => {
            let ids: Vec<String> = gpu_ids.iter().map(u32::to_string).collect();
            Some(format!("danlu gpu enable {}", ids.join(" ")))
        }
        WaitReason::NodesShortOfMemory { .. } => Some("danlu set keep_memory".to_owned()),
        _ => None,
    }
}
