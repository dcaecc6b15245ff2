//! `danlu why`: what a task waits for, who holds it, when it may start.

pub(super) mod machines;

use clap::Args;
use danlu_core::WaitReason;
use danlu_messages::cli::why as msg;
use danlu_wire::api::{Document, TaskView};
use jiff::Timestamp;

use crate::{
    client::{Client, answers::Why, read},
    failure::Failure,
    given::task_ids::{TaskName, parse_one_task},
    screen::{self, clock, states, tasks, width},
    selection::resolve_one,
};

#[derive(Debug, Args)]
#[command(
    about = msg::why_a_task_waits_and_when_it_may_start(),
    override_usage = msg::danlu_why_id_options(),
    after_help = msg::examples_danlu_why_12_danlu_why(),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = msg::the_task_its_id_your_last_one_1_the_one())]
    id: TaskName,

    #[arg(long, help = msg::print_one_json_document())]
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
            out += &msg::expected_start_at(&at);
        }
        if let Some(hint) = hint(wait, id) {
            out += &(danlu_messages::cli::program::hint_is(&hint) + "\n");
        }
    }
    screen::print(&out)
}

fn sentence(task: &TaskView, now: Timestamp) -> String {
    let (id, name) = (task.id, width::plain(&tasks::name(task)));
    let words = width::plain(&tasks::why_or_where(task, now));
    match &task.wait {
        Some(WaitReason::Held) => msg::task_id_name_is_held(&id, &name),
        Some(_) => msg::task_id_name_waits_words(&id, &name, &words),
        None => {
            let state = states::word(task.state);
            msg::task_id_name_does_not_wait_state_words(&id, &name, &state, &words)
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
    Ok(msg::id_name_user_state_words(&id, &name, &user, &state, &words))
}

fn hint(wait: &WaitReason, id: u64) -> Option<String> {
    match wait {
        WaitReason::Held | WaitReason::InDoubt { .. } => Some(format!("danlu release {id}")),
        WaitReason::NodesUnfit { .. } => Some("danlu nodes".to_owned()),
        WaitReason::GpusOnSeveralNodes { .. } => {
            Some(msg::danlu_gpu_disable_on_all_but_one_of_them_or().to_owned())
        }
        WaitReason::QueuePaused => Some("danlu resume-queue".to_owned()),
        WaitReason::NeverFits => Some(format!("danlu edit {id} --gpus 1")),
        WaitReason::NoNodes | WaitReason::NodesUnavailable { .. } => Some("danlu nodes".to_owned()),
        WaitReason::GpusUnavailable { .. } => {
            Some(msg::danlu_gpus_names_the_processes().to_owned())
        }
        WaitReason::GpusDisabled { gpu_ids } => {
            let ids: Vec<String> = gpu_ids.iter().map(u32::to_string).collect();
            Some(format!("danlu gpu enable {}", ids.join(" ")))
        }
        WaitReason::NodesShortOfMemory { .. } => Some("danlu set keep_memory".to_owned()),
        _ => None,
    }
}
