//! What starts next: an order, and a backfill rule for what may overtake its head. Policies propose; `plan` verifies.

pub(crate) mod auto;
mod backfill;
pub(crate) mod duration_estimate;
mod expected_ends;
pub(crate) mod memory_estimate;
pub(crate) mod order;
pub(crate) mod packed_set;
pub mod plan;
pub mod pool;
mod preempt;
pub mod queue;
pub mod quota;
mod starvation;
pub mod turn;
pub mod view;

use crate::model::run::{Run, RunState};
use crate::model::settings::{Backfill, Order, Settings};
use crate::model::task::Task;
use crate::model::time::{Span, Time};
use crate::schedule::plan::Plan;
use crate::schedule::pool::Thresholds;
use crate::schedule::queue::{Kind, Lane, Rank};
use crate::schedule::view::View;
use crate::state::State;

pub(crate) use expected_ends::{Overrun, expected_ends};
pub(crate) use turn::cursor::TurnCursor;
pub(crate) use turn::key::TurnKey;

/// The decisions of one scheduling pass.
pub fn plan(state: &State, now: Time) -> Plan {
    let settings = state.settings();
    let hopeless = !settings.order.is_preemptive() && !has_room_for_anybody(state);
    if state.queue().is_empty() || hopeless {
        return Plan::default();
    }
    let view = View::new(state, now);
    if settings.order.is_preemptive() {
        return preempt::plan(view);
    }
    if settings.order == Order::Auto {
        return auto::plan(view);
    }
    match settings.backfill {
        Backfill::None => backfill::none::plan(view),
        Backfill::Skip => backfill::skip::plan(view),
        Backfill::Easy => backfill::easy::plan(view),
    }
}

/// Without room for any request there is nothing to plan. Checked once for each distinct request.
fn has_room_for_anybody(state: &State) -> bool {
    let ground = state.ground(Thresholds::All);
    let mut kinds = state.queue().kinds();
    kinds.any(|(kind, _)| state.pool().place(&kind.request, &ground).is_some())
}

/// The task that has the reservation now, and when it begins, for explanations.
pub(crate) fn reservation(state: &State, now: Time) -> Option<(Rank, Option<Time>)> {
    if state.settings().order == Order::Auto {
        return auto::reservation(state, now);
    }
    match state.settings().backfill {
        Backfill::None => backfill::none::head(state, now).map(|head| (head, None)),
        Backfill::Skip | Backfill::Easy => backfill::easy::reservation(state, now),
    }
}

/// The lane of a task.
pub(crate) fn lane(task: &Task, settings: &Settings) -> Lane {
    if is_by_user(settings) { Lane::User(task.owner) } else { Lane::Everybody }
}

/// A user who has reached their quota must not block other users.
pub(crate) fn is_by_user(settings: &Settings) -> bool {
    let stepped_over = settings.quota.limits_users() && !settings.order.is_preemptive();
    settings.order.is_by_user() || stepped_over
}

pub(crate) fn kind(task: &Task, settings: &Settings) -> Kind {
    let project = task.spec.project.as_ref();
    let project = project.filter(|project| settings.quota.project.contains_key(*project));
    Kind { request: task.spec.request.clone(), project: project.cloned() }
}

/// A queued task's place in its lane. It depends on nothing that changes while the task waits.
pub(crate) fn rank(task: &Task, settings: &Settings) -> Rank {
    let key = match settings.order {
        Order::Balance | Order::Fair if settings.auto_inside => auto::key(task),
        Order::Fifo | Order::Balance | Order::Fair => order::fifo::key(),
        Order::Auto => auto::key(task),
        Order::Sjf => order::sjf::key(task),
        Order::Srtf => order::srtf::key(task, Span::ZERO),
        Order::Las => order::las::key(task, Span::ZERO, settings.las_threshold),
    };
    if settings.order.is_by_user() { Rank::of(task, key) } else { Rank::between_all(task, key) }
}

/// The place that a running task would have now.
pub(crate) fn rank_running(task: &Task, run: &Run, settings: &Settings, now: Time) -> Rank {
    let ran = now.since(run.launched_at);
    let key = match settings.order {
        Order::Balance | Order::Fair if settings.auto_inside => auto::key(task),
        Order::Fifo | Order::Balance | Order::Fair => order::fifo::key(),
        Order::Auto => auto::key(task),
        Order::Sjf => order::sjf::key(task),
        Order::Srtf => order::srtf::key(task, ran),
        Order::Las => order::las::key(task, ran, settings.las_threshold),
    };
    Rank::between_all(task, key)
}

/// The next time at which a plan may differ although no input has arrived.
pub(crate) fn wake_at(state: &State, now: Time) -> Option<Time> {
    let settings = state.settings();
    let period = settings.quota.period;
    let new_period = settings.quota.limits_hours().then(|| now.next_multiple(period));
    let new_period = new_period.filter(|_| !state.queue().is_empty());
    let preempts = wake_to_preempt(state, now);
    [new_period, preempts].into_iter().flatten().filter(|at| *at > now).min()
}

fn wake_to_preempt(state: &State, now: Time) -> Option<Time> {
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
            Order::Las => {
                order::las::demoted_at(&state.tasks[&run.task], run, settings.las_threshold)
            }
            Order::Balance | Order::Fair | Order::Fifo | Order::Auto | Order::Sjf | Order::Srtf => {
                None
            }
        };
        [Some(old_enough), demoted].into_iter().flatten()
    });
    instants.filter(|at| *at > now).min()
}

fn is_preemptible(state: &State, run: &Run) -> bool {
    let moving = matches!(run.state, RunState::Starting | RunState::Running { .. });
    moving && state.tasks[&run.task].spec.preemptible
}
