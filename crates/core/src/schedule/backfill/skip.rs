//! Every task that fits starts, in order; no task is waited for.

use crate::schedule::plan::Plan;
use crate::schedule::starvation;
use crate::schedule::turn::cursor::TurnCursor;
use crate::schedule::view::View;

/// Within a pass resources only shrink: what asks for the same as one that did not fit need not
/// be tried again. So this costs as much as there are distinct requests, not tasks.
pub(crate) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut cursor = TurnCursor::new(view.state, view.now);
    starvation::start_or_keep(&mut cursor, &mut view, &mut plan);
    while let Some(lane) = cursor.first() {
        let Some(rank) = cursor.next_in(lane) else {
            // Perhaps no task fits: then the others need not be looked at.
            cursor.drop_requests(|request| view.place(request).is_none());
            cursor.close(lane);
            continue;
        };
        if let Some(excess) = cursor.excess(rank) {
            cursor.step_over(lane, excess);
            continue;
        }
        let task = &view.state.tasks[&rank.task];
        let request = &task.spec.request;
        if let Some(placement) = view.place_task(task) {
            view.assume_start(request, &placement);
            plan.start(rank.task, placement);
            cursor.start(lane, rank);
        } else {
            cursor.drop_request(request);
        }
    }
    plan
}
