//! All parts of a run have ended: its task finishes, or is queued again.

use crate::fault_injection::{Mutant, mutated};
use crate::model::failure::{Failure, FailureClass};
use crate::model::ids::{GpuId, RunId};
use crate::model::run::{Exit, PartState, Run, RunState, StopReason};
use crate::model::settings::Settings;
use crate::model::task::{Canceller, Doubt, Outcome, TaskSpec};
use crate::model::time::Span;
use crate::state::State;
use crate::step::Turn;
use crate::step::dependencies::{finish, hold_in_doubt, requeue};
use crate::step::event::{Event, RequeueReason};

pub(crate) fn end_run(turn: &mut Turn<'_>, id: RunId) {
    let now = turn.now;
    let run = &turn.state.runs[&id];
    let (task, stopping) = (run.task, run.state.clone());
    let RunEnd { exit, failure, stopped } = end_of(run);
    let ran = now.since(run.launched_at);
    let gpus = run.gpu_count();
    let preempted =
        stopped && matches!(stopping, RunState::Stopping { why: StopReason::Preempted, .. });
    let idle = matches!(stopping, RunState::Stopping { why: StopReason::Idle { .. }, .. });
    let failure = match stopped && exit != Exit::TimedOut {
        true if preempted => Some(Failure::new(FailureClass::Preempted, "")),
        true if idle => Some(Failure::new(FailureClass::Idle, "")),
        true => None,
        false => failure.or_else(|| Failure::of_exit(&exit)),
    };
    let ended = RunState::Ended { exit: exit.clone(), failure: failure.clone(), at: now };
    let owner = turn.state.tasks[&task].owner;
    turn.charge(task);
    turn.state.change_run(id, |run| run.state = ended);
    let restart_cost = turn.state.settings().restart_cost(gpus);
    turn.state.change_task(task, |task| {
        if matches!(exit, Exit::NeverStarted | Exit::Trouble(_)) {
            task.trail_mut().attempts -= 1;
        } else {
            task.trail_mut().attained += ran;
        }
        if preempted {
            task.trail_mut().progress += ran;
            task.trail_mut().restart_cost += restart_cost;
        }
    });
    turn.event(Event::RunEnded { run: id, task, owner, exit: exit.clone() });
    match stopping {
        RunState::Stopping { why: StopReason::Cancelled { by }, .. } => {
            if !stopped && is_own(&exit) && !mutated(Mutant::OwnEndForgotten) {
                return finish(turn, task, own_outcome(exit));
            }
            if mutated(Mutant::CancelRequeues) {
                return requeue(turn, task, RequeueReason::Preempted, Span::ZERO);
            }
            finish(turn, task, Outcome::Cancelled { by });
        }
        RunState::Stopping { why: StopReason::Preempted, .. } => {
            if !stopped || mutated(Mutant::PreemptedIsFailed) {
                return conclude(turn, id, exit, failure);
            }
            requeue(turn, task, RequeueReason::Preempted, Span::ZERO);
        }
        RunState::Stopping { why: StopReason::Requeued, .. } if stopped => {
            requeue(turn, task, RequeueReason::Asked, Span::ZERO);
        }
        RunState::Stopping { why: StopReason::Idle { requeue: true, .. }, .. } if stopped => {
            requeue(turn, task, RequeueReason::Idle, Span::ZERO);
        }
        RunState::Stopping { why: StopReason::Idle { requeue: false, .. }, .. } if stopped => {
            finish(turn, task, Outcome::Cancelled { by: Canceller::IdleRule });
        }
        RunState::Starting
        | RunState::Running { .. }
        | RunState::Paused { .. }
        | RunState::Stopping {
            why: StopReason::Requeued | StopReason::Idle { .. } | StopReason::PartFailed { .. },
            ..
        }
        | RunState::Ended { .. } => {
            // Stopped by an order that this state never gave: it was restored from a time before it.
            if stopped && exit != Exit::TimedOut {
                return requeue(turn, task, RequeueReason::Lost, Span::ZERO);
            }
            conclude(turn, id, exit, failure);
        }
    }
}

struct RunEnd {
    exit: Exit,
    failure: Option<Failure>,
    /// It was made to end.
    stopped: bool,
}

/// How the run as a whole ended: as the part that ended badly first.
fn end_of(run: &Run) -> RunEnd {
    let culprit = match run.state {
        RunState::Stopping { why: StopReason::PartFailed { node }, .. } => Some(node),
        RunState::Stopping {
            why:
                StopReason::Cancelled { .. }
                | StopReason::Preempted
                | StopReason::Requeued
                | StopReason::Idle { .. },
            ..
        }
        | RunState::Starting
        | RunState::Running { .. }
        | RunState::Paused { .. }
        | RunState::Ended { .. } => None,
    };
    let ends = run.parts.iter().filter(|part| culprit.is_none_or(|node| node == part.node));
    let ends = ends.filter_map(|part| match &part.state {
        PartState::Ended { exit, stopped, failure, .. } => Some((exit, *stopped, failure)),
        PartState::Launching { .. } | PartState::Alive { .. } => None,
    });
    let stopped = ends.clone().any(|(_, stopped, _)| stopped);
    match ends.into_iter().find(|(exit, ..)| !exit.is_success()) {
        Some((exit, _, failure)) => {
            RunEnd { exit: exit.clone(), failure: failure.clone(), stopped }
        }
        None => RunEnd { exit: Exit::Code(0), failure: None, stopped },
    }
}

