//! Strict order: a task that cannot start blocks all tasks behind it, except those without GPUs.

use crate::fault_injection::{Mutant, mutated};
use crate::model::time::Time;
use crate::schedule::plan::Plan;
use crate::schedule::queue::{Lane, Rank};
use crate::schedule::starvation;
use crate::schedule::turn::cursor::TurnCursor;
use crate::schedule::view::View;
use crate::state::State;

pub(crate) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut cursor = TurnCursor::new(view.state, view.now);
    starvation::start_or_keep(&mut cursor, &mut view, &mut plan);
    let Some((lane, head)) = start_until_held_up(&mut cursor, &mut view, &mut plan) else {
        return plan;
    };
    // A head that waits for GPUs alone loses nothing to a task that takes none.
    let queue = view.state.queue();
    let head_request = &view.state.tasks[&head.task].spec.request;
    let only_gpus =
        (head_request.cpus, head_request.memory) == (0, 0) && head_request.resources.is_empty();
    if head_request.gpus > 0 && only_gpus {
        cursor.pass_over(lane, head);
        let requests = queue.kinds().map(|(kind, _)| &kind.request);
        requests
            .filter(|request| request.gpus > 0)
            .for_each(|request| cursor.drop_request(request));
        start_in_order(&mut cursor, &mut view, &mut plan);
    }
    plan
}

/// The task that blocks the others, for explanations.
pub(crate) fn head(state: &State, now: Time) -> Option<Rank> {
    let (mut view, mut plan) = (View::new(state, now), Plan::default());
    let mut cursor = TurnCursor::new(state, now);
    let starving = starvation::first(&view, &cursor)
        .filter(|(_, rank)| view.place(&state.tasks[&rank.task].spec.request).is_none());
    let head = starving.or_else(|| start_until_held_up(&mut cursor, &mut view, &mut plan));
    head.map(|(_, rank)| rank)
}

/// A task that waits only for the node it names keeps the free resources of its place there, and does not block other
/// nodes.
fn start_until_held_up<'a>(
    cursor: &mut TurnCursor<'a>,
    view: &mut View<'a>,
    plan: &mut Plan,
) -> Option<(Lane, Rank)> {
    loop {
        let (lane, head) = start_in_order(cursor, view, plan)?;
        let request = &view.state.tasks[&head.task].spec.request;
        if !view.waits_for_its_node(request) {
            return Some((lane, head));
        }
        view.set_place_aside(request);
        cursor.drop_request(request);
    }
}

/// Start tasks from the front of the queue until one has to wait for a run to end; returns that one. A task that
/// would not fit even then does not block others. A task that waits for GPUs it names keeps the free ones among them,
/// and does not block the rest.
pub(crate) fn start_in_order<'a>(
    cursor: &mut TurnCursor<'a>,
    view: &mut View<'a>,
    plan: &mut Plan,
) -> Option<(Lane, Rank)> {
    let state = view.state;
    while let Some(lane) = cursor.first() {
        let Some(rank) = cursor.next_in(lane) else {
            cursor.close(lane);
            continue;
        };
        if let Some(excess) = cursor.excess(rank) {
            cursor.step_over(lane, excess);
            continue;
        }
        let task = &state.tasks[&rank.task];
        let request = &task.spec.request;
        if let Some(placement) = view.place_task(task) {
            view.assume_start(request, &placement);
            plan.start(rank.task, placement);
            cursor.start(lane, rank);
        } else if let Some(placement) = view.place_when_settled(request) {
            // It starts soon: its place is kept, and no task waits for it.
            view.assume_start(request, &placement);
            cursor.pass_over(lane, rank);
        } else if view.waits_for_named(request) {
            view.set_named_aside(request);
            cursor.drop_request(request);
        } else if view.fits_when_idle(request) || mutated(Mutant::ImpossibleHeadBlocks) {
            return Some((lane, rank));
        } else {
            cursor.drop_request(request);
        }
    }
    None
}
