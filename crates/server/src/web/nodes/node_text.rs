//! Texts about machines.

use danlu_messages::web::nodes as msg;
use danlu_wire::api::{CheckStep, NodeStateName};

/// The colour and the word.
pub(super) fn state(state: NodeStateName) -> (&'static str, &'static str) {
    match state {
        NodeStateName::Ready => ("good", msg::ready()),
        NodeStateName::Draining => ("warns", msg::draining()),
        NodeStateName::Unverified => ("warns", msg::connecting()),
        NodeStateName::Unfit => ("warns", msg::unfit()),
        NodeStateName::Down | NodeStateName::Unknown => ("failed", msg::not_reachable()),
    }
}

pub(super) fn route(route: &str) -> String {
    match route {
        "local" => msg::server_machine().to_owned(),
        other => other.to_owned(),
    }
}

pub(super) fn clock(ahead_ms: i64) -> String {
    let off = ahead_ms.unsigned_abs();
    match ahead_ms {
        -50..=50 => msg::as_the_servers().to_owned(),
        51.. => msg::off_ms_ahead_of_the_servers(&off),
        _ => msg::off_ms_behind_the_servers(&off),
    }
}

pub(super) fn step(step: CheckStep) -> &'static str {
    match step {
        CheckStep::Reach => msg::reach_it(),
        CheckStep::Upload => msg::bring_the_program(),
        CheckStep::Start => msg::start_it(),
        CheckStep::Greet => msg::be_greeted(),
        CheckStep::Login => msg::log_in(),
        CheckStep::Clock => msg::clock(),
        CheckStep::Disk => msg::disk(),
        CheckStep::Driver => msg::driver(),
        CheckStep::Gpus => "GPU",
        CheckStep::Machine => msg::identity(),
        CheckStep::Unknown => msg::step(),
    }
}

/// The question, what follows from it, and the button.
pub(super) fn asked(act: &str, name: &str) -> Option<(String, &'static str, &'static str)> {
    let words = match act {
        "drain" => (msg::drain_name(&name), msg::drain_consequences(), msg::drain()),
        "undrain" => (
            msg::give_name_tasks_again(&name),
            msg::what_waits_for_it_may_start_at_once(),
            msg::give_it_tasks(),
        ),
        "accept" => (msg::accept_question(&name), msg::accept_warning(), msg::accept_it()),
        "remove" => (msg::take_name_out(&name), msg::removal_consequences(), msg::take_it_out()),
        _ => return None,
    };
    Some(words)
}
