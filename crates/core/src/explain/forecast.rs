//! Predicts when a task starts, assuming that every run takes as long as expected.

use crate::explain::why;
use crate::model::ids::{RunId, TaskId, UserId};
use crate::model::resources::{Part, Placement, Request};
use crate::model::shared::Shared;
use crate::model::task::{Task, TaskSpec, TaskState};
use crate::model::time::{Span, Time};
use crate::schedule::queue::{Estimate, Rank};
use crate::schedule::view::View;
use crate::schedule::{self, Overrun, TurnCursor};
use crate::state::State;
use crate::step::input::Input;
use crate::step::refusal::Refusal;
use crate::step::step;
use crate::step::submit;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Tasks before it in the queue that are simulated. With more there is no forecast.
const MOST_BEFORE: usize = 1_000;

const FEW_BEFORE: usize = 32;
const FEW_RUNS: usize = 256;

/// Where and when something would start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forecast {
    /// `None` if unknown: it is held, or a task before it has no time limit.
    pub starts_at: Option<Time>,
    /// Where, if it is now.
    pub placement: Option<Placement>,
}

/// The latest start of a queued task according to time limits.
pub fn expected_start(state: &State, id: TaskId, now: Time) -> Option<Time> {
    let task = state.tasks.get(&id).filter(|task| task.is_queued())?;
    let settings = state.settings();
    let rank = schedule::rank(task, settings);
    let cursor = match state.queue().contains(task, settings) {
        true => TurnCursor::new(state, now),
        false => TurnCursor::with_guest(state, now, schedule::lane(task, settings), rank),
    };
    let starts_at = forecast(state, cursor, rank, &task.spec.request, now).starts_at?;
    Some(task.trail().not_before.map_or(starts_at, |earliest| earliest.max(starts_at)))
}

/// The same where it is cheap enough not to slow down a submit.
pub(crate) fn start_at_once_told(state: &State, id: TaskId, now: Time) -> Option<Time> {
    let short = state.queue().len() <= FEW_BEFORE && state.index.held.len() <= FEW_RUNS;
    if short { expected_start(state, id, now) } else { None }
}

/// What would happen to a new task: refused, or started there and then.
pub fn dry_run(state: &State, by: UserId, spec: &TaskSpec, now: Time) -> Result<Forecast, Refusal> {
    submit::check_new(state, by, spec, None, now)?;
    let waits_for = |after: &crate::model::task::Dependency| {
        let task = state.tasks.get(&after.task);
        task.is_some_and(|task| !matches!(task.state, TaskState::Finished { .. }))
    };
    if spec.hold || spec.after.iter().any(waits_for) {
        return Ok(Forecast::default());
    }
    if let Some(placement) = rehearsal(state, by, spec, now) {
        let starts_at = placement.is_some().then_some(now);
        let later = || later(state, by, spec, now).filter(|at| *at > now);
        return Ok(Forecast { starts_at: starts_at.or_else(later), placement });
    }
    let starts_at = later(state, by, spec, now);
    Ok(Forecast { starts_at, placement: None })
}

/// Where it starts at once, tried out on a copy; `None` where there is too much to copy.
fn rehearsal(state: &State, by: UserId, spec: &TaskSpec, now: Time) -> Option<Option<Placement>> {
    let named = |task: &Task| spec.after.iter().any(|after| after.task == task.id);
    let mut copy = why::copy(state, |task| !task.is_finished() || named(task))?;
    let id = copy.ledger.next_task;
    step(&mut copy, Input::Submit { by, spec: spec.clone(), key: None }, now);
    step(&mut copy, Input::Schedule, now);
    let TaskState::Active { run } = copy.tasks.get(&id)?.state else { return Some(None) };
    let parts = copy.held_by(run).iter().map(|hold| Part { node: hold.node, gpus: hold.gpus });
    Some(Some(Placement { parts: parts.collect() }))
}

