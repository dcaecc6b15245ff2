//! A run after its launch: started, stopped, paused, abandoned, and the end of its parts.

use crate::fault_injection::{Mutant, mutated};
use crate::model::failure::Failure;
use crate::model::ids::{NodeId, RunId, SessionId, TaskId};
use crate::model::node::Link;
use crate::model::run::{Ending, Exit, PartState, RunPart, RunState, STOP_SLACK, StopReason};
use crate::model::task::TaskState;
use crate::model::time::Time;
use crate::state::State;
use crate::step::effect::{Effect, StopOrder};
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::nodes::ignore_late;
use crate::step::permission::own_task;
use crate::step::refusal::{Refusal, TaskAct};
use crate::step::run_end::end_run;
use crate::step::tasks::wrong_state;
use crate::step::{Answer, Reply, Turn};
use crate::step::{nodes, unknown_runs};

pub(crate) fn part_started(turn: &mut Turn<'_>, node: NodeId, id: RunId, at: Time) -> Answer {
    if !is_launching(turn.state, node, id) {
        return ignore_late(turn, node, Some(id));
    }
    turn.state.set_part(id, node, Some(at), PartState::Alive { since: at });
    let run = &turn.state.runs[&id];
    let all_started =
        run.parts.iter().all(|part| !matches!(part.state, PartState::Launching { .. }));
    if run.state == RunState::Starting && all_started {
        turn.state.change_run(id, |run| run.state = RunState::Running { since: at });
    }
    turn.event(Event::PartStarted { run: id, node });
    if mutated(Mutant::ForgetAlive) {
        let session = turn.state.nodes[&node].session;
        turn.effect(Effect::Forget { node, session, run: id });
    }
    Ok(Reply::Done)
}

/// A node says that a run has ended there. It keeps the record until it is told to forget it.
pub(crate) fn part_ended(
    turn: &mut Turn<'_>,
    node: NodeId,
    session: SessionId,
    id: RunId,
    ending: Ending,
) -> Answer {
    if is_open(turn.state, node, id) {
        end_part(turn, node, id, ending);
        return Ok(Reply::Done);
    }
    forget(turn, node, id);
    unknown_runs::ended(turn, node, id);
    // A stray has ended: the node may be clean now.
    if !turn.state.nodes[&node].is_ready() {
        turn.effect(Effect::AskReport { node, session });
    }
    ignore_late(turn, node, Some(id))
}

/// Ask a run to stop, wherever it can be reached now; where it cannot, the node's next report will.
pub(crate) fn stop(turn: &mut Turn<'_>, id: RunId, why: StopReason) {
    let (now, grace) = (turn.now, turn.state.settings().stop_grace);
    let run = &turn.state.runs[&id];
    if matches!(run.state, RunState::Stopping { why: StopReason::Cancelled { .. }, .. }) {
        return;
    }
    let deadline = match run.state {
        RunState::Stopping { deadline, .. } => deadline,
        RunState::Starting
        | RunState::Running { .. }
        | RunState::Paused { .. }
        | RunState::Ended { .. } => now + grace + STOP_SLACK,
    };
    turn.state.change_run(id, |run| run.state = RunState::Stopping { why, deadline });
    turn.event(Event::RunStopping { run: id, why });
    for node in open_nodes(turn.state, id) {
        send_stop(turn, node, id, StopOrder::Because(why));
    }
}

/// Freeze or thaw a running task, wherever it can be reached now; elsewhere the next report will.
pub(crate) fn set_paused(turn: &mut Turn<'_>, by: Actor, id: TaskId, paused: bool) -> Answer {
    let task = own_task(turn.state, by, id)?;
    let act = if paused { TaskAct::Pause } else { TaskAct::Resume };
    let TaskState::Active { run: run_id } = task.state else {
        return Err(wrong_state(task, act));
    };
    let run = &turn.state.runs[&run_id];
    let state = match (&run.state, paused) {
        (RunState::Running { .. }, true) => RunState::Paused { since: turn.now },
        (RunState::Paused { .. }, false) => RunState::Running { since: turn.now },
        (RunState::Paused { .. }, true) | (RunState::Running { .. }, false) => {
            return Ok(Reply::Done);
        }
        (RunState::Starting | RunState::Stopping { .. } | RunState::Ended { .. }, _) => {
            return Err(wrong_state(task, act));
        }
    };
    turn.state.change_run(run_id, |run| run.state = state);
    turn.event(if paused {
        Event::RunPaused { run: run_id }
    } else {
        Event::RunResumed { run: run_id }
    });
    for node in open_nodes(turn.state, run_id) {
        send_pause(turn, node, run_id, paused);
    }
    Ok(Reply::Done)
}

pub(crate) fn send_pause(turn: &mut Turn<'_>, node: NodeId, run: RunId, on: bool) {
    if let Some(session) = turn.state.nodes[&node].live_session() {
        turn.effect(Effect::Pause { node, session, run, on });
    }
}

