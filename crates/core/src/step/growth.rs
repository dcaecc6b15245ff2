//! Adds the elements of arrays: the first slice with the submit, and one more with every scheduling pass.
//!
//! The submit reserves all ids and is durable as a whole. An input that names an element which is not there yet has it
//! added first, so that nobody can tell.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{TaskId, UserId};
use crate::model::task::{ArrayElement, TaskSpec};
use crate::state::State;
use crate::state::growing::Growing;
use crate::step::Turn;
use crate::step::event::Event;
use crate::step::input::Input;
use crate::step::submit::NewTasks;
use std::sync::Arc;

/// The array is accepted: all its ids are taken, and its first elements are there. The first one carries the key: it
/// stands for all of them.
pub(crate) fn begin(turn: &mut Turn<'_>, owner: UserId, spec: TaskSpec, key: Option<Arc<str>>) {
    let first = turn.state.ledger.next_task;
    let left = spec.array.as_ref().map_or(0, |array| array.indices.len());
    let left = u32::try_from(left).expect("arrays have an upper limit");
    let (spec_id, spec) = turn.state.new_spec(spec);
    turn.state.ledger.next_task = TaskId(first.0 + u64::from(left));
    let growing = Growing {
        owner,
        spec: spec_id,
        submitted_at: turn.now,
        added: 0,
        left,
        gpus: spec.request.gpus,
        project: spec.project.clone(),
    };
    turn.state.begin_growing(first, growing, &spec);
    let slice = turn.state.slice;
    add(turn, first, slice, key);
}

/// One slice of the oldest array.
pub(crate) fn grow(turn: &mut Turn<'_>) {
    if let Some(first) = turn.state.ledger.growing.keys().next().copied() {
        let slice = turn.state.slice;
        add(turn, first, slice, None);
    }
}

/// All that is to come, of one user or of everybody.
pub(crate) fn complete(turn: &mut Turn<'_>, of: Option<UserId>) {
    let growing = turn.state.ledger.growing.iter();
    let wanted = growing.filter(|(_, growing)| of.is_none_or(|user| growing.owner == user));
    let wanted: Vec<TaskId> = wanted.map(|(first, _)| *first).collect();
    wanted.into_iter().for_each(|first| add(turn, first, usize::MAX, None));
}

/// What the input names is there before it is decided.
pub(crate) fn reach(turn: &mut Turn<'_>, input: &Input) {
    if turn.state.ledger.growing.is_empty() {
        return;
    }
    for task in input.tasks() {
        if let Some(first) = turn.state.ledger.to_come(task) {
            let added = turn.state.ledger.growing[&first].added;
            let missing = task.0 - first.0 - u64::from(added) + 1;
            add(turn, first, usize::try_from(missing).unwrap_or(usize::MAX), None);
        }
    }
}

/// The next elements, at most so many.
fn add(turn: &mut Turn<'_>, first: TaskId, most: usize, mut key: Option<Arc<str>>) {
    let Some((growing, spec)) = next(turn.state, first) else { return };
    let Growing { owner, spec: spec_id, submitted_at, added, left, .. } = growing;
    let count = u32::try_from(most).unwrap_or(u32::MAX).min(left);
    let from = TaskId(first.0 + u64::from(added));
    turn.event(Event::TasksSubmitted { first: from, count, spec: spec_id });
    let new = NewTasks::alike(turn.state, owner, (spec_id, &spec), submitted_at, turn.now);
    let indices = spec.array.iter().flat_map(|array| &array.indices);
    let wanted = indices.skip(added as usize).take(count as usize);
    let wanted = wanted.filter(|_| added == 0 || !mutated(Mutant::ArrayCutShort));
    for (id, index) in (from.0..).zip(wanted) {
        let element = ArrayElement { first, index: *index };
        new.add(turn, TaskId(id), key.take(), Some(element));
    }
    turn.state.has_grown(first, count);
}

fn next(state: &State, first: TaskId) -> Option<(Growing, Arc<TaskSpec>)> {
    let growing = state.ledger.growing.get(&first)?;
    let (spec, _) = state.index.specs.get(&growing.spec)?;
    Some((growing.clone(), Arc::clone(spec)))
}
