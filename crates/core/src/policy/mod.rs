//! Who starts next: an order, and what may overtake its head. Policies propose; `plan` verifies.

pub(crate) mod auto;
mod backfill_easy;
mod backfill_none;
mod backfill_skip;
pub(crate) mod balance;
mod ends;
mod fifo;
mod las;
mod line;
mod preempt;
mod sjf;
mod srtf;
mod standing;

use crate::plan::Plan;
use crate::queue::{Lane, Rank};
use crate::run::{Run, RunState};
use crate::settings::{Backfill, Order, Settings};
use crate::state::State;
use crate::task::Task;
use crate::time::{Span, Time};
use crate::view::View;

pub(crate) use ends::{Overrun, expected_ends};
pub(crate) use line::Line;
pub(crate) use standing::Standing;

/// What should start and stop now.
pub fn plan(state: &State, now: Time) -> Plan {
    if state.queue().is_empty() {
        return Plan::default();
    }
    let view = View::new(state, now);
    let settings = state.settings();
    match settings.backfill {
        _ if settings.order.is_preemptive() => preempt::plan(view),
        _ if settings.order == Order::Auto => auto::plan(view),
        Backfill::None => backfill_none::plan(view),
        Backfill::Skip => backfill_skip::plan(view),
        Backfill::Easy => backfill_easy::plan(view),
    }
}

/// Who has the reservation right now and when it begins, for explanations.
pub(crate) fn reservation(state: &State, now: Time) -> Option<(Rank, Option<Time>)> {
    match state.settings().order {
        Order::Auto => auto::reservation(state, now),
        _ => backfill_easy::reservation(state, now),
    }
}

/// Whom a task takes turns with.
pub(crate) fn lane(task: &Task, settings: &Settings) -> Lane {
    if settings.order.is_by_user() { Lane::User(task.owner) } else { Lane::Everybody }
}

/// A queued task's place in its lane. It depends on nothing that changes while the task waits.
pub(crate) fn rank(task: &Task, settings: &Settings) -> Rank {
    let key = match settings.order {
        Order::Balance if settings.auto_inside => auto::key(task),
        Order::Fifo | Order::Balance => fifo::key(),
        Order::Auto => auto::key(task),
        Order::Sjf => sjf::key(task),
        Order::Srtf => srtf::key(task, Span::ZERO),
        Order::Las => las::key(task, Span::ZERO, settings.las_threshold),
    };
    if settings.order.is_by_user() { Rank::of(task, key) } else { Rank::between_all(task, key) }
}

/// The place that a running task would have now.
pub(crate) fn rank_running(task: &Task, run: &Run, settings: &Settings, now: Time) -> Rank {
    let ran = now.since(run.launched_at);
    let key = match settings.order {
        Order::Balance if settings.auto_inside => auto::key(task),
        Order::Fifo | Order::Balance => fifo::key(),
        Order::Auto => auto::key(task),
        Order::Sjf => sjf::key(task),
        Order::Srtf => srtf::key(task, ran),
        Order::Las => las::key(task, ran, settings.las_threshold),
    };
    Rank::between_all(task, key)
}

/// The next instant at which a plan may be different although nothing has happened.
pub(crate) fn wake_at(state: &State, now: Time) -> Option<Time> {
    let settings = state.settings();
    if !settings.order.is_preemptive() || state.queue().is_empty() {
        return None;
    }
    if settings.order == Order::Srtf && settings.min_run_before_preemption == Span::ZERO {
        return None;
    }
    let candidates = state.active_runs().filter(|run| is_preemptible(state, run));
    let instants = candidates.flat_map(|run| {
        let old_enough = run.launched_at + settings.min_run_before_preemption;
        let demoted = match settings.order {
            Order::Las => las::demoted_at(&state.tasks[&run.task], run, settings.las_threshold),
            _ => None,
        };
        [Some(old_enough), demoted].into_iter().flatten()
    });
    instants.filter(|at| *at > now).min()
}

fn is_preemptible(state: &State, run: &Run) -> bool {
    let moving = matches!(run.state, RunState::Starting | RunState::Running { .. });
    moving && state.tasks[&run.task].spec.preemptible
}
