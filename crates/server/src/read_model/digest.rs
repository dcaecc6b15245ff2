//! Counts and ids for the overview, updated with every change, so that it need not go through all tasks.

use super::brief::{Brief, BriefState};
use danlu_core::task::ArrayElement;
use danlu_core::{Task, TaskId, UserId};
use danlu_wire::api::TaskStateName;
use imbl::{OrdMap, OrdSet};

#[derive(Debug, Clone, Default)]
pub struct Digest {
    /// Tasks that have not ended and are no elements of arrays.
    pub open_singles: OrdMap<TaskId, Brief>,
    /// By the id of the first element.
    pub arrays: OrdMap<TaskId, ArrayDigest>,
    /// Arrays of which some elements have not ended.
    pub open_arrays: OrdSet<TaskId>,
    pub ended: OrdSet<TaskId>,
    /// How many of each user's tasks there are.
    counts: OrdMap<(UserId, BriefState), usize>,
}

/// Where the elements of an array stand.
#[derive(Debug, Clone, Default)]
pub struct ArrayDigest {
    pub waiting: OrdSet<TaskId>,
    pub active: OrdSet<TaskId>,
    pub ended: OrdSet<TaskId>,
    /// Of those that wait or have ended.
    pub counts: OrdMap<TaskStateName, usize>,
}

impl Digest {
    pub fn waiting_of(&self, user: UserId) -> usize {
        self.count(|owner, state| owner == user && matches!(state, BriefState::Waiting(_)))
    }

    /// How many tasks each user has in each state.
    pub fn counts(&self) -> impl Iterator<Item = (&(UserId, BriefState), &usize)> {
        self.counts.iter()
    }

    pub fn count(&self, is_counted: impl Fn(UserId, BriefState) -> bool) -> usize {
        let counted = self.counts.iter().filter(|((user, state), _)| is_counted(*user, *state));
        counted.map(|(_, count)| count).sum()
    }

    /// A task has appeared, changed or gone.
    pub(super) fn change(&mut self, id: TaskId, before: Option<&Task>, after: Option<&Task>) {
        let listed = |task: &Task| (Brief::of(task), task.array);
        let (before, after) = (before.map(listed), after.map(listed));
        if before == after {
            return;
        }
        if let Some((brief, array)) = before {
            self.remove(id, &brief, array);
        }
        if let Some((brief, array)) = after {
            self.add(id, brief, array);
        }
    }

    fn add(&mut self, id: TaskId, brief: Brief, array: Option<ArrayElement>) {
        *self.counts.entry((brief.owner, brief.state)).or_insert(0) += 1;
        if brief.is_over() {
            self.ended.insert(id);
        }
        match array {
            None if brief.is_over() => {}
            None => drop(self.open_singles.insert(id, brief)),
            Some(element) => {
                let array = self.arrays.entry(element.first).or_default();
                array.add(id, brief.state);
                if !brief.is_over() {
                    self.open_arrays.insert(element.first);
                }
            }
        }
    }

    fn remove(&mut self, id: TaskId, brief: &Brief, array: Option<ArrayElement>) {
        let key = (brief.owner, brief.state);
        if let Some(count) = self.counts.get_mut(&key) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&key);
            }
        }
        if brief.is_over() {
            self.ended.remove(&id);
        }
        let Some(first) = array.map(|element| element.first) else {
            self.open_singles.remove(&id);
            return;
        };
        let Some(array) = self.arrays.get_mut(&first) else { return };
        array.remove(id, brief.state);
        let (open, gone) = (array.is_open(), array.size() == 0);
        if !open {
            self.open_arrays.remove(&first);
        }
        if gone {
            self.arrays.remove(&first);
        }
    }
}

impl ArrayDigest {
    fn is_open(&self) -> bool {
        !self.waiting.is_empty() || !self.active.is_empty()
    }

    pub fn size(&self) -> usize {
        self.waiting.len() + self.active.len() + self.ended.len()
    }

    /// The one that stands for all: one that waits tells why.
    pub fn spokesman(&self) -> Option<TaskId> {
        let sets = [&self.waiting, &self.active, &self.ended];
        sets.into_iter().find_map(|set| set.get_min().copied())
    }

    pub fn first_and_last(&self) -> Option<(TaskId, TaskId)> {
        let sets = [&self.waiting, &self.active, &self.ended];
        let first = sets.iter().filter_map(|set| set.get_min().copied()).min()?;
        let last = sets.iter().filter_map(|set| set.get_max().copied()).max()?;
        Some((first, last))
    }

    fn add(&mut self, id: TaskId, state: BriefState) {
        match state {
            BriefState::Active => drop(self.active.insert(id)),
            BriefState::Waiting(name) => {
                self.waiting.insert(id);
                *self.counts.entry(name).or_insert(0) += 1;
            }
            BriefState::Ended(name) => {
                self.ended.insert(id);
                *self.counts.entry(name).or_insert(0) += 1;
            }
        }
    }

    fn remove(&mut self, id: TaskId, state: BriefState) {
        let name = match state {
            BriefState::Active => {
                self.active.remove(&id);
                return;
            }
            BriefState::Waiting(name) => {
                self.waiting.remove(&id);
                name
            }
            BriefState::Ended(name) => {
                self.ended.remove(&id);
                name
            }
        };
        if let Some(count) = self.counts.get_mut(&name) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&name);
            }
        }
    }
}
