//! When runs are expected to end.

use crate::model::ids::RunId;
use crate::model::time::{Span, Time};
use crate::state::State;

/// An overdue run is expected to end this much from now, again and again.
pub(super) const OVERDUE: Span = Span::from_secs(1);

/// The assumption about a run that has exceeded its estimate and has no stated run time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Overrun {
    /// As long again as it has run.
    GoesOn,
    /// A tenth of that: it ends soon.
    EndsSoon,
}

/// Soonest first; runs without an estimate are left out.
pub(crate) fn expected_ends(
    state: &State,
    now: Time,
    overrun: Overrun,
) -> impl Iterator<Item = (Time, RunId)> {
    let part = match overrun {
        Overrun::GoesOn => 1,
        Overrun::EndsSoon => 10,
    };
    let is_overrun = move |at: Time, run: RunId| {
        let run = &state.runs[&run];
        at <= now && !run.is_stopping() && state.tasks[&run.task].is_guessed()
    };
    let overdue = state.index.releases.iter().take_while(move |(at, _)| *at <= now);
    let overrun = overdue.filter(move |(at, run)| is_overrun(*at, *run));
    let mut overrun: Vec<(Time, RunId)> = overrun
        .map(|(_, run)| {
            let ran = now.since(state.runs[run].launched_at);
            (now + OVERDUE.max(Span(ran.0 / part)), *run)
        })
        .collect();
    overrun.sort_unstable();
    let mut overrun = overrun.into_iter().peekable();
    let known = state.index.releases.iter().copied();
    let mut known = known.filter(move |(at, run)| !is_overrun(*at, *run)).peekable();
    std::iter::from_fn(move || match (overrun.peek(), known.peek()) {
        (Some(guessed), Some(known_end)) if guessed < known_end => overrun.next(),
        (_, Some(_)) => known.next(),
        _ => overrun.next(),
    })
}
