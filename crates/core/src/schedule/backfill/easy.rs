//! EASY backfilling: the first task that cannot start gets a reservation; later ones may start if they do not delay it.

use super::none::start_in_order;
use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::RunId;
use crate::model::resources::{Placement, Request};
use crate::model::task::Task;
use crate::model::time::Time;
use crate::schedule::expected_ends::{OVERDUE, Overrun, expected_ends};
use crate::schedule::plan::Plan;
use crate::schedule::queue::{Estimate, Kind, Lane, Rank};
use crate::schedule::starvation;
use crate::schedule::turn::cursor::TurnCursor;
use crate::schedule::view::View;
use crate::state::State;

pub(crate) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let mut cursor = TurnCursor::new(view.state, view.now);
    let Some(mut reservation) = start_until_reserved(&mut cursor, &mut view, &mut plan) else {
        return plan;
    };
    while let Some((lane, rank, placement)) = reservation.next_to_start(&view, &mut cursor) {
        let task = &view.state.tasks[&rank.task];
        let estimate = Estimate::of(task);
        let placement = reservation.larger_place(&view, task, estimate).unwrap_or(placement);
        reservation.admit(&task.spec.request, &placement, estimate);
        view.assume_start(&task.spec.request, &placement);
        plan.start(rank.task, placement);
        cursor.start(lane, rank);
    }
    plan
}

/// A starving task gets the reservation if it is known when there will be room, otherwise all GPUs that become free.
/// Next comes the first task in the queue that has to wait.
fn start_until_reserved<'a>(
    cursor: &mut TurnCursor<'a>,
    view: &mut View<'a>,
    plan: &mut Plan,
) -> Option<Reservation<'a>> {
    if let Some((lane, rank)) = starvation::first(view, cursor)
        && !starvation::start(cursor, view, plan, lane, rank)
    {
        let reservation = Reservation::make(view, rank, plan, Overrun::GoesOn);
        // Predicted ends are guesses: they have let others overtake for long enough.
        if reservation.begins_at.is_some() && !view.state.settings().predictions {
            view.set_named_aside(reservation.head);
            return Some(reservation);
        }
        view.set_place_aside(reservation.head);
    }
    let (lane, head) = start_in_order(cursor, view, plan)?;
    cursor.pass_over(lane, head);
    let reservation =
        something_fits(view).then(|| Reservation::make(view, head, plan, Overrun::GoesOn))?;
    // Keep the free ones of the GPUs that it names: while another run holds one of them it blocks no task, so others
    // would take the rest each time, and it could starve.
    view.set_named_aside(reservation.head);
    Some(reservation)
}

/// Computing a reservation visits every run: skip it if no task could overtake.
fn something_fits(view: &View<'_>) -> bool {
    let mut requests = view.state.queue().kinds().map(|(kind, _)| &kind.request);
    requests.any(|request| view.place(request).is_some())
}

/// The task that has the reservation now, and when it begins, for explanations.
pub(crate) fn reservation(state: &State, now: Time) -> Option<(Rank, Option<Time>)> {
    let mut view = View::new(state, now);
    let mut plan = Plan::default();
    let mut cursor = TurnCursor::new(state, now);
    let starving = starvation::first(&view, &cursor)
        .filter(|(_, rank)| view.place(&state.tasks[&rank.task].spec.request).is_none());
    let (_, head) = match starving {
        Some(starving) => starving,
        None => start_in_order(&mut cursor, &mut view, &mut plan)?,
    };
    Some((head, Reservation::make(&view, head, &plan, Overrun::GoesOn).begins_at))
}

/// The start that is kept free for the head of the queue.
pub(crate) struct Reservation<'a> {
    pub(crate) head: &'a Request,
    /// When enough runs will have ended; `None` if unknown.
    pub(crate) begins_at: Option<Time>,
    /// The resources as they will be then.
    then: View<'a>,
    /// Tasks that run at most this long end before the reservation begins.
    longest: Estimate,
}

impl<'a> Reservation<'a> {
    pub(crate) fn make(
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
        cursor: &mut TurnCursor<'a>,
    ) -> Option<(Lane, Rank, Placement)> {
        let mut startable: Vec<(&Kind, Placement, Estimate)> = Vec::new();
        // Kinds that ask for the same follow each other.
        let mut known: Option<(&Request, Option<(Placement, Estimate)>)> = None;
        for (kind, alike) in view.state.queue().kinds() {
            let request = &*kind.request;
            let (_, place) = match known.take_if(|(of, _)| *of == request) {
                Some(known) => known,
                None => (request, self.place(view, request)),
            };
            if let Some((placement, longest)) = &place
                && alike.shortest().is_some_and(|shortest| shortest <= *longest)
            {
                startable.push((kind, placement.clone(), *longest));
            }
            known = Some((request, place));
        }
        if startable.is_empty() {
            return None;
        }
        while let Some(lane) = cursor.first() {
            let next = startable.iter().filter_map(|(kind, placement, longest)| {
                Some((cursor.next_alike(lane, kind, *longest)?, placement))
            });
            if let Some((rank, placement)) = next.min_by_key(|(rank, _)| *rank) {
                return Some((lane, rank, placement.clone()));
            }
            cursor.close(lane);
        }
        None
    }

    /// Where it would start now, and how long it may take there at most.
    fn place(&mut self, view: &View<'a>, request: &Request) -> Option<(Placement, Estimate)> {
        let placement = view.place(request)?;
        let longest = self.longest_for(request, &placement);
        Some((placement, longest))
    }

    /// Larger GPUs for one that has failed for lack of GPU memory, if that does not delay the head.
    pub(crate) fn larger_place(
        &mut self,
        view: &View<'a>,
        task: &Task,
        estimate: Estimate,
    ) -> Option<Placement> {
        let placement = view.place_on_larger(task)?;
        let longest = self.longest_for(&task.spec.request, &placement);
        (estimate <= longest).then_some(placement)
    }

    /// How long such a one may run if it starts now.
    pub(crate) fn longest_for(&mut self, request: &Request, placement: &Placement) -> Estimate {
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

    pub(crate) fn admit(&mut self, request: &Request, placement: &Placement, estimate: Estimate) {
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

/// Soonest first; runs without an estimate are left out.
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
