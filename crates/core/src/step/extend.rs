//! `Extend`: more time for a task. If it runs, its shim enforces the limit and is told the new one.

use crate::model::ids::{NodeId, RunId, TaskId};
use crate::model::limits;
use crate::model::task::TaskState;
use crate::model::time::Span;
use crate::step::effect::Effect;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::permission::{own_task, require_admin};
use crate::step::refusal::{Refusal, TaskAct};
use crate::step::tasks::wrong_state;
use crate::step::{Answer, Reply, Turn};

pub(crate) fn extend(turn: &mut Turn<'_>, by: Actor, id: TaskId, more: Span) -> Answer {
    let task = own_task(turn.state, by, id)?;
    if task.is_finished() {
        return Err(wrong_state(task, TaskAct::Extend));
    }
    let limit = task.time_limit().ok_or(Refusal::NoTimeLimit(id))? + more;
    let most = turn.state.settings().max_extension;
    if task.trail().extra_time + more > most && require_admin(turn.state, by).is_err() {
        return Err(Refusal::ExtendedTooFar(most));
    }
    if more == Span::ZERO || limit > limits::LONGEST {
        return Err(Refusal::BadTimeLimit);
    }
    let (run, known) = match task.state {
        TaskState::Active { run } => (Some(run), task.spec.expected.is_some()),
        TaskState::Held
        | TaskState::Blocked { .. }
        | TaskState::Queued { .. }
        | TaskState::Finished { .. } => (None, true),
    };
    turn.state.change_task(id, |task| task.trail_mut().extra_time += more);
    if let Some(run) = run.filter(|_| !known) {
        turn.state.change_run(run, |run| {
            run.expected_end_at = run.expected_end_at.map(|at| at + more);
        });
    }
    turn.event(Event::TaskExtended { task: id, run });
    if let Some(run) = run {
        let nodes: Vec<NodeId> = turn.state.held_by(run).iter().map(|hold| hold.node).collect();
        for node in nodes {
            send_limit(turn, node, run);
        }
    }
    Ok(Reply::Done)
}

/// Sent to reachable nodes; the next report of the others shows that the limit is missing.
pub(crate) fn send_limit(turn: &mut Turn<'_>, node: NodeId, run: RunId) {
    let limit = turn.state.tasks[&turn.state.runs[&run].task].time_limit();
    if let (Some(limit), Some(session)) = (limit, turn.state.nodes[&node].live_session()) {
        turn.effect(Effect::SetLimit { node, session, run, limit });
    }
}

/// A run that was sent no new limit has the one it was started with.
pub(crate) fn has_heard(turn: &Turn<'_>, run: RunId, told: Option<Span>) -> bool {
    let task = &turn.state.tasks[&turn.state.runs[&run].task];
    let never_changed = task.trail().extra_time == Span::ZERO;
    never_changed || told == task.time_limit()
}
