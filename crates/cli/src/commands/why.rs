//! `danlu why`: what a task waits for, who holds it, when it may start.

pub(super) mod machines;

use clap::Args;
use danlu_core::{Request, WaitReason};
use danlu_server::reasons;
use danlu_wire::api::Document;
use jiff::Timestamp;

use crate::{
    client::{
        Client,
        answers::{Why, WhyTask},
        read,
    },
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
    let mut out = sentence(&why, now);
    if let Some(wait) = &why.task.wait {
        out += &circumstances(client, wait, why.needs.as_ref(), now)?;
        out += &outlook(&why, now);
        out += &would_start_now(&why);
        if let Some(hint) = hint(&why, wait) {
            out += &format!("hint: {hint}\n");
        }
    }
    screen::print(&out)
}

fn sentence(why: &WhyTask, now: Timestamp) -> String {
    let task = &why.task;
    let (id, name) = (task.id, width::plain(&tasks::name(task)));
    let words = width::plain(&tasks::why_or_where(task, now));
    let place = why.details.place.map(reasons::place);
    let place = place.map(|place| say!(" {place}.", "{place}。")).unwrap_or_default();
    match (&task.wait, &why.needs) {
        (Some(WaitReason::Held), _) => {
            say!("task {id} ({name}) is held.\n", "任务 {id}（{name}）被扣住。\n")
        }
        (Some(wait), Some(needs)) if is_for_room(wait) && task.silent_paths.is_empty() => {
            let needs = width::plain(&reasons::needs(needs));
            let short = reasons::short_of(&why.details.short_of);
            let short = short.map(|short| say!(", {short}", "，{short}")).unwrap_or_default();
            say!(
                "task {id} ({name}) waits: it needs {needs}{short}.{place}\n",
                "任务 {id}（{name}）等待中：需要{needs}{short}。{place}\n"
            )
        }
        (Some(_), _) => {
            say!(
                "task {id} ({name}) waits: {words}.{place}\n",
                "任务 {id}（{name}）等待中：{words}。{place}\n"
            )
        }
        (None, _) => {
            let state = states::word(task.state);
            say!(
                "task {id} ({name}) does not wait: {state}, {words}\n",
                "任务 {id}（{name}）没有在等待：{state}，{words}\n"
            )
        }
    }
}

/// Whether what it asks for tells more than the reason in short.
fn is_for_room(wait: &WaitReason) -> bool {
    match wait {
        WaitReason::Resources { .. }
        | WaitReason::NamedResources { .. }
        | WaitReason::GpusUnavailable { .. } => true,
        WaitReason::Held
        | WaitReason::Begins { .. }
        | WaitReason::RetryAt { .. }
        | WaitReason::Dependencies { .. }
        | WaitReason::NoNodes
        | WaitReason::NeverFits
        | WaitReason::NodesUnavailable { .. }
        | WaitReason::NodesUnfit { .. }
        | WaitReason::GpusOnSeveralNodes { .. }
        | WaitReason::InDoubt { .. }
        | WaitReason::GpusDisabled { .. }
        | WaitReason::NodesShortOfMemory { .. }
        | WaitReason::Settling
        | WaitReason::GpusBusy
        | WaitReason::TooFewNodes { .. }
        | WaitReason::QueuePaused
        | WaitReason::ArrayLimit { .. }
        | WaitReason::Behind { .. }
        | WaitReason::WouldDelay { .. }
        | WaitReason::Quota(_)
        | WaitReason::Outranked
        | WaitReason::AboutToStart => false,
    }
}

/// What one would ask next.
fn circumstances(
    client: &Client,
    wait: &WaitReason,
    needs: Option<&Request>,
    now: Timestamp,
) -> Result<String, Failure> {
    match wait {
        WaitReason::Held
        | WaitReason::InDoubt { .. }
        | WaitReason::AboutToStart
        | WaitReason::Begins { .. }
        | WaitReason::RetryAt { .. }
        | WaitReason::QueuePaused
        | WaitReason::NoNodes
        | WaitReason::ArrayLimit { .. } => Ok(String::new()),
        WaitReason::Dependencies { on } => {
            on.iter().map(|id| other_task(client, id.0, now)).collect()
        }
        WaitReason::Behind { first } | WaitReason::WouldDelay { first, .. } => {
            Ok(other_task(client, first.0, now)? + &machines::lines(client, needs, now)?)
        }
        WaitReason::NeverFits
        | WaitReason::NodesUnavailable { .. }
        | WaitReason::NodesUnfit { .. }
        | WaitReason::GpusOnSeveralNodes { .. }
        | WaitReason::GpusUnavailable { .. }
        | WaitReason::GpusDisabled { .. }
        | WaitReason::NodesShortOfMemory { .. }
        | WaitReason::Settling
        | WaitReason::GpusBusy
        | WaitReason::Resources { .. }
        | WaitReason::TooFewNodes { .. }
        | WaitReason::NamedResources { .. }
        | WaitReason::Quota(_)
        | WaitReason::Outranked => machines::lines(client, needs, now),
    }
}