/// What a run's own end means for its task.
fn conclude(turn: &mut Turn<'_>, run: RunId, exit: Exit, failure: Option<Failure>) {
    let id = turn.state.runs[&run].task;
    let settings = turn.state.settings();
    let (requeue_lost, max_losses) = (settings.requeue_lost, settings.max_losses);
    let task = &turn.state.tasks[&id];
    let (retries, attempts) = (task.spec.retries, task.trail().attempts);
    match exit {
        Exit::Code(0) if mutated(Mutant::RetryAfterSuccess) && task.trail().attempts <= retries => {
            requeue(turn, id, RequeueReason::Failed, Span::ZERO);
        }
        Exit::Code(0) => finish(turn, id, Outcome::Succeeded),
        Exit::NeverStarted if !mutated(Mutant::NeverStartedIsFailed) => {
            requeue(turn, id, RequeueReason::NeverStarted, Span::ZERO);
        }
        Exit::Trouble(_) if !mutated(Mutant::TroubleIsFailure) => {
            requeue(turn, id, RequeueReason::NodeUnfit, Span::ZERO);
        }
        Exit::NoRecord if mutated(Mutant::NoRecordRunsAgain) => {
            requeue(turn, id, RequeueReason::Lost, Span::ZERO);
        }
        Exit::NoRecord => hold_in_doubt(turn, id, task.trail().doubt.unwrap_or(Doubt::NoRecord)),
        Exit::Vanished { .. } | Exit::Abandoned if requeue_lost => {
            turn.state.change_task(id, |task| task.trail_mut().losses += 1);
            if turn.state.tasks[&id].trail().losses <= max_losses {
                requeue(turn, id, RequeueReason::Lost, Span::ZERO);
            } else {
                finish(turn, id, Outcome::GaveUp { attempts });
            }
        }
        exit @ (Exit::Code(_)
        | Exit::Signal(_)
        | Exit::TimedOut
        | Exit::Launch { .. }
        | Exit::NeverStarted
        | Exit::Vanished { .. }
        | Exit::Abandoned
        | Exit::Trouble(_)) => fail(turn, run, exit, failure),
    }
}

/// Retry after a delay, or finish.
fn fail(turn: &mut Turn<'_>, run: RunId, exit: Exit, failure: Option<Failure>) {
    let id = turn.state.runs[&run].task;
    let class = failure.map_or(FailureClass::Other, |failure| failure.class);
    let out_of_memory = class == FailureClass::CudaOom;
    let too_small = if out_of_memory { smallest_memory(turn.state, run) } else { None };
    turn.state.change_task(id, |task| {
        task.trail_mut().failures += 1;
        task.trail_mut().wants_more_memory_than =
            task.trail().wants_more_memory_than.max(too_small);
    });
    let (task, settings) = (&turn.state.tasks[&id], turn.state.settings());
    let left = task.trail().failures <= task.spec.retries || mutated(Mutant::RetriesForEver);
    if left && is_retried(&task.spec, settings, class) {
        let wait = settings.backoff(task.trail().failures);
        return requeue(turn, id, RequeueReason::Failed, wait);
    }
    finish(turn, id, own_outcome(exit));
}

/// It has ended by itself, whatever was requested meanwhile.
fn is_own(exit: &Exit) -> bool {
    match exit {
        Exit::Code(_) | Exit::Signal(_) | Exit::TimedOut | Exit::Launch { .. } => true,
        Exit::NeverStarted
        | Exit::Vanished { .. }
        | Exit::Abandoned
        | Exit::Trouble(_)
        | Exit::NoRecord => false,
    }
}

fn own_outcome(exit: Exit) -> Outcome {
    match exit {
        Exit::Code(0) => Outcome::Succeeded,
        Exit::TimedOut => Outcome::TimedOut,
        Exit::Launch { message } => Outcome::LaunchError { message },
        exit @ (Exit::Code(_)
        | Exit::Signal(_)
        | Exit::NeverStarted
        | Exit::Vanished { .. }
        | Exit::Abandoned
        | Exit::Trouble(_)
        | Exit::NoRecord) => Outcome::Failed { exit },
    }
}

/// Retried are the named classes, or all failures except a reached time limit, which would be reached again.
fn is_retried(spec: &TaskSpec, settings: &Settings, class: FailureClass) -> bool {
    let named = if spec.retry_on.is_empty() { &settings.retry_on } else { &spec.retry_on };
    if mutated(Mutant::RetryClassIgnored) {
        return true;
    }
    if named.is_empty() { class != FailureClass::Timeout } else { named.contains(&class) }
}

/// Of the GPUs that a run was given.
fn smallest_memory(state: &State, run: RunId) -> Option<u64> {
    let memory = |node: &crate::Node, id: &GpuId| {
        node.gpus.iter().find(|gpu| gpu.id == *id).map(|gpu| gpu.memory)
    };
    let parts = state.runs[&run].parts.iter();
    let parts = parts.filter_map(|part| Some((state.nodes.get(&part.node)?, &part.gpus)));
    parts.flat_map(|(node, gpus)| gpus.iter().filter_map(|id| memory(node, id))).min()
}
