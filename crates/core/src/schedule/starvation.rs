//! Protection against starvation: a task that has waited for `reserve_after` goes first, and GPUs that become free are
//! kept for it.

use super::turn::cursor::TurnCursor;
use crate::fault_injection::{Mutant, mutated};
use crate::model::task::Task;
use crate::model::time::{Span, Time};
use crate::schedule::plan::Plan;
use crate::schedule::queue::{Lane, Rank};
use crate::schedule::view::View;
use crate::state::State;

/// The longest waiting of those that have waited for `reserve_after` and could run if others ended.
pub(super) fn first(view: &View<'_>, cursor: &TurnCursor<'_>) -> Option<(Lane, Rank)> {
    let state = view.state;
    let patience = state.settings().reserve_after;
    if patience == Span::ZERO || mutated(Mutant::AgedForgotten) {
        return None;
    }
    // After the clock was set back, the waiting time is unknown …
    let is_starving = |since: Time| since > view.now || view.now.since(since) >= patience;
    let kinds = state.queue().kinds().filter_map(|(_, alike)| alike.oldest(view.now));
    let mut starving: Vec<_> = kinds.filter(|(since, _)| is_starving(*since)).collect();
    // … but these tasks were queued before that, and have waited longer than all later ones.
    starving.sort_unstable_by_key(|(since, id)| (*since <= view.now, *since, *id));
    let places = starving.iter().map(|(_, id)| place(state, &state.tasks[id]));
    places.into_iter().find(|(_, rank)| {
        let request = &state.tasks[&rank.task].spec.request;
        cursor.excess(*rank).is_none() && view.fits_when_idle(request)
    })
}

/// Start it, or keep for it what is free of the place where it would run if all others ended.
pub(super) fn start_or_keep<'a>(cursor: &mut TurnCursor<'a>, view: &mut View<'a>, plan: &mut Plan) {
    let Some((lane, rank)) = first(view, cursor) else { return };
    if !start(cursor, view, plan, lane, rank) {
        view.set_place_aside(&view.state.tasks[&rank.task].spec.request);
    }
}

/// `false`: there is no room for it yet.
pub(super) fn start<'a>(
    cursor: &mut TurnCursor<'a>,
    view: &mut View<'a>,
    plan: &mut Plan,
    lane: Lane,
    rank: Rank,
) -> bool {
    let task = &view.state.tasks[&rank.task];
    let Some(placement) = view.place_task(task) else { return false };
    view.assume_start(&task.spec.request, &placement);
    plan.start(rank.task, placement);
    cursor.take(lane, rank);
    true
}

fn place(state: &State, task: &Task) -> (Lane, Rank) {
    (super::lane(task, state.settings()), super::rank(task, state.settings()))
}
