//! Arrays whose elements are not all there yet: they are added in slices, and the ledger says what is to come.

use crate::model::ids::{SpecId, TaskId, UserId};
use crate::model::task::TaskSpec;
use crate::model::time::Time;
use crate::schedule::quota::Load;
use crate::state::State;
use crate::state::rows::Ledger;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// Elements of an array that are added at once, so that others' requests need not wait for all of them.
pub const SLICE: usize = 1_000;

/// An accepted array of which elements are still to be added. Their ids follow that of the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Growing {
    pub owner: UserId,
    pub spec: SpecId,
    pub submitted_at: Time,
    /// How many are there.
    pub added: u32,
    /// How many are not.
    pub left: u32,
    /// What counts for quotas.
    pub gpus: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
}

impl Growing {
    /// The ids of elements that are not there, of an array with this first id.
    fn reserved(&self, first: TaskId) -> Range<u64> {
        let from = first.0.saturating_add(u64::from(self.added));
        from..from.saturating_add(u64::from(self.left))
    }

    fn load(&self) -> Load {
        let left = u64::from(self.left);
        Load { tasks: left, gpus: left.saturating_mul(u64::from(self.gpus)) }
    }
}

impl Ledger {
    /// The array that has reserved this id for an element which is not there yet.
    pub fn to_come(&self, task: TaskId) -> Option<TaskId> {
        let (first, growing) = self.growing.range(..=task).next_back()?;
        growing.reserved(*first).contains(&task.0).then_some(*first)
    }
}

impl State {
    /// So many elements of an array are added by one step.
    pub fn set_slice(&mut self, slice: usize) {
        self.slice = slice.max(1);
    }

    /// The ids of elements that are still to be added and name this task as their predecessor.
    pub(crate) fn to_come_after(&self, task: TaskId) -> impl Iterator<Item = TaskId> {
        self.growing_after(task).flat_map(|(first, growing)| growing.reserved(*first)).map(TaskId)
    }

    /// The array of which an element that is still to be added names this task as its predecessor.
    pub(crate) fn is_awaited(&self, task: TaskId) -> Option<TaskId> {
        self.growing_after(task).next().map(|(first, _)| *first)
    }

    fn growing_after(&self, task: TaskId) -> impl Iterator<Item = (&TaskId, &Growing)> {
        self.ledger.growing.iter().filter(move |(_, growing)| {
            let spec = self.index.specs.get(&growing.spec);
            spec.is_some_and(|(spec, _)| spec.after.iter().any(|after| after.task == task))
        })
    }

    pub(crate) fn open_tasks(&self) -> usize {
        let to_come = self.ledger.growing.values().map(|growing| growing.left as usize);
        self.index.open_tasks + to_come.sum::<usize>()
    }

    pub(crate) fn to_come_of(&self, user: UserId) -> Load {
        let of_user = self.ledger.growing.values().filter(|growing| growing.owner == user);
        of_user.map(Growing::load).fold(Load::default(), Load::plus)
    }

    pub(crate) fn to_come_of_project(&self, project: &str) -> Load {
        let growing = self.ledger.growing.values();
        let of_project = growing.filter(|growing| growing.project.as_deref() == Some(project));
        of_project.map(Growing::load).fold(Load::default(), Load::plus)
    }

    /// Its elements are added from now on.
    pub(crate) fn begin_growing(&mut self, first: TaskId, growing: Growing, spec: &Arc<TaskSpec>) {
        self.index.keep_spec(growing.spec, spec);
        self.ledger.growing.insert(first, growing);
    }

    /// So many more are there.
    pub(crate) fn has_grown(&mut self, first: TaskId, by: u32) {
        let Some(growing) = self.ledger.growing.get_mut(&first) else { return };
        growing.added += by;
        growing.left -= by;
        if growing.left == 0 {
            let spec = growing.spec;
            self.ledger.growing.remove(&first);
            self.index.drop_spec(spec);
        }
    }
}
