//! `danlu why`: explains why a task waits, which tasks hold its GPUs, and when it may start.

pub(super) mod machines;

use clap::Args;
use danlu_core::{Request, WaitReason};
use danlu_messages::cli::why as msg;
use danlu_messages::reasons;
use danlu_wire::api::Document;
use jiff::Timestamp;

use crate::{
    client::{
        Client, read,
        responses::{Why, WhyTask},
    },
    failure::Failure,
    parse::task_ids::{TaskName, parse_one_task},
    screen::{self, clock, states, tasks, width},
    selection::resolve_one,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_why_id_options(),
    after_help = msg::examples_danlu_why_12_danlu_why(),
)]
pub(crate) struct WhyArguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = msg::task_id())]
    id: TaskName,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &WhyArguments) -> Result<(), Failure> {
    let id = resolve_one(client, arguments.id)?;
    let document = client.get_document(&format!("/tasks/{id}/why"))?;
    if arguments.json {
        return screen::print_document(&document);
    }
    screen::print(&explained(client, &document)?)
}

/// As many lines as it takes.
pub(crate) fn explain(client: &Client, id: u64) -> Result<String, Failure> {
    explained(client, &client.get_document(&format!("/tasks/{id}/why"))?)
}

fn explained(client: &Client, document: &str) -> Result<String, Failure> {
    let why = read::<Document<Why>>(document)?.content.why;
    let now = Timestamp::now();
    let mut out = sentence(&why, now);
    if let Some(wait) = &why.task.wait {
        out += &circumstances(client, wait, why.needs.as_ref(), now)?;
        out += &outlook(&why, now);
        out += &would_start_now(&why);
        if let Some(hint) = hint(&why, wait) {
            out += &(danlu_messages::cli::program::hint_is(&hint) + "\n");
        }
    }
    Ok(out)
}

fn sentence(why: &WhyTask, now: Timestamp) -> String {
    let task = &why.task;
    let (id, name) = (task.id, width::plain(&tasks::name(task)));
    let words = width::plain(&tasks::why_or_where(task, now));
    let place = why.details.place.map(reasons::place);
    let place = place.map(|place| msg::place(&place)).unwrap_or_default();
    match (&task.wait, &why.needs) {
        (Some(WaitReason::Held), _) => msg::task_id_name_is_held(&id, &name),
        (Some(wait), Some(needs)) if is_for_room(wait) && task.silent_paths.is_empty() => {
            let needs = width::plain(&reasons::needs(needs));
            let short = reasons::short_of(&why.details.short_of);
            let short = short.map(|short| msg::short(&short)).unwrap_or_default();
            msg::waits_for_resources(&id, &name, &needs, &short, &place)
        }
        (Some(_), _) => msg::task_id_name_waits_words_place(&id, &name, &words, &place),
        (None, _) => {
            let state = states::word(task.state);
            msg::not_waiting(&id, &name, &state, &words)
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

/// A sentence that would go beyond begins on a line of its own.
const LINE: usize = 80;

/// `It starts when 412 (ann, ≈15:10) ends: expected 15:10. It has the reservation for it.`
fn outlook(why: &WhyTask, now: Timestamp) -> String {
    let conditions = reasons::conditions(&why.details.constraints, |at| clock::of(at, now));
    let conditions: Vec<String> =
        conditions.iter().map(|condition| width::plain(&condition.words)).collect();
    let start = why.expected_start_at.as_deref().and_then(clock::read);
    let start = start.map(|start| clock::short(start, now));
    let all = conditions.join(msg::semicolon());
    let mut out = match (all.is_empty(), start) {
        (true, None) => return String::new(),
        (true, Some(at)) => msg::expected_start(&at),
        (false, None) => msg::starts_when(&all),
        (false, Some(at)) => msg::starts_when_expected(&all, &at),
    };
    if why.details.reserved {
        let reserved = msg::has_reservation();
        if out.chars().count() + reserved.chars().count() > LINE {
            out += "\n";
        }
        out += if out.ends_with('\n') { reserved.trim_start() } else { reserved };
    }
    out + "\n"
}

fn would_start_now(why: &WhyTask) -> String {
    let gpus = why.needs.as_ref().map_or(0, Request::gpus_per_node);
    let options: Vec<String> =
        why.details.alternatives.iter().map(|it| reasons::options(it, gpus)).collect();
    let options = options.join(msg::or());
    match options.is_empty() {
        true => String::new(),
        false => msg::would_start_with(&options),
    }
}

fn other_task(client: &Client, id: u64, now: Timestamp) -> Result<String, Failure> {
    let task = client.task(id)?;
    let (name, user) = (width::plain(&tasks::name(&task)), width::plain(&task.user));
    let state = states::word(task.state);
    let words = width::plain(&tasks::why_or_where(&task, now));
    Ok(msg::id_name_user_state_words(&id, &name, &user, &state, &words))
}

fn hint(why: &WhyTask, wait: &WaitReason) -> Option<String> {
    let id = why.task.id;
    let gpus = why.needs.as_ref().map_or(0, Request::gpus_per_node);
    if let Some(first) = why.details.alternatives.first() {
        return Some(format!("danlu edit {id} {}", reasons::options(first, gpus)));
    }
    match wait {
        WaitReason::Held | WaitReason::InDoubt { .. } => Some(format!("danlu release {id}")),
        WaitReason::GpusOnSeveralNodes { .. } => Some(msg::disable_or_remove().to_owned()),
        WaitReason::QueuePaused => Some("danlu resume-queue".to_owned()),
        WaitReason::NeverFits => Some(format!("danlu edit {id}")),
        WaitReason::NoNodes
        | WaitReason::NodesUnavailable { .. }
        | WaitReason::NodesUnfit { .. } => Some("danlu nodes".to_owned()),
        WaitReason::GpusUnavailable { .. } => {
            Some(msg::danlu_gpus_names_the_processes().to_owned())
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
