//! `Boot`: the first input after every start of the daemon. Reports of earlier connections no longer count.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{Epoch, NodeId, TaskId};
use crate::model::node::Link;
use crate::model::task::Doubt;
use crate::step::dependencies;
use crate::step::event::Event;
use crate::step::growth;
use crate::step::input::Actor;
use crate::step::permission::require_admin;
use crate::step::refusal::Refusal;
use crate::step::{Answer, Reply, Turn};

/// Task ids to skip after a restore: ids assigned since the backup may still be in users' notes and scripts.
const IDS_SKIPPED_AFTER_RESTORE: u64 = 1_000;
/// Ids reported from outside are accepted up to here, so that ids never run out.
pub(crate) const HIGHEST_ID: u64 = 1 << 53;

/// `restored`: the store is behind what was acknowledged.
pub(crate) fn boot(turn: &mut Turn<'_>, epoch: Epoch, restored: bool, ids_from: u64) -> Answer {
    let ledger = &mut turn.state.ledger;
    if epoch < ledger.epoch {
        return Err(Refusal::EpochGoesBack);
    }
    let another = ledger.epoch > Epoch(0) && epoch > ledger.epoch;
    if !mutated(Mutant::IdsRestart) {
        let skipped = if another || restored { IDS_SKIPPED_AFTER_RESTORE } else { 0 };
        let next = ledger.next_task.0.saturating_add(skipped).max(ids_from.min(HIGHEST_ID));
        ledger.next_task = TaskId(next);
    }
    ledger.epoch = epoch;
    ledger.booted_at = turn.now;
    turn.event(Event::Booted { epoch, restored });
    // Nobody waits yet, and what follows may concern all of them.
    growth::complete(turn, None);
    if restored && !mutated(Mutant::RestoredRunsAgain) {
        doubt_all(turn);
    }
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

pub(crate) fn skip_ids(turn: &mut Turn<'_>, by: Actor, below: TaskId) -> Answer {
    require_admin(turn.state, by)?;
    if below > turn.state.ledger.next_task {
        turn.state.ledger.next_task = below.min(TaskId(HIGHEST_ID));
        turn.event(Event::IdsSkipped);
    }
    Ok(Reply::Done)
}

/// Unfinished tasks may have run since: they are held until released. Runs go on if their machine still has them.
fn doubt_all(turn: &mut Turn<'_>) {
    let open = turn.state.tasks.values().filter(|task| !task.is_finished());
    let open: Vec<TaskId> = open.map(|task| task.id).collect();
    for id in open {
        dependencies::doubt(turn, id, Doubt::Restored);
    }
}
