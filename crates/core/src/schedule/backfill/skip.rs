//! Whatever fits starts, in order; nobody is waited for.

use crate::schedule::plan::Plan;
use crate::schedule::starvation;
use crate::schedule::turn::cursor::Line;
use crate::schedule::view::View;

/// Within a pass resources only shrink: what asks for the same as one that did not fit need not
/// be tried again. So this costs as much as there are distinct requests, not tasks.
pub(crate) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut line = Line::new(view.state, view.now);
    starvation::start_or_keep(&mut line, &mut view, &mut plan);
    while let Some(lane) = line.first() {
        let Some(rank) = line.next_in(lane) else {
            // Perhaps nobody has: then the others need not be looked at.
            line.drop_requests(|request| view.place(request).is_none());
            line.close(lane);
            continue;
        };
        if let Some(excess) = line.excess(rank) {
            line.step_over(lane, excess);
            continue;
        }
        let task = &view.state.tasks[&rank.task];
        let request = &task.spec.request;
        if let Some(placement) = view.place_task(task) {
            view.assume_start(request, &placement);
            plan.start(rank.task, placement);
            line.start(lane, rank);
        } else {
            line.drop_request(request);
        }
    }
    plan
}
