//! When a task may start, if everything takes as long as it is believed to.

use crate::ids::{RunId, TaskId, UserId};
use crate::input::Actor;
use crate::policy;
use crate::queue::{Estimate, Rank};
use crate::refusal::Refusal;
use crate::resources::{Placement, Request};
use crate::state::State;
use crate::steps::submit;
use crate::task::{TaskSpec, TaskState};
use crate::time::{Span, Time};
use crate::view::View;
use std::collections::BTreeMap;

/// Tasks before it in the queue that are looked at. With more nobody can tell.
const MOST_BEFORE: usize = 1_000;

/// Where and when something would start.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Forecast {
    /// `None` when nobody knows: it is held, or something before it has no time limit.
    pub starts_at: Option<Time>,
    /// Where, if it is now.
    pub placement: Option<Placement>,
}

/// Of a queued task: when its turn comes at the latest, as far as time limits tell.
pub fn expected_start(state: &State, id: TaskId, now: Time) -> Option<Time> {
    let task = state.tasks.get(&id).filter(|task| task.is_queued())?;
    let rank = policy::rank(task, state.settings());
    let starts_at = forecast(state, &task.spec.request, |other| other < rank, now).starts_at?;
    Some(task.not_before.map_or(starts_at, |earliest| earliest.max(starts_at)))
}

/// What would happen to a new task: refused, or started there and then.
pub fn dry_run(state: &State, by: UserId, spec: &TaskSpec, now: Time) -> Result<Forecast, Refusal> {
    submit::check_new(state, Actor::User(by), spec, None)?;
    let waits_for = |after: &crate::task::Dependency| {
        let task = state.tasks.get(&after.task);
        task.is_some_and(|task| !matches!(task.state, TaskState::Finished { .. }))
    };
    if spec.hold || spec.after.iter().any(waits_for) {
        return Ok(Forecast::default());
    }
    let earlier = |other: Rank| (other.not_urgent, other.priority) <= (!spec.urgent, spec.priority);
    let forecast = forecast(state, &spec.request, earlier, now);
    match spec.begin.filter(|begin| *begin > now) {
        None => Ok(forecast),
        Some(begin) => {
            let starts_at = forecast.starts_at.map(|at| at.max(begin));
            Ok(Forecast { starts_at, placement: None })
        }
    }
}

/// Everything before it starts in order, and none before its turn: with backfilling it may be earlier.
fn forecast(
    state: &State,
    request: &Request,
    is_before: impl Fn(Rank) -> bool,
    now: Time,
) -> Forecast {
    let mut before: Vec<Rank> =
        state.queue().iter().filter(|rank| is_before(*rank)).take(MOST_BEFORE + 1).collect();
    if before.len() > MOST_BEFORE || state.settings().order.is_preemptive() {
        return Forecast::default();
    }
    let mut future = Future::new(state, now);
    before.retain(|rank| future.view.fits_when_idle(&state.tasks[&rank.task].spec.request));
    for rank in before {
        let task = &state.tasks[&rank.task];
        let Some(placement) = future.wait_for(&task.spec.request) else {
            return Forecast::default();
        };
        future.start(&task.spec.request, placement, Estimate::of(task));
    }
    let Some(placement) = future.wait_for(request) else { return Forecast::default() };
    let starts_at = future.now;
    Forecast { starts_at: Some(starts_at), placement: (starts_at == now).then_some(placement) }
}

/// The machines as they will be, one end after the other.
struct Future<'a> {
    view: View<'a>,
    now: Time,
    ends: BTreeMap<(Time, usize), End>,
}

enum End {
    Run(RunId),
    Assumed(Request, Placement),
}

impl<'a> Future<'a> {
    fn new(state: &'a State, now: Time) -> Future<'a> {
        let known = state.index.releases.iter().enumerate();
        // What is overdue ends at any moment.
        let soon = now + Span(1);
        let ends = known.map(|(number, (at, run))| (((*at).max(soon), number), End::Run(*run)));
        Future { view: View::new(state, now), now, ends: ends.collect() }
    }

    /// The first place for it, at the time it has come to then; `None` if there is never one that is known of.
    fn wait_for(&mut self, request: &Request) -> Option<Placement> {
        loop {
            if let Some(placement) = self.view.place(request) {
                return Some(placement);
            }
            let ((at, _), end) = self.ends.pop_first()?;
            self.now = self.now.max(at);
            match end {
                End::Run(run) => self.view.assume_end(run),
                End::Assumed(request, placement) => self.view.assume_end_of(&request, &placement),
            }
        }
    }

    fn start(&mut self, request: &Request, placement: Placement, estimate: Estimate) {
        self.view.assume_start(request, &placement);
        if estimate != Estimate::UNKNOWN {
            let number = self.ends.len() + self.view.state.index.releases.len();
            let mut key = (self.now + Span(estimate.0), number);
            while self.ends.contains_key(&key) {
                key.1 += 1;
            }
            self.ends.insert(key, End::Assumed(request.clone(), placement));
        }
    }
}
