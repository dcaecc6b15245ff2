//! What has happened since counting began: ends of tasks, waits for a start, lengths of commits.
//!
//! Nothing is counted before somebody wants to know. The engine counts as it publishes, where what was before and what is
//! now are both at hand; readers take no lock.

use super::histogram::{Histogram, HistogramFigures};
use crate::read_model::{ReadModel, outcome_name};
use crate::store::Batch;
use danlu_core::event::RequeueReason;
use danlu_core::run::RunState;
use danlu_core::task::{Outcome, TaskState};
use danlu_core::{Event, FailureClass, Row, RowKey, Run, Span, TaskId, Time};
use danlu_wire::api::TaskStateName;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// From a moment to a week.
const WAITS: &[f64] =
    &[1.0, 10.0, 60.0, 300.0, 900.0, 3_600.0, 10_800.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0];
/// From a good disk to one that everybody notices.
const COMMITS: &[f64] = &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0];

const NO_CLASS: &str = "none";

#[derive(Debug)]
pub(crate) struct Counters {
    wanted: AtomicBool,
    submitted: AtomicU64,
    /// By outcome and class of failure. All are there from the start, so that the first of a kind is an increase.
    ends: BTreeMap<(&'static str, &'static str), AtomicU64>,
    requeues: BTreeMap<&'static str, AtomicU64>,
    waits: Histogram,
    commits: Histogram,
}

/// As they were at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct CounterFigures {
    pub(crate) submitted: u64,
    pub(crate) ends: Vec<((&'static str, &'static str), u64)>,
    pub(crate) requeues: Vec<(&'static str, u64)>,
    pub(crate) waits: HistogramFigures,
    pub(crate) commits: HistogramFigures,
}

impl Default for Counters {
    fn default() -> Counters {
        let failed = TaskStateName::Failed.as_str();
        let classes = FailureClass::ALL.iter().map(|class| (failed, class.as_str()));
        let others = [
            (TaskStateName::Succeeded.as_str(), NO_CLASS),
            (TaskStateName::Cancelled.as_str(), NO_CLASS),
            (TaskStateName::TimedOut.as_str(), FailureClass::Timeout.as_str()),
        ];
        let reasons = [
            RequeueReason::Failed,
            RequeueReason::Lost,
            RequeueReason::Preempted,
            RequeueReason::Asked,
            RequeueReason::NeverStarted,
            RequeueReason::NodeUnfit,
        ];
        Counters {
            wanted: AtomicBool::new(false),
            submitted: AtomicU64::new(0),
            ends: classes.chain(others).map(|kind| (kind, AtomicU64::new(0))).collect(),
            requeues: reasons.map(|it| (reason_name(it), AtomicU64::new(0))).into(),
            waits: Histogram::new(WAITS),
            commits: Histogram::new(COMMITS),
        }
    }
}

impl Counters {
    /// Somebody wants to know: counts from now on.
    pub(crate) fn begin(&self) {
        self.wanted.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn committed(&self, took: Duration) {
        self.commits.add(took);
    }

    /// What a batch changes in the model that was there before it.
    pub(crate) fn note(&self, before: &ReadModel, batch: &Batch) {
        for (at, event) in &batch.events {
            match event {
                Event::TaskSubmitted { .. } => add(&self.submitted, 1),
                Event::TasksSubmitted { count, .. } => add(&self.submitted, u64::from(*count)),
                Event::TaskFinished { task, outcome } => {
                    let class = class_of(outcome, last_run(before, batch, *task).as_deref());
                    let class = class.map_or(NO_CLASS, FailureClass::as_str);
                    let kind = (outcome_name(outcome).as_str(), class);
                    self.ends.get(&kind).into_iter().for_each(|count| add(count, 1));
                }
                Event::TaskRequeued { why, .. } => {
                    self.requeues.get(reason_name(*why)).into_iter().for_each(|it| add(it, 1));
                }
                Event::RunLaunched { task, .. } => {
                    let waited = waited(before, *task, *at);
                    self.waits.add(Duration::from_millis(waited.0));
                }
                _ => {}
            }
        }
    }

    pub(crate) fn figures(&self) -> CounterFigures {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CounterFigures {
            submitted: read(&self.submitted),
            ends: self.ends.iter().map(|(kind, count)| (*kind, read(count))).collect(),
            requeues: self.requeues.iter().map(|(why, count)| (*why, read(count))).collect(),
            waits: self.waits.figures(),
            commits: self.commits.figures(),
        }
    }
}

fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Ordering::Relaxed);
}

fn reason_name(why: RequeueReason) -> &'static str {
    match why {
        RequeueReason::Failed => "failed",
        RequeueReason::Lost => "lost",
        RequeueReason::Preempted => "preempted",
        RequeueReason::Asked => "asked",
        RequeueReason::NeverStarted => "never_started",
        RequeueReason::NodeUnfit => "node_unfit",
        RequeueReason::Idle => "idle",
    }
}

/// How long it could have been started. One that was not queued before this batch has not waited.
fn waited(before: &ReadModel, task: TaskId, started: Time) -> Span {
    let Some(task) = before.tasks.get(&task) else { return Span::ZERO };
    match task.state {
        TaskState::Queued { since } => {
            let since = task.trail().not_before.map_or(since, |begin| begin.max(since));
            started.since(since)
        }
        TaskState::Held
        | TaskState::Blocked { .. }
        | TaskState::Active { .. }
        | TaskState::Finished { .. } => Span::ZERO,
    }
}

fn last_run(before: &ReadModel, batch: &Batch, task: TaskId) -> Option<Arc<Run>> {
    let id = match batch.rows.get(&RowKey::Task(task)) {
        Some(Some(Row::Task(task))) => task.trail().last_run?,
        _ => before.tasks.get(&task)?.trail().last_run?,
    };
    match batch.rows.get(&RowKey::Run(id)) {
        Some(Some(Row::Run(run))) => Some(Arc::clone(run)),
        _ => before.runs.get(&id).cloned(),
    }
}

/// As people are shown it; `None` where nothing has failed.
fn class_of(outcome: &Outcome, run: Option<&Run>) -> Option<FailureClass> {
    let found = run.and_then(|run| match &run.state {
        RunState::Ended { failure, .. } => failure.as_ref().map(|failure| failure.class),
        RunState::Starting
        | RunState::Running { .. }
        | RunState::Paused { .. }
        | RunState::Stopping { .. } => None,
    });
    match outcome {
        Outcome::Succeeded | Outcome::Cancelled { .. } | Outcome::DependencyFailed { .. } => None,
        Outcome::GaveUp { .. } => Some(FailureClass::Killed),
        Outcome::TimedOut => Some(FailureClass::Timeout),
        Outcome::LaunchError { .. } => Some(found.unwrap_or(FailureClass::Launch)),
        Outcome::Failed { exit } => {
            let of_exit = || danlu_core::Failure::of_exit(exit).map(|failure| failure.class);
            Some(found.or_else(of_exit).unwrap_or(FailureClass::Other))
        }
    }
}
