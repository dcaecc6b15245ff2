//! What a run is to reports: a piece for every machine it ran on and every model of GPU it held there.

use super::names::{NO_NAME, NameId, Names};
use crate::usage::RunSummary;
use danlu_core::failure::FailureClass;
use danlu_core::run::{PartState, RunPart, RunState};
use danlu_core::task::Outcome;
use danlu_core::{GpuId, Run, RunId, Task, Time, UserId};
use std::collections::BTreeMap;

/// Times are in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) run: RunId,
    /// Which piece of the run. The first one tells what became of the run and of its task.
    pub(crate) place: u16,
    pub(crate) user: UserId,
    pub(crate) project: NameId,
    pub(crate) node: NameId,
    /// [`NO_NAME`]: none was held, or nobody knows any more.
    pub(crate) model: NameId,
    pub(crate) begun: i64,
    /// So far, while it goes on.
    pub(crate) ended: i64,
    pub(crate) gpus: u32,
    /// Of all its processes.
    pub(crate) cpu: i64,
    /// What the run is to the count of tasks; `None` where another attempt tells.
    pub(crate) task: Option<TaskCount>,
    /// From the submission to the first start, with `task`.
    pub(crate) waited: Option<i64>,
    pub(crate) failure: Option<FailureClass>,
    pub(crate) measured: Measured,
}

/// What was seen of its GPUs, over all the time that they were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Measured {
    /// GPU milliseconds.
    pub(crate) held: i64,
    pub(crate) idle: i64,
    /// Percent times milliseconds, and the milliseconds in which that was known.
    pub(crate) used: i64,
    pub(crate) known: i64,
    /// Millijoules.
    pub(crate) energy: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskCount {
    Running,
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
}

impl TaskCount {
    fn of(outcome: &Outcome) -> TaskCount {
        match outcome {
            Outcome::Succeeded => TaskCount::Succeeded,
            Outcome::Failed { .. } | Outcome::GaveUp { .. } | Outcome::LaunchError { .. } => {
                TaskCount::Failed
            }
            Outcome::Cancelled { .. } | Outcome::DependencyFailed { .. } => TaskCount::Cancelled,
            Outcome::TimedOut => TaskCount::TimedOut,
        }
    }
}

/// A run with what is around it.
pub(crate) struct RunFacts<'a> {
    pub(crate) task: &'a Task,
    pub(crate) run: &'a Run,
    /// When the task began to run for the first time.
    pub(crate) first_start: Option<Time>,
    pub(crate) summary: Option<&'a RunSummary>,
}

/// The launch of the first of them that has started something, by the server's clock.
pub(crate) fn first_start<'a>(runs: impl Iterator<Item = &'a Run>) -> Option<Time> {
    let started = runs.filter(|run| run.parts.iter().any(|part| part.started_at.is_some()));
    started.map(|run| run.launched_at).min()
}

/// `node` and `model` name machines and GPUs.
pub(crate) fn pieces(
    facts: &RunFacts<'_>,
    names: &mut Names,
    node: impl Fn(&RunPart) -> String,
    model: impl Fn(&GpuId) -> Option<String>,
    now: Time,
) -> Vec<Piece> {
    let RunFacts { task, run, summary, .. } = facts;
    let project = task.spec.project.as_deref().map_or(NO_NAME, |project| names.id(project));
    let mut pieces = Vec::with_capacity(run.parts.len());
    for (number, part) in run.parts.iter().enumerate() {
        let Some((begun, ended)) = held(run, part, now) else { continue };
        let mut models: BTreeMap<NameId, (u32, Measured)> = BTreeMap::new();
        for gpu in &part.gpus {
            let name = model(gpu).map_or(NO_NAME, |model| names.id(&model));
            let (gpus, measured) = models.entry(name).or_default();
            *gpus += 1;
            measured.add(summary.and_then(|summary| summary.gpus.get(gpu)));
        }
        if models.is_empty() {
            models.insert(NO_NAME, Default::default());
        }
        let node = names.id(&node(part));
        let mut cpu = cpu_time(run, number, summary.and_then(|it| it.parts.get(&part.node)));
        for (model, (gpus, measured)) in models {
            pieces.push(Piece {
                run: run.id,
                place: u16::try_from(pieces.len()).unwrap_or(u16::MAX),
                user: task.owner,
                project,
                node,
                model,
                begun: begun.0,
                ended: ended.0.max(begun.0),
                gpus,
                cpu: std::mem::take(&mut cpu),
                task: None,
                waited: None,
                failure: None,
                measured,
            });
        }
    }
    if let Some(first) = pieces.first_mut() {
        first.failure = failure(run);
        first.task = counted(task, run);
        first.waited = first.task.and_then(|_| waited(facts));
    }
    pieces
}

impl Measured {
    fn add(&mut self, seen: Option<&crate::usage::GpuSummary>) {
        let Some(seen) = seen else { return };
        let (used, known) = seen.utilization.total();
        self.held += seen.held;
        self.idle += seen.idle();
        self.used += used;
        self.known += known;
        self.energy += seen.energy;
    }
}

/// From its start to its end; what never started takes no time. `None` before a start.
fn held(run: &Run, part: &RunPart, now: Time) -> Option<(Time, Time)> {
    match (part.started_at, &part.state, &run.state) {
        (started, PartState::Ended { at, .. }, _) => Some((started.unwrap_or(*at), *at)),
        // The end of the run, where a part has none of its own.
        (started, _, RunState::Ended { at, .. }) => Some((started.unwrap_or(*at), *at)),
        (started, PartState::Alive { since }, _) => Some((started.unwrap_or(*since), now)),
        (started, PartState::Launching { .. }, _) => started.map(|started| (started, now)),
    }
}

/// What was counted at the end is of all its parts together: each gets the same share. Until then it is what was seen.
fn cpu_time(run: &Run, number: usize, seen: Option<&crate::usage::PartSummary>) -> i64 {
    if run.is_ended() && run.used.cpu_time.0 > 0 {
        let (all, parts) = (run.used.cpu_time.0, run.parts.len().max(1) as u64);
        let rest = if number == 0 { all % parts } else { 0 };
        return i64::try_from(all / parts + rest).unwrap_or(i64::MAX);
    }
    seen.map_or(0, |seen| seen.cores.total().0 / 1_000)
}

fn failure(run: &Run) -> Option<FailureClass> {
    match &run.state {
        RunState::Ended { failure, .. } => failure.as_ref().map(|failure| failure.class),
        RunState::Starting
        | RunState::Running { .. }
        | RunState::Paused { .. }
        | RunState::Stopping { .. } => None,
    }
}

/// A task counts with its last attempt.
fn counted(task: &Task, run: &Run) -> Option<TaskCount> {
    if !run.is_ended() {
        return Some(TaskCount::Running);
    }
    let last = task.trail().last_run.is_none_or(|last| last == run.id);
    task.outcome().filter(|_| last).map(TaskCount::of)
}

/// Who waits for other tasks, or is held by its owner, does not wait for the cluster.
fn waited(facts: &RunFacts<'_>) -> Option<i64> {
    let spec = &facts.task.spec;
    if !spec.after.is_empty() || spec.hold {
        return None;
    }
    let submitted = facts.task.submitted_at;
    let from = spec.begin.map_or(submitted, |begin| begin.max(submitted));
    let waited = facts.first_start?.since(from).0;
    Some(i64::try_from(waited).unwrap_or(i64::MAX))
}
