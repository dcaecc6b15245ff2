//! Users' actions on an existing task: cancel, requeue, hold, release, retry, remove, move.

use crate::model::ids::TaskId;
use crate::model::run::StopReason;
use crate::model::task::{Outcome, Task, TaskState};
use crate::model::time::Span;
use crate::schedule::quota;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::permission::{canceller, own_task};
use crate::step::refusal::{Refusal, TaskAct, TaskStage};
use crate::step::{Answer, Reply, Turn};
use crate::step::{dependencies, logs, runs, unknown_runs};
use std::sync::Arc;

/// A waiting task ends at once, a running one when its processes have ended.
pub(crate) fn cancel(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = own_task(turn.state, by, id)?;
    match task.state {
        TaskState::Held | TaskState::Blocked { .. } | TaskState::Queued { .. } => {
            dependencies::finish(turn, id, Outcome::Cancelled { by: canceller(by) });
        }
        TaskState::Active { run } => {
            runs::stop(turn, run, StopReason::Cancelled { by: canceller(by) });
        }
        TaskState::Finished { .. } => {
            return Err(wrong_state(task, TaskAct::Cancel));
        }
    }
    Ok(Reply::Done)
}

/// Stop the run and queue the task again; it starts from the beginning later.
pub(crate) fn requeue(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = own_task(turn.state, by, id)?;
    let TaskState::Active { run } = task.state else {
        return Err(wrong_state(task, TaskAct::Requeue));
    };
    if !turn.state.runs[&run].is_stopping() {
        runs::stop(turn, run, StopReason::Requeued);
    }
    Ok(Reply::Done)
}

pub(crate) fn hold(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = own_task(turn.state, by, id)?;
    match task.state {
        TaskState::Held => {}
        TaskState::Blocked { .. } | TaskState::Queued { .. } => {
            turn.state.change_task(id, |task| task.state = TaskState::Held);
            turn.event(Event::TaskHeld { task: id });
        }
        TaskState::Active { .. } | TaskState::Finished { .. } => {
            return Err(wrong_state(task, TaskAct::Hold));
        }
    }
    Ok(Reply::Done)
}

pub(crate) fn release(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = own_task(turn.state, by, id)?;
    if task.state != TaskState::Held {
        return Err(wrong_state(task, TaskAct::Release));
    }
    unknown_runs::refuse_second_run(turn.state, id)?;
    if task.trail().doubt.is_some() {
        turn.state.change_task(id, |task| task.trail_mut().doubt = None);
    }
    turn.event(Event::TaskReleased { task: id });
    dependencies::settle(turn, id);
    Ok(Reply::Done)
}

/// The task runs again as if it were new, with its old id and its runs so far.
pub(crate) fn retry(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = own_task(turn.state, by, id)?;
    if !task.is_finished() {
        return Err(wrong_state(task, TaskAct::Retry));
    }
    unknown_runs::refuse_second_run(turn.state, id)?;
    let now = turn.now;
    if turn.state.waits_for_itself(id) {
        return Err(Refusal::Circle(id));
    }
    // It waits like a new one.
    quota::admit(turn.state, task.owner, &task.spec, 1, now)?;
    turn.state.change_task(id, |task| {
        task.state = TaskState::Held;
        task.trail_mut().not_before = task.spec.begin.filter(|begin| *begin > now);
        task.trail_mut().failures = 0;
        task.trail_mut().losses = 0;
        task.trail_mut().attained = Span::ZERO;
        task.trail_mut().progress = Span::ZERO;
        task.trail_mut().restart_cost = Span::ZERO;
    });
    turn.event(Event::TaskRetried { task: id });
    dependencies::settle(turn, id);
    Ok(Reply::Done)
}

pub(crate) fn remove(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = own_task(turn.state, by, id)?;
    if !task.is_finished() {
        return Err(wrong_state(task, TaskAct::Remove));
    }
    if let Some(waiting) = turn.state.index.dependents.get(&id).and_then(|tasks| tasks.first()) {
        return Err(Refusal::StillNeeded { task: id, by: *waiting });
    }
    if let Some(array) = turn.state.is_awaited(id) {
        return Err(Refusal::StillNeeded { task: id, by: array });
    }
    let (spec, owner) = (task.spec_id, task.owner);
    let removed = turn.state.remove_task(id);
    logs::remove(turn, owner, &removed);
    let runs = removed.iter().map(|run| run.id).collect();
    turn.event(Event::TaskRemoved { task: id, spec, runs });
    Ok(Reply::Done)
}

/// The owner's tasks exchange their positions; other users' tasks do not move.
pub(crate) fn move_to(turn: &mut Turn<'_>, by: Actor, id: TaskId, position: usize) -> Answer {
    let task = own_task(turn.state, by, id)?;
    if !task.is_queued() {
        return Err(wrong_state(task, TaskAct::Move));
    }
    let peers = |other: &&Arc<Task>| {
        (other.owner, other.spec.urgent, other.spec.priority)
            == (task.owner, task.spec.urgent, task.spec.priority)
    };
    let queued = turn.state.tasks.values().filter(|task| task.is_queued()).filter(peers);
    let mut order: Vec<(u64, TaskId)> = queued.map(|task| (task.place, task.id)).collect();
    order.sort_unstable();
    let places: Vec<u64> = order.iter().map(|(place, _)| *place).collect();
    order.retain(|(_, other)| *other != id);
    order.insert(position.min(order.len()), (0, id));
    let mut moved = Vec::new();
    for ((_, other), place) in order.into_iter().zip(places) {
        if turn.state.tasks[&other].place != place {
            turn.state.change_task(other, |task| task.place = place);
            moved.push(other);
        }
    }
    if !moved.is_empty() {
        turn.event(Event::TasksMoved { tasks: moved });
    }
    Ok(Reply::Done)
}

pub(crate) fn wrong_state(task: &Task, act: TaskAct) -> Refusal {
    let state = match task.state {
        TaskState::Held => TaskStage::Held,
        TaskState::Blocked { .. } => TaskStage::Blocked,
        TaskState::Queued { .. } => TaskStage::Queued,
        TaskState::Active { .. } => TaskStage::Active,
        TaskState::Finished { .. } => TaskStage::Finished,
    };
    Refusal::WrongState { task: task.id, state, act }
}
