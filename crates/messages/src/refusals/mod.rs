//! Refusals of the core, with what to do about them.

pub mod hints;
mod possible;
mod values;
pub mod words;

use crate::reasons::{needs, over_quota};
use danlu_core::Refusal;
use danlu_core::resources::Request;
use values::{bytes, largest, share, stage, text, things, wanted};
use words as msg;

/// The sentence and the hint.
pub fn refusal(refusal: &Refusal) -> (String, String) {
    match refusal {
        Refusal::UnknownName { kind, name, nearest } => {
            possible::unknown(*kind, name, nearest.as_deref())
        }
        Refusal::Impossible { lacks: Some(lacks), .. } => possible::lacking(lacks),
        other => (sentence(other), hints::hint(other).to_owned()),
    }
}

fn sentence(refusal: &Refusal) -> String {
    use Refusal::*;
    match refusal {
        NoSuchTask(id) => msg::no_such_task(id),
        NoSuchRun(id) => msg::no_such_run(id),
        NoSuchNode(id) => msg::no_such_node(id),
        NoSuchGpu { index } => msg::no_such_gpu(index),
        NoSuchUser => msg::no_such_user().to_owned(),
        BadSlots { most } => msg::bad_slots(most),
        ShareWithoutMemory => msg::share_without_memory().to_owned(),
        BadUtilization => msg::bad_utilization().to_owned(),
        Locked => msg::locked().to_owned(),
        Oneself => msg::oneself().to_owned(),
        BadUserName => msg::bad_user_name().to_owned(),
        BadEmail => msg::bad_email().to_owned(),
        BadLanguage => msg::bad_language().to_owned(),
        NotPermitted => msg::not_permitted().to_owned(),
        AdminOnly => msg::admin_only().to_owned(),
        WrongState { task, state, act } => msg::wrong_state(task, &stage(*state), &wanted(*act)),
        RunEnded(id) => msg::run_ended(id),
        NodeReachable(id) => msg::node_reachable(id),
        NodeHeard { name } => msg::node_heard(name),
        MayStillRun { name, away } => msg::may_still_run(name, &whole_seconds(*away)),
        StillNeeded { task, by } => msg::still_needed(task, by),
        NameTaken { name } => msg::name_taken(name),
        NameMissing => msg::name_missing().to_owned(),
        NodeBusy { runs: 1, .. } => msg::node_busy_with_one().to_owned(),
        NodeBusy { runs, .. } => msg::node_busy(runs),
        UnknownName { name, .. } => msg::unknown_name(name),
        Impossible { wanted, most, .. } => msg::impossible(&needs(wanted), &largest(most, wanted)),
        TooFewNodes { wanted, nodes: 0 } => msg::too_few_nodes_none(&needs(wanted)),
        TooFewNodes { wanted, nodes } => too_few(wanted, *nodes),
        UnequalNodes { nodes, gpus } => msg::unequal_nodes(nodes, gpus),
        GangNamesOne { nodes } => msg::gang_names_one(nodes),
        TooMany { what, limit } => msg::too_many(&things(*what), limit),
        TooLong { what, limit } => msg::too_long(&text(*what), limit),
        ControlCharacter { what } => msg::control_character(&text(*what)),
        BadVariable { name } => msg::bad_variable(name),
        BadTimeLimit => msg::bad_time_limit().to_owned(),
        NoTimeLimit(id) => msg::no_time_limit(id),
        ExtendedTooFar(most) => msg::extended_too_far(most),
        KeptTooLong(most) => msg::kept_too_long(most),
        NotIdle(id) => msg::not_idle(id),
        IdleOrder => msg::idle_order().to_owned(),
        PassesEverybody => msg::passes_everybody().to_owned(),
        OutOfRange { what, least, most } => msg::out_of_range(&share(*what), least, most),
        OverQuota(excess) => msg::quota_exceeded(&over_quota(excess)),
        LogsFull { user, kept, most } => msg::logs_full(user, &bytes(*kept), &bytes(*most)),
        KeyReused => msg::key_reused().to_owned(),
        Circle(id) => msg::circle(id),
        NoRoom(id) => msg::no_room(id),
        BadArray => msg::bad_array().to_owned(),
        BadAxis { name, why } => msg::bad_axis(name, &values::axis_problem(*why)),
        EmptyCommand => msg::empty_command().to_owned(),
        RunsUnknown { task, run, node } => msg::runs_unknown(task, run, node),
        NoUnknownRuns { name } => msg::no_unknown_runs(name),
        EpochGoesBack => msg::epoch_goes_back().to_owned(),
    }
}

fn too_few(wanted: &Request, nodes: usize) -> String {
    let needs = needs(wanted);
    match nodes {
        1 => msg::too_few_nodes_one(&needs),
        nodes => msg::too_few_nodes(&needs, &nodes),
    }
}

/// Milliseconds say nothing about an absence.
fn whole_seconds(span: danlu_core::Span) -> danlu_core::Span {
    danlu_core::Span::from_secs(span.0 / 1_000)
}

#[cfg(test)]
mod tests;
