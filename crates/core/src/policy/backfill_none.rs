//! Strict order: who cannot start holds up everybody behind.

use crate::mutant::{Mutant, mutated};
use crate::plan::Plan;
use crate::queue::Rank;
use crate::view::View;

pub(super) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    start_in_order(&mut view, &mut plan);
    plan
}

/// Start from the front of the queue until one has to wait for a run to end; answers that one.
/// A task that would not fit even then holds up nobody. One that waits for nothing but GPUs that it has named
/// keeps those of them that are free, and holds up nobody on the others.
pub(super) fn start_in_order(view: &mut View<'_>, plan: &mut Plan) -> Option<Rank> {
    let state = view.state;
    for rank in state.queue().iter() {
        let request = &state.tasks[&rank.task].spec.request;
        if let Some(placement) = view.place(request) {
            view.assume_start(request, &placement);
            plan.start(rank.task, placement);
        } else if request.names_everything() {
            view.set_named_aside(request);
        } else if view.fits_when_idle(request) || mutated(Mutant::ImpossibleHeadBlocks) {
            return Some(rank);
        }
    }
    None
}
