//! `DeclareLost`, and the setting `lost_after`: when the runs of an unreachable node count as failed. Lost alone is not
//! failed.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{NodeId, RunId};
use crate::model::run::Exit;
use crate::model::time::{Span, Time};
use crate::state::State;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::nodes::known;
use crate::step::permission::require_admin;
use crate::step::refusal::Refusal;
use crate::step::runs;
use crate::step::{Answer, Reply, Turn};

/// An administrator says that what runs there is lost for good. What goes on there nevertheless is a stray when the node
/// comes back, and ends before the node gets work.
pub(crate) fn declare(turn: &mut Turn<'_>, by: Actor, id: NodeId, force: bool) -> Answer {
    require_admin(turn.state, by)?;
    known(turn.state, id)?;
    let name = || turn.state.nodes[&id].name.clone();
    let Some(away) = turn.state.away_for(id, turn.now) else {
        return Err(Refusal::NodeHeard { name: name() });
    };
    if !force && !is_gone(turn.state, id, turn.now) {
        return Err(Refusal::MayStillRun { name: name(), away });
    }
    give_up(turn, id);
    Ok(Reply::Done)
}

/// Declare nodes lost that have been unreachable for `lost_after`.
pub(crate) fn declare_gone(turn: &mut Turn<'_>) {
    if turn.state.settings().lost_after == Span::ZERO {
        return;
    }
    let (state, now) = (&*turn.state, turn.now);
    let gone = state.nodes.keys().copied().filter(|id| is_gone(state, *id, now));
    let gone: Vec<NodeId> = gone.filter(|id| state.runs_on(*id).next().is_some()).collect();
    for node in gone {
        give_up(turn, node);
    }
}

fn is_gone(state: &State, id: NodeId, now: Time) -> bool {
    let after = state.settings().lost_after;
    let away = state.away_for(id, now);
    let long = |away| away >= after || mutated(Mutant::LostTooSoon);
    after > Span::ZERO && away.is_some_and(long)
}

fn give_up(turn: &mut Turn<'_>, node: NodeId) {
    let runs: Vec<RunId> = turn.state.runs_on(node).collect();
    turn.event(Event::RunsDeclaredLost { node, runs: runs.clone() });
    for run in runs {
        runs::end_without_record(turn, node, run, Exit::Abandoned);
    }
}