fn open_nodes(state: &State, run: RunId) -> Vec<NodeId> {
    state.held_by(run).iter().map(|hold| hold.node).collect()
}

pub(crate) fn send_stop(turn: &mut Turn<'_>, node: NodeId, run: RunId, why: StopOrder) {
    let grace = turn.state.settings().stop_grace;
    if let Some(session) = turn.state.nodes[&node].live_session() {
        turn.effect(Effect::Stop { node, session, run, why, grace });
    }
}

/// Its end is in the state: once that is committed, the node need not keep it.
pub(crate) fn forget(turn: &mut Turn<'_>, node: NodeId, run: RunId) {
    if let Some(session) = turn.state.nodes[&node].live_session()
        && !mutated(Mutant::NoForget)
    {
        turn.effect(Effect::Forget { node, session, run });
    }
}

/// Give up what cannot be reached. The run may go on there; when its node comes back, it is a
/// stray and ends before the node gets work.
pub(crate) fn abandon(turn: &mut Turn<'_>, by: Actor, id: RunId) -> Answer {
    let run = turn.state.runs.get(&id).ok_or(Refusal::NoSuchRun(id))?;
    own_task(turn.state, by, run.task)?;
    if run.is_ended() {
        return Err(Refusal::RunEnded(id));
    }
    let down = |node: &NodeId| matches!(turn.state.nodes[node].link, Link::Down { .. });
    let open = run.parts.iter().filter(|part| !part.is_ended()).map(|part| part.node);
    let unreachable: Vec<NodeId> = open.filter(down).collect();
    if unreachable.is_empty() {
        return Err(Refusal::NodeReachable(id));
    }
    for node in unreachable {
        end_without_record(turn, node, id, Exit::Abandoned);
    }
    Ok(Reply::Done)
}

/// A part is over and its node has no record of how.
pub(crate) fn end_without_record(turn: &mut Turn<'_>, node: NodeId, run: RunId, exit: Exit) {
    let ending = Ending::new(exit, turn.now);
    end_part(turn, node, run, ending);
}

pub(crate) fn is_open(state: &State, node: NodeId, id: RunId) -> bool {
    let part = state.runs.get(&id).and_then(|run| run.part_on(node));
    part.is_some_and(|part| !part.is_ended())
}

pub(crate) fn end_part(turn: &mut Turn<'_>, node: NodeId, id: RunId, ending: Ending) {
    let Ending { exit, stopped, failure, started_at, ended_at, used } = ending;
    let exit = bounded(exit);
    if let Exit::Trouble(trouble) = &exit {
        nodes::take_fitness(turn, node, Some(trouble.clone()));
    }
    let at = ended_at.max(started(turn.state, node, id, started_at).unwrap_or(ended_at));
    let failure = failure.map(|told| Failure::new(told.class, &told.evidence));
    let state = PartState::Ended { exit: exit.clone(), stopped, failure, at };
    turn.state.set_part(id, node, started_at, state);
    turn.state.add_usage(id, used);
    turn.event(Event::PartEnded { run: id, node, exit: exit.clone() });
    let peak = turn.state.forget_tenant(node, id);
    if peak.is_some() {
        turn.state.change_run(id, |run| run.peak_gpu_memory = run.peak_gpu_memory.max(peak));
    }
    if turn.state.drop_missing_gpus(node) || peak.is_some() {
        turn.event(Event::GpusChanged { node });
    }
    forget(turn, node, id);
    let run = &turn.state.runs[&id];
    let failed = !exit.is_success();
    if run.parts.iter().all(RunPart::is_ended) {
        end_run(turn, id);
    } else if failed && !run.is_stopping() && !mutated(Mutant::PartFailureIgnored) {
        stop(turn, id, StopReason::PartFailed { node });
    } else if run.state == RunState::Starting {
        let run = &turn.state.runs[&id];
        if !run.parts.iter().any(|part| matches!(part.state, PartState::Launching { .. })) {
            turn.state.change_run(id, |run| run.state = RunState::Running { since: at });
        }
    }
}

/// A clock may have been set back meanwhile, or have been wrong before a reboot: an end is never before its start.
fn started(state: &State, node: NodeId, id: RunId, told: Option<Time>) -> Option<Time> {
    state.runs.get(&id).and_then(|run| run.part_on(node)).and_then(|part| part.started_at).or(told)
}

/// Input from nodes is untrusted: cut to length.
fn bounded(exit: Exit) -> Exit {
    match exit {
        Exit::Trouble(trouble) => Exit::Trouble(trouble.bounded()),
        exit @ (Exit::Code(_)
        | Exit::Signal(_)
        | Exit::TimedOut
        | Exit::Launch { .. }
        | Exit::NeverStarted
        | Exit::Vanished { .. }
        | Exit::Abandoned
        | Exit::NoRecord) => exit,
    }
}

fn is_launching(state: &State, node: NodeId, id: RunId) -> bool {
    let part = state.runs.get(&id).and_then(|run| run.part_on(node));
    part.is_some_and(|part| matches!(part.state, PartState::Launching { .. }))
}
