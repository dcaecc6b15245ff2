//! Dependencies: what a task waits for before it is queued, and the tasks that its own end releases.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::TaskId;
use crate::model::task::{Dependency, DependencyKind, Doubt, Outcome, TaskState};
use crate::model::time::Span;
use crate::state::State;
use crate::step::Turn;
use crate::step::event::{Event, RequeueReason};
use std::collections::BTreeSet;

/// Queue the task, or block it on what has not ended yet, or end it if it can no longer run.
pub(crate) fn settle(turn: &mut Turn<'_>, id: TaskId) {
    match verdict(turn.state, &turn.state.tasks[&id].spec.after) {
        DependencyVerdict::Wait { on } => {
            turn.state.change_task(id, |task| task.state = TaskState::Blocked { on });
        }
        DependencyVerdict::Queue => queue(turn, id),
        DependencyVerdict::Fail { on } => finish(turn, id, Outcome::DependencyFailed { on }),
    }
}

/// The prediction made now is kept while it waits, so that its rank does not change.
fn queue(turn: &mut Turn<'_>, id: TaskId) {
    let since = turn.now;
    let predicted = turn.state.predict(&turn.state.tasks[&id]);
    turn.state.change_task(id, |task| {
        task.state = TaskState::Queued { since };
        task.predicted = predicted;
        if let Some(trail) = &mut task.trail {
            trail.predicted_start = None;
        }
    });
    if turn.state.settings().predictions {
        turn.state.predict_start(id, since);
    }
}

/// End a task and settle all that waited for it, and what waited for those.
pub(crate) fn finish(turn: &mut Turn<'_>, id: TaskId, outcome: Outcome) {
    let mut ended = vec![(id, outcome)];
    while let Some((id, outcome)) = ended.pop() {
        // It may have waited for several that ended in this very step.
        if turn.state.tasks[&id].is_finished() {
            continue;
        }
        let at = turn.now;
        let state = TaskState::Finished { outcome: Box::new(outcome.clone()), at };
        turn.state.change_task(id, |task| {
            task.state = state;
            if let Some(trail) = &mut task.trail {
                trail.doubt = None;
            }
        });
        turn.event(Event::TaskFinished { task: id, outcome });
        if mutated(Mutant::DependentsForgotten) {
            continue;
        }
        for waiting in blocked_on(turn.state, id) {
            match verdict(turn.state, &turn.state.tasks[&waiting].spec.after) {
                DependencyVerdict::Wait { on } => {
                    let change = |task: &mut crate::Task| task.state = TaskState::Blocked { on };
                    turn.state.change_task(waiting, change);
                    turn.event(Event::TaskUnblocked { task: waiting });
                }
                DependencyVerdict::Queue => {
                    queue(turn, waiting);
                    turn.event(Event::TaskUnblocked { task: waiting });
                }
                DependencyVerdict::Fail { on } => {
                    ended.push((waiting, Outcome::DependencyFailed { on }));
                }
            }
        }
    }
}

/// It is unknown whether it has run: hold it now, or when it would be queued again.
pub(crate) fn doubt(turn: &mut Turn<'_>, id: TaskId, why: Doubt) {
    turn.state.change_task(id, |task| {
        task.trail_mut().doubt = Some(why);
        match task.state {
            TaskState::Queued { .. } | TaskState::Blocked { .. } => task.state = TaskState::Held,
            TaskState::Held | TaskState::Active { .. } | TaskState::Finished { .. } => {}
        }
    });
    turn.event(Event::TaskInDoubt { task: id, why });
}

/// Its run has ended, and the task may already have run to its end: it runs again only after it is released.
pub(crate) fn hold_in_doubt(turn: &mut Turn<'_>, id: TaskId, why: Doubt) {
    turn.state.change_task(id, |task| task.state = TaskState::Held);
    doubt(turn, id, why);
}

/// Put an active task whose run has ended back into the queue, at its old place, to be started after `wait`.
pub(crate) fn requeue(turn: &mut Turn<'_>, id: TaskId, why: RequeueReason, wait: Span) {
    let since = turn.now;
    let doubt = turn.state.tasks[&id].trail().doubt;
    turn.state.change_task(id, |task| {
        task.state = if doubt.is_some() { TaskState::Held } else { TaskState::Queued { since } };
        task.trail_mut().not_before = (wait > Span::ZERO).then_some(since + wait);
    });
    turn.event(Event::TaskRequeued { task: id, why });
    // It may have been started again since, by a store that was lost.
    if let Some(why) = doubt {
        turn.event(Event::TaskInDoubt { task: id, why });
    }
}

impl State {
    /// Whether it would wait for itself if it were unfinished, over any number of unfinished tasks. When a dependency
    /// was added, an ended task in between may not have been in the state.
    pub(crate) fn waits_for_itself(&self, id: TaskId) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![id];
        while let Some(it) = next.pop() {
            let task = self.tasks.get(&it).filter(|task| it == id || !task.is_finished());
            for after in task.into_iter().flat_map(|task| &task.spec.after) {
                if after.task == id {
                    return true;
                }
                if seen.insert(after.task) {
                    next.push(after.task);
                }
            }
        }
        false
    }

    /// Unfinished tasks that depend on one of these, directly or indirectly; each before its dependencies, so that
    /// ending them in this order releases none.
    pub fn waiting_for(&self, tasks: &[TaskId]) -> Vec<TaskId> {
        let dependents = |id: TaskId| {
            let there = self.index.dependents.get(&id).into_iter().flatten().copied();
            there.chain(self.to_come_after(id))
        };
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        // A task is listed after all its dependents.
        let mut path: Vec<(TaskId, bool)> = tasks.iter().map(|id| (*id, false)).collect();
        while let Some((id, told)) = path.pop() {
            if told {
                found.push(id);
            } else if seen.insert(id) {
                path.push((id, true));
                path.extend(dependents(id).map(|id| (id, false)));
            }
        }
        found.retain(|id| !tasks.contains(id));
        found
    }
}

pub(crate) enum DependencyVerdict {
    Queue,
    Wait { on: BTreeSet<TaskId> },
    Fail { on: TaskId },
}

/// A removed predecessor has released its dependents before, and blocks no task.
pub(crate) fn verdict(state: &State, named: &[Dependency]) -> DependencyVerdict {
    let mut on = BTreeSet::new();
    for after in named {
        let Some(predecessor) = state.tasks.get(&after.task) else {
            continue;
        };
        match predecessor.outcome() {
            None => drop(on.insert(after.task)),
            Some(outcome) if allows(*after, outcome) => {}
            Some(_) => return DependencyVerdict::Fail { on: after.task },
        }
    }
    if on.is_empty() { DependencyVerdict::Queue } else { DependencyVerdict::Wait { on } }
}

fn allows(after: Dependency, outcome: &Outcome) -> bool {
    let mutant = after.kind == DependencyKind::AfterOk && mutated(Mutant::DependencyAnyOutcome);
    mutant || after.allows(outcome)
}

fn blocked_on(state: &State, id: TaskId) -> Vec<TaskId> {
    let dependents = state.index.dependents.get(&id).into_iter().flatten();
    let blocked = |task: &&TaskId| matches!(&state.tasks[task].state, TaskState::Blocked { .. });
    dependents.filter(blocked).copied().collect()
}
