//! Deletes the logs of removed tasks on every node that ran a part of them, also on a node that is away now.
//!
//! A pending deletion is kept until the node confirms it. The order is sent when the task is removed, and again after
//! every report. It waits until the node is ready: then no stray run writes to a log there.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{NodeId, RunId, SessionId, UserId};
use crate::model::run::{LogRemoval, Run};
use crate::step::effect::Effect;
use crate::step::event::Event;
use crate::step::nodes::ignore_late;
use crate::step::{Answer, Reply, Turn};
use std::sync::Arc;

/// Orders that are sent after one report; the confirmation of the last one asks for the next report.
const AT_ONCE: usize = 1_000;

/// Their task was removed.
pub(crate) fn remove(turn: &mut Turn<'_>, owner: UserId, runs: &[Arc<Run>]) {
    for run in runs {
        let Run { id: run, parts, .. } = &**run;
        let known = |node: &NodeId| turn.state.nodes.contains_key(node);
        let nodes = parts.iter().map(|part| part.node).filter(known).collect();
        let removal = LogRemoval { run: *run, owner, nodes };
        for node in removal.nodes.clone() {
            send(turn, node, *run, owner);
        }
        turn.state.insert_log_removal(removal);
    }
}

/// The node has reported.
pub(crate) fn send_all(turn: &mut Turn<'_>, node: NodeId) {
    if mutated(Mutant::LogKeptWhereAway) {
        return;
    }
    let runs: Vec<RunId> = turn.state.logs_to_drop(node).take(AT_ONCE).collect();
    for run in runs {
        send(turn, node, run, turn.state.log_removals[&run].owner);
    }
}

fn send(turn: &mut Turn<'_>, node: NodeId, run: RunId, owner: UserId) {
    let it = &turn.state.nodes[&node];
    if it.is_ready() {
        let session = it.session;
        turn.effect(Effect::DropLog { node, session, run, owner });
    }
}

pub(crate) fn dropped(turn: &mut Turn<'_>, node: NodeId, session: SessionId, run: RunId) -> Answer {
    if !turn.state.log_is_dropped(node, run) {
        return ignore_late(turn, node, Some(run));
    }
    turn.event(Event::LogDropped { run, node });
    let left = turn.state.logs_to_drop(node).count();
    if left > 0 && left.is_multiple_of(AT_ONCE) {
        turn.effect(Effect::AskReport { node, session });
    }
    Ok(Reply::Done)
}

/// The node is removed: nothing is sent to it any more.
pub(crate) fn give_up(turn: &mut Turn<'_>, node: NodeId) {
    let runs: Vec<RunId> = turn.state.logs_to_drop(node).collect();
    for run in runs {
        turn.state.log_is_dropped(node, run);
        turn.event(Event::LogDropped { run, node });
    }
}
