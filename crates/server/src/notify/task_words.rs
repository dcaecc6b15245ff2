//! Words a message about one task: what happened, where, why, and what it made of its GPUs.

use super::letter::{RequeuedFor, TaskFacts, TaskNews};
use super::render::{RenderContext, Rendered, Tone, numbers, said};
use crate::api::efficiency::EfficiencyCard;
use danlu_core::{FailureClass, Span, Time};
use danlu_messages::notify::letters as msg;
use danlu_messages::{amounts, efficiency, ends};
use danlu_wire::api::TaskStateName;
use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) fn name_of(task: &TaskFacts) -> String {
    let id = match task.array.zip(task.index) {
        Some((first, index)) => format!("{} [{first}_{index}]", task.id),
        None => task.id.to_string(),
    };
    match task.name.is_empty() {
        true => msg::task(&id),
        false => msg::task_name(&id, &task.name),
    }
}

pub(super) fn about_task(
    at: Time,
    news: &TaskNews,
    task: &TaskFacts,
    context: &RenderContext,
) -> Rendered {
    let name = name_of(task);
    let show = || msg::more_with(&format!("danlu show {}", task.id));
    let (headline, tone, hint) = match news {
        TaskNews::Started if task.attempt > 1 => {
            (msg::started_again(&name, &task.attempt), Tone::Neutral, show())
        }
        TaskNews::Started => (msg::started(&name), Tone::Neutral, show()),
        TaskNews::Ended => (ended(task, &name), tone_of(task.state), show()),
        TaskNews::Requeued { why } => {
            let words = match why {
                RequeuedFor::Failure => msg::requeued_failed(&name),
                RequeuedFor::Loss => msg::requeued_lost(&name),
                RequeuedFor::Preemption => msg::requeued_preempted(&name),
                RequeuedFor::Request => msg::requeued(&name),
                RequeuedFor::Idle => msg::requeued_idle(&name),
            };
            (words, Tone::Neutral, msg::more_with(&format!("danlu why {}", task.id)))
        }
        TaskNews::Lost { node } => (msg::lost(&name, node), Tone::Bad, show()),
        TaskNews::Expiring { ends_at } => {
            let left = amounts::two_units(ends_at.since(at).0 / 1_000);
            let more = msg::more_time_with(&format!("danlu extend {} 2h", task.id));
            (msg::expiring(&name, &left), Tone::Neutral, more)
        }
        TaskNews::Idle { since, stops, .. } => {
            let time = amounts::two_units(at.since(*since).0 / 1_000);
            let words = match stops {
                Some(_) => msg::idle_asked(&name, &time),
                None => msg::idle_told(&name, &time),
            };
            let keep = msg::keep_with(&format!("danlu keep {} 2h", task.id));
            (words, Tone::Neutral, keep)
        }
        TaskNews::InDoubt => {
            let release = msg::release_with(&format!("danlu release {}", task.id));
            (msg::in_doubt(&name), Tone::Bad, release)
        }
    };
    let ended = matches!(news, TaskNews::Ended | TaskNews::Requeued { .. });
    let mut facts = facts_of(task, ended);
    if let TaskNews::Expiring { ends_at } = news {
        facts.push((msg::ends_at(), moment(*ends_at)));
    }
    let mut path = format!("/tasks/{}", task.id);
    if let TaskNews::Idle { since, kind, stops } = news {
        facts.push((msg::idle_why(), danlu_messages::idle::kind(*kind).to_owned()));
        facts.push((msg::idle_since(), moment(*since)));
        if let Some(stop) = stops {
            let label = if stop.requeue { msg::idle_requeued_at() } else { msg::idle_ends_at() };
            facts.push((label, moment(stop.at)));
        }
        path += "/keep";
    }
    let lines = Some(context.last_lines.clone()).filter(|lines| ended && !lines.is_empty());
    let card = context.efficiency.as_ref().filter(|_| *news == TaskNews::Ended);
    let card = card.map(EfficiencyCard::of);
    let advice = card.as_ref().map(|card| card.advice.clone()).unwrap_or_default();
    facts.extend(card.into_iter().flat_map(|card| card.facts));
    Rendered {
        headline,
        tone,
        facts: said(facts),
        quoted: lines.map(|lines| (msg::last_lines(), lines)),
        items: (!advice.is_empty()).then(|| (efficiency::next_time(), advice)),
        hint: Some(hint),
        link: Some(path),
        ..Rendered::default()
    }
}

fn ended(task: &TaskFacts, name: &str) -> String {
    match (task.state, task.class()) {
        (TaskStateName::Succeeded, _) => msg::succeeded(&name),
        (TaskStateName::Failed, Some(class)) => msg::failed_class(&name, &class.as_str()),
        (TaskStateName::Failed, None) => msg::failed(&name),
        (TaskStateName::Cancelled, Some(FailureClass::Idle)) => msg::ended_idle(&name),
        (TaskStateName::Cancelled, _) => msg::cancelled(&name),
        (TaskStateName::TimedOut, _) => msg::timed_out(&name),
        (_, _) => msg::ended(&name),
    }
}

fn tone_of(state: TaskStateName) -> Tone {
    match state {
        TaskStateName::Succeeded => Tone::Good,
        TaskStateName::Failed | TaskStateName::TimedOut => Tone::Bad,
        TaskStateName::Held
        | TaskStateName::Blocked
        | TaskStateName::Queued
        | TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Cancelled
        | TaskStateName::Unknown => Tone::Neutral,
    }
}

fn facts_of(task: &TaskFacts, ended: bool) -> Vec<(&'static str, String)> {
    let node = task.nodes.join(", ");
    let place = match task.gpus.is_empty() || node.is_empty() {
        true => node,
        false => msg::machine_gpus(&node, &numbers(&task.gpus)),
    };
    let ran = task.started_at.zip(task.ended_at.filter(|_| ended));
    let waited = task.started_at.map(|started| started.since(task.submitted_at));
    let words = |span: Span| amounts::two_units(span.0 / 1_000);
    let exit = task.exit.as_ref().filter(|exit| ended && !exit.is_success());
    vec![
        (msg::owner(), task.user.clone()),
        (msg::command(), task.command.clone()),
        (msg::machine(), place),
        (msg::exit(), exit.map(ends::exit).unwrap_or_default()),
        (msg::evidence(), evidence(task).filter(|_| ended).unwrap_or_default()),
        (msg::started_at(), task.started_at.map(moment).unwrap_or_default()),
        (msg::waited_for(), waited.filter(|_| !ended).map(words).unwrap_or_default()),
        (msg::ended_at(), task.ended_at.filter(|_| ended).map(moment).unwrap_or_default()),
        (msg::ran_for(), ran.map(|(from, to)| words(to.since(from))).unwrap_or_default()),
    ]
}

/// The line that proves a failure, where one was printed.
pub(crate) fn evidence(task: &TaskFacts) -> Option<String> {
    let (failure, exit) = (task.failure.as_ref()?, task.exit.as_ref()?);
    let words = ends::evidence(failure, exit, &task.used);
    (!words.is_empty() && words != ends::exit(exit)).then_some(words)
}

pub(crate) fn moment(at: Time) -> String {
    let Ok(at) = Timestamp::from_millisecond(at.0) else { return String::new() };
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}
