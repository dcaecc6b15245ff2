//! The order `auto`, for labs without time limits: run times are predicted from ended tasks.
//!
//! A task's turn comes some time after its submission: later the longer it is expected to run and the more GPUs it
//! needs. Any task that fits may start, except that GPUs are reserved for a task that has waited many times its
//! expected run time.

pub(crate) mod batches;

use super::backfill::easy::Reservation;
use super::expected_ends::Overrun;
use crate::model::ids::UserId;
use crate::model::number::logarithm::Logarithm;
use crate::model::resources::Placement;
use crate::model::task::Task;
use crate::model::time::{Span, Time};
use crate::schedule::auto::batches::{BatchCandidate, BatchCursor, Record};
use crate::schedule::plan::Plan;
use crate::schedule::queue::{Estimate, Kind, Rank};
use crate::schedule::quota::{self, Excess, Limit, Load, Party};
use crate::schedule::view::View;
use crate::state::State;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How many times its expected run time on one GPU a task waits for its turn.
const PATIENCE: u64 = 8;
/// A task submitted this much later never goes first.
const LATEST_TURN: Span = Span::from_secs(7 * 86_400);
/// GPUs are reserved for a task that has waited this many times its expected run time …
const RIPE: u64 = 20;
/// … or for this long.
const LONGEST_UNRIPE: Span = Span::from_secs(4 * 86_400);
/// The expected run time without any ended task.
const UNHEARD_OF: Span = Span::from_secs(3_600);

/// The prediction made when a task was queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Prior {
    predicted: Span,
    limit: Option<Span>,
}

impl Prior {
    pub(crate) fn of(task: &Task) -> Prior {
        Prior { predicted: task.predicted.unwrap_or(UNHEARD_OF), limit: task.spec.time_limit }
    }

    /// … corrected by the ended tasks of its batch.
    pub(crate) fn with(self, record: Record) -> Span {
        let sum = record.sum.saturating_add(Logarithm::of(self.predicted).0);
        let mean = Logarithm::mean(sum, record.ended + 1).map_or(self.predicted, Logarithm::span);
        self.limit.map_or(mean, |limit| mean.min(limit))
    }
}

/// The rank by submission alone.
pub(crate) fn by_submission(task: &Task) -> Rank {
    Rank::between_all(task, task.submitted_at.0)
}

/// What is known when a task is queued decides for as long as it waits: where the batch does not count.
pub(crate) fn key(task: &Task) -> i64 {
    let expected = Prior::of(task).with(Record::default());
    let known = Record { started: 1, ..Record::default() };
    task.submitted_at.0.saturating_add(delay(expected, task.spec.request.gpus, known))
}

/// How long after its submission a task has its turn. The first tasks of a batch come sooner: they predict the rest.
pub(crate) fn delay(expected: Span, gpus: u32, record: Record) -> i64 {
    // The square root of the GPUs in 256ths.
    let width = u128::from((u64::from(gpus.max(1)) << 16).isqrt());
    let delay = (u128::from(expected.0) * u128::from(PATIENCE) * width) >> 8;
    let delay = if record.started == 0 { delay / 2 } else { delay };
    i64::try_from(delay.min(u128::from(LATEST_TURN.0))).unwrap_or(i64::MAX)
}

pub(crate) fn plan(view: View<'_>) -> Plan {
    let mut pass = Pass::new(view);
    if let Some(head) = pass.start_what_fits() {
        let mut reservation = pass.reserve_for(head);
        pass.view.set_named_aside(reservation.head);
        pass.start_what_does_not_delay(&mut reservation);
    }
    pass.plan
}

/// The task that has the reservation now, and when it begins, for explanations.
pub(crate) fn reservation(state: &State, now: Time) -> Option<(Rank, Option<Time>)> {
    let mut pass = Pass::new(View::new(state, now));
    let head = pass.start_what_fits()?;
    Some((head, pass.reserve_for(head).begins_at))
}

