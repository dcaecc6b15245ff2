//! Whatever fits starts, in order; nobody is waited for.

use crate::plan::Plan;
use crate::queue::{Alike, Estimate, Rank};
use crate::resources::Request;
use crate::view::View;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Within a pass resources only shrink: what asks for the same as one that did not fit need not
/// be tried again. So this costs as much as there are distinct requests, not tasks.
pub(super) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let requests: Vec<(&Request, Alike<'_>)> = view.state.queue().requests().collect();
    let first = |at: usize, last: Option<Rank>| {
        requests[at].1.first_after(last, Estimate::UNKNOWN).map(|rank| Reverse((rank, at)))
    };
    let mut fronts: BinaryHeap<_> = (0..requests.len()).filter_map(|at| first(at, None)).collect();
    while let Some(Reverse((rank, at))) = fronts.pop() {
        let request = requests[at].0;
        if let Some(placement) = view.place(request) {
            view.assume_start(request, &placement);
            plan.start(rank.task, placement);
            fronts.extend(first(at, Some(rank)));
        }
    }
    plan
}
