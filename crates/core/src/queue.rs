//! The queued tasks in the order of the policy, and by what they ask for.
//!
//! Tasks with equal requests fit in the same places, so a scheduling pass asks once for each
//! distinct request, however many tasks wait.

use crate::ids::TaskId;
use crate::policy;
use crate::resources::Request;
use crate::settings::Settings;
use crate::task::Task;
use crate::time::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// A place in the queue; smaller is earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    pub(crate) not_urgent: bool,
    pub(crate) priority: i32,
    /// What the policy goes by.
    pub(crate) key: i64,
    /// Submission order decides among equals, unless somebody moved one; requeued tasks keep their place.
    pub(crate) place: u64,
    pub task: TaskId,
}

/// How long a task is expected to run; unknown is longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate(pub u64);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    ranked: BTreeSet<Rank>,
    by_request: BTreeMap<Request, BTreeMap<Estimate, BTreeSet<Rank>>>,
}

impl Rank {
    pub(crate) fn of(task: &Task, key: i64) -> Rank {
        Rank {
            not_urgent: !task.spec.urgent,
            priority: task.spec.priority,
            key,
            place: task.place,
            task: task.id,
        }
    }
}

impl Estimate {
    pub const UNKNOWN: Estimate = Estimate(u64::MAX);

    pub fn of(task: &Task) -> Estimate {
        task.expected_remaining().map_or(Estimate::UNKNOWN, |Span(ms)| Estimate(ms))
    }
}

impl Queue {
    pub fn len(&self) -> usize {
        self.ranked.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ranked.is_empty()
    }

    /// In the order of the policy.
    pub fn iter(&self) -> impl Iterator<Item = Rank> {
        self.ranked.iter().copied()
    }

    pub fn contains(&self, rank: &Rank) -> bool {
        self.ranked.contains(rank)
    }

    /// Every distinct request, with its tasks by estimate.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&Request, Alike<'_>)> {
        self.by_request.iter().map(|(request, by_estimate)| (request, Alike { by_estimate }))
    }

    pub(crate) fn insert(&mut self, task: &Task, settings: &Settings) {
        let rank = policy::rank(task, settings);
        self.ranked.insert(rank);
        let request = &task.spec.request;
        if !self.by_request.contains_key(request) {
            self.by_request.insert(request.clone(), BTreeMap::new());
        }
        let alike = self.by_request.get_mut(request).expect("inserted just now");
        alike.entry(Estimate::of(task)).or_default().insert(rank);
    }

    pub(crate) fn remove(&mut self, task: &Task, settings: &Settings) {
        let rank = policy::rank(task, settings);
        self.ranked.remove(&rank);
        let request = &task.spec.request;
        let estimate = Estimate::of(task);
        let by_estimate = self.by_request.get_mut(request).expect("a queued task is listed");
        let ranks = by_estimate.get_mut(&estimate).expect("a queued task is listed");
        ranks.remove(&rank);
        if ranks.is_empty() {
            by_estimate.remove(&estimate);
            if by_estimate.is_empty() {
                self.by_request.remove(request);
            }
        }
    }
}

/// Queued tasks that ask for the same.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Alike<'a> {
    by_estimate: &'a BTreeMap<Estimate, BTreeSet<Rank>>,
}

impl Alike<'_> {
    /// The first in the order of the policy that comes after `last` and is expected to take at most `longest`.
    pub(crate) fn first_after(&self, last: Option<Rank>, longest: Estimate) -> Option<Rank> {
        let bound = last.map_or(Bound::Unbounded, Bound::Excluded);
        let lists = self.by_estimate.range(..=longest);
        lists.filter_map(|(_, ranks)| ranks.range((bound, Bound::Unbounded)).next()).min().copied()
    }
}