struct Pass<'a> {
    view: View<'a>,
    plan: Plan,
    kinds: Vec<(&'a Kind, BatchCursor<'a>)>,
    /// Those of a kind of which one did not fit need not be tried again.
    closed: Vec<bool>,
    /// What it has started, whose and for what.
    owners: BTreeMap<UserId, Load>,
    projects: BTreeMap<&'a str, Load>,
    stepped_over: SteppedOver,
}

/// Users and projects that have reached their quota: none of their tasks has a turn, or none with GPUs.
#[derive(Debug, Default)]
struct SteppedOver {
    users: BTreeMap<UserId, What>,
    projects: BTreeMap<String, What>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    WithGpus,
    All,
}

impl What {
    fn covers(self, kind: &Kind) -> bool {
        self == What::All || kind.request.gpus > 0
    }
}

impl SteppedOver {
    fn covers_user(&self, owner: UserId, kind: &Kind) -> bool {
        self.users.get(&owner).is_some_and(|what| what.covers(kind))
    }

    fn covers_project(&self, kind: &Kind) -> bool {
        let what = kind.project.as_ref().and_then(|project| self.projects.get(project));
        what.is_some_and(|what| what.covers(kind))
    }

    fn add(&mut self, owner: UserId, excess: Excess) {
        let what = match excess.limit {
            Limit::RunningGpus | Limit::GpuHours => What::WithGpus,
            Limit::RunningTasks | Limit::QueuedTasks | Limit::OpenTasks => What::All,
        };
        let so_far = match excess.whose {
            Party::User(_) => self.users.entry(owner).or_insert(what),
            Party::Project(name) => self.projects.entry(name).or_insert(what),
        };
        *so_far = what.max(*so_far);
    }
}

impl<'a> Pass<'a> {
    fn new(view: View<'a>) -> Pass<'a> {
        let kinds: Vec<_> = view.state.queue().batches().kinds().collect();
        let closed = vec![false; kinds.len()];
        let (owners, projects) = (BTreeMap::new(), BTreeMap::new());
        let (plan, stepped_over) = (Plan::default(), SteppedOver::default());
        Pass { view, plan, kinds, closed, owners, projects, stepped_over }
    }

    fn reserve_for(&self, head: Rank) -> Reservation<'a> {
        Reservation::make(&self.view, head, &self.plan, Overrun::EndsSoon)
    }

    /// In order, until one does not fit for which GPUs are to be kept; answers that one.
    fn start_what_fits(&mut self) -> Option<Rank> {
        let fronts = self.kinds.iter_mut().enumerate();
        let fronts = fronts.filter_map(|(at, (_, cursor))| {
            Some((cursor.first(Estimate::UNKNOWN, |_| false)?, at))
        });
        let mut fronts: BinaryHeap<Reverse<(BatchCandidate, usize)>> =
            fronts.map(Reverse).collect();
        while let Some(Reverse((candidate, at))) = fronts.pop() {
            if self.start(candidate, at) {
                let next = self.first(at, Estimate::UNKNOWN);
                fronts.extend(next.map(|next| Reverse((next, at))));
                continue;
            }
            self.closed[at] = true;
            let request = &self.kinds[at].0.request;
            if !self.is_ripe(candidate.rank) {
                continue;
            }
            if self.view.waits_for_named(request) {
                self.view.set_named_aside(request);
            } else if self.view.fits_when_idle(request) {
                return Some(candidate.rank);
            }
        }
        None
    }

    fn start_what_does_not_delay(&mut self, reservation: &mut Reservation<'a>) {
        while let Some((candidate, at)) = self.next_that_does_not_delay(reservation) {
            if self.steps_over(candidate, at) {
                continue;
            }
            let (request, task) =
                (&self.kinds[at].0.request, &self.view.state.tasks[&candidate.rank.task]);
            let larger = reservation.larger_place(&self.view, task, candidate.estimate);
            let Some(placement) = larger.or_else(|| self.view.place(request)) else { return };
            reservation.admit(request, &placement, candidate.estimate);
            self.start_at(placement, candidate, at);
        }
    }

