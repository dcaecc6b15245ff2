//! EASY backfilling: the first that cannot start gets a reservation; later ones may start if
//! they do not delay it.

use super::backfill_none::start_in_order;
use super::ends::{OVERDUE, Overrun, expected_ends};
use super::line::Line;
use crate::ids::RunId;
use crate::mutant::{Mutant, mutated};
use crate::plan::Plan;
use crate::queue::{Estimate, Lane, Rank};
use crate::resources::{Placement, Request};
use crate::state::State;
use crate::time::Time;
use crate::view::View;

pub(super) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut line = Line::new(view.state);
    let Some((lane, head)) = start_in_order(&mut line, &mut view, &mut plan) else {
        return plan;
    };
    if !something_fits(&view) {
        return plan;
    }
    let mut reservation = Reservation::make(&view, head, &plan, Overrun::GoesOn);
    line.pass_over(lane, head);
    while let Some((lane, rank, placement)) = reservation.next_to_start(&view, &mut line) {
        let task = &view.state.tasks[&rank.task];
        reservation.admit(&task.spec.request, &placement, Estimate::of(task));
        view.assume_start(&task.spec.request, &placement);
        plan.start(rank.task, placement);
        line.start(lane, rank, &task.spec.request);
    }
    plan
}

/// Working out a reservation looks at all that runs: not worth it when nobody could overtake.
fn something_fits(view: &View<'_>) -> bool {
    view.state.queue().requests().any(|(request, _)| view.place(request).is_some())
}

/// Who has the reservation right now and when it begins, for explanations.
pub(super) fn reservation(state: &State, now: Time) -> Option<(Rank, Option<Time>)> {
    let mut view = View::new(state, now);
    let mut plan = Plan::default();
    let (_, head) = start_in_order(&mut Line::new(state), &mut view, &mut plan)?;
    Some((head, Reservation::make(&view, head, &plan, Overrun::GoesOn).begins_at))
}

/// The start that is kept free for the head of the queue.
pub(super) struct Reservation<'a> {
    head: &'a Request,
    /// When enough runs have ended; `None` when nobody knows.
    pub(super) begins_at: Option<Time>,
    /// The resources as they will be then.
    then: View<'a>,
    /// What runs at most this long is out of the way in time.
    longest: Estimate,
}

impl<'a> Reservation<'a> {
    pub(super) fn make(
        view: &View<'a>,
        head: Rank,
        plan: &Plan,
        overrun: Overrun,
    ) -> Reservation<'a> {
        let (state, now) = (view.state, view.now);
        let head = &state.tasks[&head.task].spec.request;
        let mut then = view.clone();
        let soonest = now + OVERDUE;
        let mut releases = releases(state, plan, now, overrun).peekable();
        let mut begins_at = None;
        while let Some((at, release)) = releases.next() {
            match release {
                Release::Run(run) => then.assume_end(run),
                Release::Planned(request, placement) => then.assume_end_of(request, placement),
            }
            let at = at.max(soonest);
            let more_at_once = releases.peek().is_some_and(|(next, _)| (*next).max(soonest) == at);
            if !more_at_once && then.place(head).is_some() {
                begins_at = Some(at);
                break;
            }
        }
        if mutated(Mutant::HeadNeverReserved) {
            begins_at = None;
        }
        let longest = begins_at.map_or(Estimate::UNKNOWN, |at| Estimate(at.since(now).0));
        Reservation { head, begins_at, then, longest }
    }

    /// The next in line that can start now without delaying the head.
    fn next_to_start(
        &mut self,
        view: &View<'a>,
        line: &mut Line<'a>,
    ) -> Option<(Lane, Rank, Placement)> {
        let mut startable: Vec<(&Request, Placement, Estimate)> = Vec::new();
        for (request, alike) in view.state.queue().requests() {
            let Some(placement) = view.place(request) else {
                continue;
            };
            let longest = self.longest_for(request, &placement);
            if alike.shortest().is_some_and(|shortest| shortest <= longest) {
                startable.push((request, placement, longest));
            }
        }
        if startable.is_empty() {
            return None;
        }
        while let Some(lane) = line.first() {
            let next = startable.iter().filter_map(|(request, placement, longest)| {
                Some((line.next_alike(lane, request, *longest)?, placement))
            });
            if let Some((rank, placement)) = next.min_by_key(|(rank, _)| *rank) {
                return Some((lane, rank, placement.clone()));
            }
            line.close(lane);
        }
        None
    }

    /// How long such a one may run if it starts now.
    pub(super) fn longest_for(&mut self, request: &Request, placement: &Placement) -> Estimate {
        if self.leaves_room(request, placement) { Estimate::UNKNOWN } else { self.longest }
    }

    /// Whether the head still fits at its time if this keeps its GPUs beyond it.
    fn leaves_room(&mut self, request: &Request, placement: &Placement) -> bool {
        if self.begins_at.is_none() {
            return true;
        }
        self.then.assume_start(request, placement);
        let fits = self.then.place(self.head).is_some();
        self.then.undo();
        fits
    }

    pub(super) fn admit(&mut self, request: &Request, placement: &Placement, estimate: Estimate) {
        if estimate > self.longest {
            self.then.assume_start(request, placement);
        }
    }
}

/// What will be given back.
enum Release<'a> {
    Run(RunId),
    /// By a start of this very pass.
    Planned(&'a Request, &'a Placement),
}

/// Soonest first; what nobody can estimate is left out.
fn releases<'a>(
    state: &'a State,
    plan: &'a Plan,
    now: Time,
    overrun: Overrun,
) -> impl Iterator<Item = (Time, Release<'a>)> {
    let mut planned: Vec<_> = plan
        .starts()
        .filter_map(|(task, placement)| {
            let task = &state.tasks[&task];
            let end = now + state.expected_from_now(task)?;
            Some((end, Release::Planned(&task.spec.request, placement)))
        })
        .collect();
    planned.sort_by_key(|(end, _)| *end);
    let mut planned = planned.into_iter().peekable();
    let running = expected_ends(state, now, overrun).map(|(at, run)| (at, Release::Run(run)));
    let mut running = running.peekable();
    std::iter::from_fn(move || match (planned.peek(), running.peek()) {
        (Some((end, _)), Some((at, _))) if end < at => planned.next(),
        (_, Some(_)) => running.next(),
        _ => planned.next(),
    })
}