/// When its turn comes at the latest.
fn later(state: &State, by: UserId, spec: &TaskSpec, now: Time) -> Option<Time> {
    let mut task = submit::new_task(state, by, &Arc::new(spec.clone()), now);
    task.predicted = state.predict(&task);
    let (lane, rank) =
        (schedule::lane(&task, state.settings()), schedule::rank(&task, state.settings()));
    let forecast =
        forecast(state, TurnCursor::with_guest(state, now, lane, rank), rank, &spec.request, now);
    let starts_at = forecast.starts_at?;
    Some(spec.begin.map_or(starts_at, |begin| begin.max(starts_at)))
}

/// Everything before it starts in order, and none before its turn: with backfilling it may be earlier.
fn forecast<'a>(
    state: &'a State,
    mut cursor: TurnCursor<'a>,
    wanted: Rank,
    request: &'a Shared<Request>,
    now: Time,
) -> Forecast {
    if state.settings().order.is_preemptive() || state.settings().queue_paused {
        return Forecast::default();
    }
    let mut future = Future::new(state, now);
    let mut before = 0;
    while let Some(lane) = cursor.first() {
        let Some(rank) = cursor.next_in(lane) else {
            cursor.close(lane);
            continue;
        };
        let task = state.tasks.get(&rank.task).filter(|_| rank != wanted);
        let asked = task.map_or(request, |task| &task.spec.request);
        if let Some(task) = task
            && !future.view.fits_when_idle(asked)
        {
            cursor.drop_request(&task.spec.request);
            continue;
        }
        // Whose turn it is may be different after an end.
        let Some(placement) = future.view.place(asked) else {
            // A task that waits for GPUs does not block tasks without GPUs.
            if request.gpus == 0 && asked.gpus > 0 {
                cursor.drop_request(asked);
                continue;
            }
            if future.next_end(&mut cursor) {
                continue;
            }
            break;
        };
        let Some(task) = task else {
            let starts_at = future.now;
            let placement = (starts_at == now).then_some(placement);
            return Forecast { starts_at: Some(starts_at), placement };
        };
        before += 1;
        if before > MOST_BEFORE {
            break;
        }
        cursor.start(lane, rank);
        future.start(task, placement);
    }
    Forecast::default()
}

/// The machines as they will be, one end after the other.
struct Future<'a> {
    view: View<'a>,
    now: Time,
    ends: BTreeMap<(Time, usize), End<'a>>,
}

enum End<'a> {
    Run(RunId),
    Assumed(&'a Task, Placement),
}

impl<'a> Future<'a> {
    fn new(state: &'a State, now: Time) -> Future<'a> {
        let known = schedule::expected_ends(state, now, Overrun::GoesOn).enumerate();
        // What is overdue ends at any moment.
        let soon = now + Span(1);
        let ends = known.map(|(number, (at, run))| ((at.max(soon), number), End::Run(run)));
        Future { view: View::new(state, now), now, ends: ends.collect() }
    }

    /// Everything that ends next has ended; `false` if nothing is known to end.
    fn next_end(&mut self, cursor: &mut TurnCursor<'a>) -> bool {
        let Some(((at, _), _)) = self.ends.first_key_value() else { return false };
        let at = *at;
        self.now = self.now.max(at);
        while let Some(entry) = self.ends.first_entry()
            && entry.key().0 == at
        {
            let state = self.view.state;
            let task = match entry.remove() {
                End::Run(run) => {
                    self.view.assume_end(run);
                    &state.tasks[&state.runs[&run].task]
                }
                End::Assumed(task, placement) => {
                    self.view.assume_end_of(&task.spec.request, &placement);
                    task
                }
            };
            cursor.end(task.owner, &task.spec.request);
        }
        true
    }

    fn start(&mut self, task: &'a Task, placement: Placement) {
        self.view.assume_start(&task.spec.request, &placement);
        let estimate = Estimate::of(task);
        if estimate != Estimate::UNKNOWN {
            let number = self.ends.len() + self.view.state.index.releases.len();
            let mut key = (self.now + Span(estimate.0), number);
            while self.ends.contains_key(&key) {
                key.1 += 1;
            }
            self.ends.insert(key, End::Assumed(task, placement));
        }
    }
}
