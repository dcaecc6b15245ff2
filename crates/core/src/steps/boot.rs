//! The first step of every life of the daemon: nothing that nodes said before counts any more.

use crate::event::Event;
use crate::ids::{Epoch, NodeId, TaskId};
use crate::mutant::{Mutant, mutated};
use crate::node::Link;
use crate::refusal::Refusal;
use crate::step::{Answer, Reply, Turn};

/// Task ids that are left out after a restore: those given out since the backup may still be in
/// somebody's notes and scripts.
const IDS_SKIPPED_AFTER_RESTORE: u64 = 1_000;

pub(crate) fn boot(turn: &mut Turn<'_>, epoch: Epoch) -> Answer {
    let ledger = &mut turn.state.ledger;
    if epoch < ledger.epoch {
        return Err(Refusal::EpochGoesBack);
    }
    let restored = ledger.epoch > Epoch(0) && epoch > ledger.epoch;
    if restored {
        ledger.next_task = TaskId(ledger.next_task.0 + IDS_SKIPPED_AFTER_RESTORE);
    }
    ledger.epoch = epoch;
    ledger.booted_at = turn.now;
    turn.event(Event::Booted { epoch });
    if mutated(Mutant::BootTrustsNodes) {
        return Ok(Reply::Done);
    }
    let connected = turn.state.nodes.values().filter(|node| node.live_session().is_some());
    let connected: Vec<NodeId> = connected.map(|node| node.id).collect();
    let since = turn.now;
    for node in connected {
        turn.state.change_node(node, |node| node.link = Link::Down { since });
        turn.event(Event::NodeLost { node });
    }
    Ok(Reply::Done)
}
