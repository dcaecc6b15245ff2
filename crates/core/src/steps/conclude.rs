//! All parts of a run have ended: what becomes of its task, and when it is tried again.

use crate::event::{Event, RequeueReason};
use crate::failure::{Failure, FailureClass};
use crate::ids::{GpuId, RunId};
use crate::mutant::{Mutant, mutated};
use crate::run::{Exit, PartState, Run, RunState, StopReason};
use crate::settings::Settings;
use crate::state::State;
use crate::step::Turn;
use crate::steps::dependencies::{finish, hold_in_doubt, requeue};
use crate::task::{Doubt, Outcome, TaskSpec};
use crate::time::Span;

pub(crate) fn end_run(turn: &mut Turn<'_>, id: RunId) {
    let now = turn.now;
    let run = &turn.state.runs[&id];
    let (task, stopping) = (run.task, run.state.clone());
    let Verdict { exit, failure, stopped } = verdict(run);
    let ran = now.since(run.launched_at);
    let gpus = run.gpu_count();
    let preempted =
        stopped && matches!(stopping, RunState::Stopping { why: StopReason::Preempted, .. });
    let failure = match stopped && exit != Exit::TimedOut {
        true if preempted => Some(Failure::new(FailureClass::Preempted, "")),
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
            task.attempts -= 1;
        } else {
            task.attained += ran;
        }
        if preempted {
            task.progress += ran;
            task.restart_cost += restart_cost;
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
        _ if preempted && !mutated(Mutant::PreemptedIsFailed) => {
            requeue(turn, task, RequeueReason::Preempted, Span::ZERO);
        }
        RunState::Stopping { why: StopReason::Requeued, .. } if stopped => {
            requeue(turn, task, RequeueReason::Asked, Span::ZERO);
        }
        // By an order that this state never gave: it was restored from a time before it.
        _ if stopped && !preempted && exit != Exit::TimedOut => {
            requeue(turn, task, RequeueReason::Lost, Span::ZERO);
        }
        _ => conclude(turn, id, exit, failure),
    }
}

struct Verdict {
    exit: Exit,
    failure: Option<Failure>,
    /// It was made to end.
    stopped: bool,
}

/// How the run as a whole ended: as the part that ended badly first.
fn verdict(run: &Run) -> Verdict {
    let culprit = match run.state {
        RunState::Stopping { why: StopReason::PartFailed { node }, .. } => Some(node),
        _ => None,
    };
    let ends = run.parts.iter().filter(|part| culprit.is_none_or(|node| node == part.node));
    let ends = ends.filter_map(|part| match &part.state {
        PartState::Ended { exit, stopped, failure, .. } => Some((exit, *stopped, failure)),
        _ => None,
    });
    let stopped = ends.clone().any(|(_, stopped, _)| stopped);
    match ends.into_iter().find(|(exit, ..)| !exit.is_success()) {
        Some((exit, _, failure)) => {
            Verdict { exit: exit.clone(), failure: failure.clone(), stopped }
        }
        None => Verdict { exit: Exit::Code(0), failure: None, stopped },
    }
}

/// What a run's own end means for its task.
fn conclude(turn: &mut Turn<'_>, run: RunId, exit: Exit, failure: Option<Failure>) {
    let id = turn.state.runs[&run].task;
    let settings = turn.state.settings();
    let (requeue_lost, max_losses) = (settings.requeue_lost, settings.max_losses);
    let task = &turn.state.tasks[&id];
    let (retries, attempts) = (task.spec.retries, task.attempts);
    match exit {
        Exit::Code(0) if mutated(Mutant::RetryAfterSuccess) && task.attempts <= retries => {
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
        Exit::NoRecord => hold_in_doubt(turn, id, task.doubt.unwrap_or(Doubt::NoRecord)),
        Exit::Vanished { .. } | Exit::Abandoned if requeue_lost => {
            turn.state.change_task(id, |task| task.losses += 1);
            if turn.state.tasks[&id].losses <= max_losses {
                requeue(turn, id, RequeueReason::Lost, Span::ZERO);
            } else {
                finish(turn, id, Outcome::GaveUp { attempts });
            }
        }
        exit => fail(turn, run, exit, failure),
    }
}

/// Tried again after a while, or over.
fn fail(turn: &mut Turn<'_>, run: RunId, exit: Exit, failure: Option<Failure>) {
    let id = turn.state.runs[&run].task;
    let class = failure.map_or(FailureClass::Other, |failure| failure.class);
    let too_small = match class {
        FailureClass::CudaOom => smallest_memory(turn.state, run),
        _ => None,
    };
    turn.state.change_task(id, |task| {
        task.failures += 1;
        task.wants_more_memory_than = task.wants_more_memory_than.max(too_small);
    });
    let (task, settings) = (&turn.state.tasks[&id], turn.state.settings());
    let left = task.failures <= task.spec.retries || mutated(Mutant::RetriesForEver);
    if left && is_retried(&task.spec, settings, class) {
        let wait = settings.backoff(task.failures);
        return requeue(turn, id, RequeueReason::Failed, wait);
    }
    finish(turn, id, own_outcome(exit));
}

/// It has ended by itself, whatever somebody wanted meanwhile.
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
        exit => Outcome::Failed { exit },
    }
}

/// Whoever names classes means these; else any failure but a time limit, which would only be reached again.
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