    fn next_that_does_not_delay(
        &mut self,
        reservation: &mut Reservation<'a>,
    ) -> Option<(BatchCandidate, usize)> {
        let mut best: Option<(BatchCandidate, usize)> = None;
        for at in 0..self.kinds.len() {
            if self.closed[at] {
                continue;
            }
            let request = &self.kinds[at].0.request;
            let Some(placement) = self.view.place(request) else {
                self.closed[at] = true;
                continue;
            };
            let longest = reservation.longest_for(request, &placement);
            let first = self.first(at, longest).map(|candidate| (candidate, at));
            best = best.into_iter().chain(first).min();
        }
        best
    }

    /// The next of a kind that may have a turn.
    fn first(&mut self, at: usize, longest: Estimate) -> Option<BatchCandidate> {
        let (kind, cursor) = &mut self.kinds[at];
        if self.stepped_over.covers_project(kind) {
            self.closed[at] = true;
            return None;
        }
        cursor.first(longest, |owner| self.stepped_over.covers_user(owner, kind))
    }

    /// `false` if it does not fit. Users who have reached their quota are skipped.
    fn start(&mut self, candidate: BatchCandidate, at: usize) -> bool {
        if self.steps_over(candidate, at) {
            return true;
        }
        let task = &self.view.state.tasks[&candidate.rank.task];
        let Some(placement) = self.view.place_task(task) else { return false };
        self.start_at(placement, candidate, at);
        true
    }

    fn start_at(&mut self, placement: Placement, candidate: BatchCandidate, at: usize) {
        let (kind, cursor) = &mut self.kinds[at];
        cursor.take(candidate);
        self.view.assume_start(&kind.request, &placement);
        self.plan.start(candidate.rank.task, placement);
        self.count(&self.view.state.tasks[&candidate.rank.task]);
    }

    /// Skip a user or project that has reached its quota, with all tasks that count against it.
    fn steps_over(&mut self, candidate: BatchCandidate, at: usize) -> bool {
        let owner = self.view.state.tasks[&candidate.rank.task].owner;
        let kind = self.kinds[at].0;
        let had_their_share =
            self.stepped_over.covers_user(owner, kind) || self.stepped_over.covers_project(kind);
        if !had_their_share {
            let Some(excess) = self.excess(candidate) else { return false };
            self.stepped_over.add(owner, excess);
        }
        self.kinds[at].1.take(candidate);
        true
    }

    /// What a start of this would exceed, with what this pass has started.
    fn excess(&self, candidate: BatchCandidate) -> Option<Excess> {
        let state = self.view.state;
        let task = &state.tasks[&candidate.rank.task];
        let more = |load: Option<&Load>| load.copied().unwrap_or_default();
        let owner = state.running_of(task.owner).plus(more(self.owners.get(&task.owner)));
        let project = task.spec.project.as_deref().map_or(Load::default(), |name| {
            state.load_of_project(name).0.plus(more(self.projects.get(name)))
        });
        quota::excess(state, task, owner, project, self.view.now)
    }

    fn count(&mut self, task: &'a Task) {
        let load = Load::of(&task.spec.request);
        let owner = self.owners.entry(task.owner).or_default();
        *owner = owner.plus(load);
        if let Some(name) = task.spec.project.as_deref() {
            let project = self.projects.entry(name).or_default();
            *project = project.plus(load);
        }
    }

    fn is_ripe(&self, rank: Rank) -> bool {
        let task = &self.view.state.tasks[&rank.task];
        let record = self.view.state.queue().batches().record(task);
        let expected = Prior::of(task).with(record);
        let patience = Span(expected.0.saturating_mul(RIPE)).min(LONGEST_UNRIPE);
        self.view.now.since(task.submitted_at) >= patience
    }
}
