//! Runs that hold GPUs and do not use them: the ladder of being told, asked and stopped, and `Keep`.
//!
//! The daemon judges and asks for each step; what is asked for is done only if it is true of the run, the rule and the time
//! here. A run is stopped only after its owner was asked, and has had the time to answer.

use crate::fault_injection::{Mutant, mutated};
use crate::model::idle::{IdleKind, IdleNote, IdleRung};
use crate::model::ids::{RunId, TaskId};
use crate::model::node::Node;
use crate::model::run::{Run, RunState, StopReason};
use crate::model::task::TaskState;
use crate::model::time::{Span, Time};
use crate::state::State;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::permission::{own_task, require_admin};
use crate::step::refusal::{Refusal, TaskAct};
use crate::step::runs;
use crate::step::tasks::wrong_state;
use crate::step::{Answer, Reply, Turn};

/// Tell its owner, or ask.
pub(crate) fn note(
    turn: &mut Turn<'_>,
    id: RunId,
    since: Time,
    kind: IdleKind,
    rung: IdleRung,
) -> Answer {
    let after = turn.state.settings().idle.told_after(rung).ok_or(Refusal::NotIdle(id))?;
    let run = judged(turn.state, id, since, turn.now)?;
    if !is_due(run, since, after, turn.now) {
        return Err(Refusal::NotIdle(id));
    }
    if run.idle.note.is_some_and(|note| note.rung >= rung) {
        return Ok(Reply::Done);
    }
    let note = IdleNote { since, kind, rung, at: turn.now };
    turn.state.change_run(id, |run| run.idle.note = Some(note));
    turn.event(Event::RunIdle { run: id, rung, kind, since });
    Ok(Reply::Done)
}

/// It is used again: whatever was said of it is over.
pub(crate) fn note_used(turn: &mut Turn<'_>, id: RunId) -> Answer {
    let run = turn.state.runs.get(&id).ok_or(Refusal::NoSuchRun(id))?;
    if run.idle.note.is_some() && !run.is_ended() {
        turn.state.change_run(id, |run| run.idle.note = None);
        turn.event(Event::RunUsedAgain { run: id });
    }
    Ok(Reply::Done)
}

/// Nobody has answered.
pub(crate) fn stop(turn: &mut Turn<'_>, id: RunId, since: Time, kind: IdleKind) -> Answer {
    let settings = &turn.state.settings().idle;
    let (after, requeue) = match settings.stopped_after() {
        Some(rule) => rule,
        None if mutated(Mutant::IdleRuleIgnored) => (Span::ZERO, false),
        None => return Err(Refusal::NotIdle(id)),
    };
    let to_answer = after.saturating_sub(settings.ask_after);
    let run = judged(turn.state, id, since, turn.now)?;
    let asked = run.idle.note.filter(|note| note.rung == IdleRung::Asked);
    let answered_in_time = asked.is_some_and(|note| turn.now.since(note.at) >= to_answer);
    let unasked = mutated(Mutant::IdleUnasked) || mutated(Mutant::IdleRuleIgnored);
    if !(answered_in_time || unasked) || !is_due(run, since, after, turn.now) {
        return Err(Refusal::NotIdle(id));
    }
    runs::stop(turn, id, StopReason::Idle { kind, since, requeue });
    Ok(Reply::Done)
}

/// Nothing is done about idle GPUs of this task for a time.
pub(crate) fn keep(turn: &mut Turn<'_>, by: Actor, id: TaskId, time: Span) -> Answer {
    let task = own_task(turn.state, by, id)?;
    let TaskState::Active { run } = task.state else {
        return Err(wrong_state(task, TaskAct::Keep));
    };
    if turn.state.runs[&run].is_stopping() {
        return Err(wrong_state(task, TaskAct::Keep));
    }
    let most = turn.state.settings().idle.longest_keep;
    if time == Span::ZERO || time > most && require_admin(turn.state, by).is_err() {
        return Err(Refusal::KeptTooLong(most));
    }
    let until = turn.now + time.min(crate::model::limits::LONGEST);
    turn.state.change_run(run, |run| {
        if mutated(Mutant::KeptIsIdle) {
            return;
        }
        run.idle.note = None;
        run.idle.kept_until = run.idle.kept_until.max(Some(until));
        run.idle.keeps = run.idle.keeps.saturating_add(1);
    });
    turn.event(Event::RunKept { run, task: id, until });
    Ok(Reply::Done)
}

/// The run, if it runs, has done so all that time, nobody keeps it, and the rule is for it.
fn judged(state: &State, id: RunId, since: Time, now: Time) -> Result<&Run, Refusal> {
    let run = state.runs.get(&id).ok_or(Refusal::NoSuchRun(id))?;
    let runs = match run.state {
        RunState::Running { .. } => true,
        RunState::Ended { .. } => return Err(Refusal::RunEnded(id)),
        RunState::Starting | RunState::Paused { .. } | RunState::Stopping { .. } => false,
    };
    // The node of a part that has ended may be gone.
    let mut open = run.parts.iter().filter(|part| !part.is_ended());
    let reachable = open.all(|part| state.nodes.get(&part.node).is_some_and(Node::is_ready));
    let kept = run.idle.kept_until.is_some_and(|until| until > now);
    let task = &state.tasks[&run.task];
    let owner = state.users.get(&task.owner).map_or("", |user| user.name.as_str());
    let spec = &task.spec;
    let exempt = state.settings().idle.is_exempt(owner, spec.project.as_deref(), &spec.labels);
    let holds = run.gpu_count() > 0;
    match runs && reachable && holds && !kept && !exempt && since >= run.launched_at {
        true => Ok(run),
        false => Err(Refusal::NotIdle(id)),
    }
}

/// Time during which it was kept does not count.
fn is_due(run: &Run, since: Time, after: Span, now: Time) -> bool {
    now.since(run.idle.counts_from(since)) >= after
}