/// `It starts when 412 (ann, ≈15:10) ends: expected 15:10. It has the reservation for it.`
fn outlook(why: &WhyTask, now: Timestamp) -> String {
    let conditions = reasons::conditions(&why.details.constraints, |at| clock::of(at, now));
    let conditions: Vec<String> =
        conditions.iter().map(|condition| width::plain(&condition.words)).collect();
    let start = why.expected_start_at.as_deref().and_then(clock::read);
    let start = start.map(|start| clock::short(start, now));
    let all = conditions.join(text("; ", "；"));
    let mut out = match (all.is_empty(), start) {
        (true, None) => return String::new(),
        (true, Some(at)) => say!("expected start {at}", "预计开始于 {at}"),
        (false, None) => say!("It starts when {all}.", "以下条件全部满足后开始：{all}。"),
        (false, Some(at)) => say!(
            "It starts when {all}: expected start {at}.",
            "以下条件全部满足后开始：{all}。预计开始于 {at}。"
        ),
    };
    if why.details.reserved {
        out += text(" It has the reservation for it.", "已为它预留。");
    }
    out + "\n"
}

fn would_start_now(why: &WhyTask) -> String {
    let gpus = why.needs.as_ref().map_or(0, Request::gpus_per_node);
    let options: Vec<String> =
        why.details.alternatives.iter().map(|it| reasons::options(it, gpus)).collect();
    let options = options.join(text(", or ", "，或 "));
    match options.is_empty() {
        true => String::new(),
        false => {
            say!("It would start now with: {options}\n", "改为以下选项可立即开始：{options}\n")
        }
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

fn hint(why: &WhyTask, wait: &WaitReason) -> Option<String> {
    let id = why.task.id;
    let gpus = why.needs.as_ref().map_or(0, Request::gpus_per_node);
    if let Some(first) = why.details.alternatives.first() {
        return Some(format!("danlu edit {id} {}", reasons::options(first, gpus)));
    }
    match wait {
        WaitReason::Held | WaitReason::InDoubt { .. } => Some(format!("danlu release {id}")),
        WaitReason::GpusOnSeveralNodes { .. } => Some(
            text(
                "danlu gpu disable on all but one of them, or danlu node remove NAME",
                "请在其余机器上停用：danlu gpu disable，或移除：danlu node remove 机器",
            )
            .to_owned(),
        ),
        WaitReason::QueuePaused => Some("danlu resume-queue".to_owned()),
        WaitReason::NeverFits => Some(format!("danlu edit {id}")),
        WaitReason::NoNodes
        | WaitReason::NodesUnavailable { .. }
        | WaitReason::NodesUnfit { .. } => Some("danlu nodes".to_owned()),
        WaitReason::GpusUnavailable { .. } => {
            Some(text("danlu gpus names the processes", "danlu gpus 会列出这些进程").to_owned())
        }
        WaitReason::GpusDisabled { gpu_ids } => {
            let ids: Vec<String> = gpu_ids.iter().map(u32::to_string).collect();
            Some(format!("danlu gpu enable {}", ids.join(" ")))
        }
        WaitReason::NodesShortOfMemory { .. } => Some("danlu set keep_memory".to_owned()),
        WaitReason::Begins { .. }
        | WaitReason::RetryAt { .. }
        | WaitReason::Dependencies { .. }
        | WaitReason::Settling
        | WaitReason::GpusBusy
        | WaitReason::Resources { .. }
        | WaitReason::TooFewNodes { .. }
        | WaitReason::NamedResources { .. }
        | WaitReason::ArrayLimit { .. }
        | WaitReason::Behind { .. }
        | WaitReason::WouldDelay { .. }
        | WaitReason::Quota(_)
        | WaitReason::Outranked
        | WaitReason::AboutToStart => None,
    }
}
