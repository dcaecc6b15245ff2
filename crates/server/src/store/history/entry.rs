//! What the tables of the history have in their columns, from an ended task.

use danlu_core::run::{PartState, RunPart};
use danlu_core::state::Retired;
use danlu_core::task::Outcome;
use danlu_core::{NodeId, Run, Time};
use danlu_wire::api::TaskStateName;
use std::collections::BTreeSet;

/// The numbers of these are stored: only ever add to the end.
const STATES: [TaskStateName; 4] = [
    TaskStateName::Succeeded,
    TaskStateName::Failed,
    TaskStateName::Cancelled,
    TaskStateName::TimedOut,
];

/// `None` for a state that no ended task has.
pub(super) fn state_code(name: TaskStateName) -> Option<i64> {
    STATES.iter().position(|it| *it == name).and_then(|at| i64::try_from(at).ok())
}

pub(super) fn state_of(code: i64) -> Option<TaskStateName> {
    usize::try_from(code).ok().and_then(|at| STATES.get(at).copied())
}

#[derive(Debug)]
pub(super) struct HistoryColumns {
    pub(super) state: i64,
    pub(super) started: Option<i64>,
    pub(super) ended: i64,
    pub(super) ran: i64,
    pub(super) log_bytes: i64,
    /// Machines of its last run.
    pub(super) nodes: BTreeSet<NodeId>,
}

impl HistoryColumns {
    pub(super) fn of(Retired { task, runs }: &Retired) -> HistoryColumns {
        let last = task
            .trail()
            .last_run
            .and_then(|id| runs.iter().find(|run| run.id == id))
            .map(|run| &**run);
        let started = last.and_then(started_at);
        let ran = started.zip(last.and_then(ended_at)).map_or(0, |(from, to)| to.0 - from.0);
        let log_bytes = runs.iter().map(|run| run.used.log_bytes).fold(0, u64::saturating_add);
        let name = match task.outcome() {
            Some(Outcome::Succeeded) => TaskStateName::Succeeded,
            Some(Outcome::Cancelled { .. } | Outcome::DependencyFailed { .. }) => {
                TaskStateName::Cancelled
            }
            Some(Outcome::TimedOut) => TaskStateName::TimedOut,
            Some(Outcome::Failed { .. } | Outcome::GaveUp { .. } | Outcome::LaunchError { .. })
            | None => TaskStateName::Failed,
        };
        HistoryColumns {
            state: state_code(name).unwrap_or(1),
            started: started.map(|at| at.0),
            ended: task.ended_at().unwrap_or(task.submitted_at).0,
            ran: ran.max(0),
            log_bytes: i64::try_from(log_bytes).unwrap_or(i64::MAX),
            nodes: last.into_iter().flat_map(|run| &run.parts).map(|part| part.node).collect(),
        }
    }
}

fn started_at(run: &Run) -> Option<Time> {
    run.parts.iter().filter_map(|part| part.started_at).min()
}

fn ended_at(run: &Run) -> Option<Time> {
    let end = |part: &RunPart| match part.state {
        PartState::Ended { at, .. } => Some(at),
        PartState::Launching { .. } | PartState::Alive { .. } => None,
    };
    run.parts.iter().filter_map(end).max()
}
