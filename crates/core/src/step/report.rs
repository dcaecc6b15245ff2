//! `Report`: a node lists everything it has. Take it over, and stop runs that should not be there.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{NodeId, RunId, SessionId};
use crate::model::node::Link;
use crate::model::run::{Exit, PartState, ReportedState, RunReport, RunState};
use crate::model::task::Doubt;
use crate::state::State;
use crate::step::effect::StopOrder;
use crate::step::event::Event;
use crate::step::input::NodeReport;
use crate::step::{Answer, Reply, Turn};
use crate::step::{extend, logs, nodes, runs, unknown_runs};
use std::collections::BTreeSet;

/// Invariant: a node becomes ready by a report that shows no run but those the state knows of, and those that a lost
/// store knew.
pub(crate) fn take(
    turn: &mut Turn<'_>,
    id: NodeId,
    session: SessionId,
    report: NodeReport,
) -> Answer {
    let NodeReport { capacity, free_memory, gpus, runs, trouble } = report;
    let node = &turn.state.nodes[&id];
    if (node.capacity, node.free_memory) != (Some(capacity), free_memory) {
        turn.state.change_node(id, |node| {
            node.capacity = Some(capacity);
            node.free_memory = free_memory;
        });
        turn.event(Event::GpusChanged { node: id });
    }
    nodes::take_gpus(turn, id, gpus);
    let reported: BTreeSet<RunId> = runs.iter().map(|report| report.run).collect();
    end_absent(turn, id, session, &reported);
    let (mut strays, mut unknown) = (Vec::new(), Vec::new());
    for report in runs {
        if !take_run(turn, id, &report) {
            match unknown_runs::is_unknown(turn.state, report.run) {
                true => unknown.push(report),
                false => strays.push(report.run),
            }
        }
    }
    let known = unknown_runs::take(turn, id, &unknown);
    // After the runs: one of them may report a problem that is over by now.
    nodes::take_fitness(turn, id, trouble);
    let since = turn.now;
    if strays.is_empty() && known || mutated(Mutant::ReadyWithStrays) {
        if !turn.state.nodes[&id].is_ready() {
            turn.state.change_node(id, |node| node.link = Link::Ready { since });
            turn.event(Event::NodeReady { node: id });
        }
        logs::send_all(turn, id);
        return Ok(Reply::Done);
    }
    for run in &strays {
        if !mutated(Mutant::StrayForgotten) {
            runs::send_stop(turn, id, *run, StopOrder::Stray);
        }
    }
    turn.state.change_node(id, |node| node.link = Link::Unverified { since });
    turn.event(Event::NodeHasStrays { node: id, runs: strays });
    Ok(Reply::Done)
}

/// Runs that should be on the node and are not.
fn end_absent(turn: &mut Turn<'_>, node: NodeId, session: SessionId, reported: &BTreeSet<RunId>) {
    let expected: Vec<RunId> = turn.state.runs_on(node).collect();
    for run in expected {
        if reported.contains(&run) || mutated(Mutant::AbsentRunIgnored) {
            continue;
        }
        match part_state(turn.state, node, run) {
            // The launch may still be on its way behind this report.
            Some(PartState::Launching { session: bound_to })
                if *bound_to == session && !mutated(Mutant::LaunchForgottenInSession) => {}
            // Its connection is gone, and the node drops what comes from there: it never will start. Unless this is
            // an older store: then it may have started, and ended, and been forgotten since.
            Some(PartState::Launching { .. }) if !is_of_lost_time(turn.state, run) => {
                runs::end_without_record(turn, node, run, Exit::NeverStarted);
            }
            Some(
                PartState::Launching { .. } | PartState::Alive { .. } | PartState::Ended { .. },
            )
            | None => runs::end_without_record(turn, node, run, Exit::NoRecord),
        }
    }
}

/// Returns whether the run may be there.
fn take_run(turn: &mut Turn<'_>, node: NodeId, report: &RunReport) -> bool {
    let id = report.run;
    let open = runs::is_open(turn.state, node, id);
    match &report.state {
        ReportedState::Ended(_) if open && mutated(Mutant::ExitForgotten) => {
            runs::forget(turn, node, id);
        }
        ReportedState::Ended(ending) if open => runs::end_part(turn, node, id, ending.clone()),
        ReportedState::Ended(_) => runs::forget(turn, node, id),
        ReportedState::Alive { .. } if !open => return false,
        ReportedState::Alive { since, paused, limit } => {
            if matches!(part_state(turn.state, node, id), Some(PartState::Launching { .. })) {
                let _ = runs::part_started(turn, node, id, *since);
            }
            if !extend::has_heard(turn, id, *limit) {
                extend::send_limit(turn, node, id);
            }
            match turn.state.runs[&id].state {
                RunState::Stopping { why, .. } if !mutated(Mutant::CancelForgotten) => {
                    runs::send_stop(turn, node, id, StopOrder::Because(why));
                }
                RunState::Paused { .. } if !paused => runs::send_pause(turn, node, id, true),
                RunState::Running { .. } if *paused => runs::send_pause(turn, node, id, false),
                RunState::Starting
                | RunState::Running { .. }
                | RunState::Paused { .. }
                | RunState::Stopping { .. }
                | RunState::Ended { .. } => {}
            }
        }
    }
    true
}

/// It was launched before the store was restored.
fn is_of_lost_time(state: &State, run: RunId) -> bool {
    let task = state.runs.get(&run).and_then(|run| state.tasks.get(&run.task));
    task.is_some_and(|task| task.trail().doubt == Some(Doubt::Restored))
}

fn part_state(state: &State, node: NodeId, run: RunId) -> Option<&PartState> {
    state.runs.get(&run).and_then(|run| run.part_on(node)).map(|part| &part.state)
}
