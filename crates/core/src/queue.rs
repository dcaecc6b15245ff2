//! The queued tasks: by whose turn it is, inside a turn in the order of the policy, and by what they ask for.
//!
//! Tasks with equal requests fit in the same places, so a scheduling pass asks once for each
//! distinct request, however many tasks wait.

use crate::batches::Batches;
use crate::ids::{TaskId, UserId};
use crate::policy;
use crate::resources::Request;
use crate::settings::{Order, Settings};
use crate::task::{DEFAULT_PRIORITY, Task};
use crate::time::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// A place in a lane; smaller is earlier.
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

/// Whose tasks stand behind each other. Between lanes the order decides anew after every start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// All tasks in one: orders that do not look at whose they are.
    Everybody,
    User(UserId),
}

/// How long a task is expected to run; unknown is longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate(pub u64);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    lanes: BTreeMap<Lane, Waiting>,
    /// Every distinct request, over all lanes.
    requests: BTreeMap<Request, Alike>,
    len: usize,
    /// Under `auto` only.
    batches: Batches,
}

/// One lane, which is never empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Waiting {
    ranked: BTreeSet<Rank>,
    /// By submission, whatever their ranks are.
    ids: BTreeSet<TaskId>,
    by_request: BTreeMap<Request, BTreeMap<Estimate, BTreeSet<Rank>>>,
}

/// Queued tasks that ask for the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Alike {
    by_estimate: BTreeMap<Estimate, usize>,
}

impl Rank {
    pub(crate) fn of(task: &Task, key: i64) -> Rank {
        let (not_urgent, priority) = (!task.spec.urgent, task.spec.priority);
        Rank { not_urgent, priority, key, place: task.place, task: task.id }
    }

    /// … as far as it concerns others than its owner.
    pub(crate) fn between_all(task: &Task, key: i64) -> Rank {
        let rank = Rank::of(task, key);
        match task.own_claims {
            true => {
                Rank { not_urgent: true, priority: rank.priority.max(DEFAULT_PRIORITY), ..rank }
            }
            false => rank,
        }
    }
}

impl Estimate {
    pub const UNKNOWN: Estimate = Estimate(u64::MAX);

    pub fn of(task: &Task) -> Estimate {
        task.expected_remaining().map_or(Estimate::UNKNOWN, |Span(ms)| Estimate(ms))
    }
}

impl Alike {
    pub(crate) fn shortest(&self) -> Option<Estimate> {
        self.by_estimate.keys().next().copied()
    }
}

impl Queue {
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Each lane in its order, one lane after the other.
    pub fn iter(&self) -> impl Iterator<Item = Rank> {
        self.lanes.values().flat_map(|lane| lane.ranked.iter().copied())
    }

    pub fn contains(&self, task: &Task, settings: &Settings) -> bool {
        let lane = self.lanes.get(&policy::lane(task, settings));
        lane.is_some_and(|lane| lane.ranked.contains(&policy::rank(task, settings)))
    }

    pub(crate) fn lanes(&self) -> impl Iterator<Item = Lane> {
        self.lanes.keys().copied()
    }

    /// Every distinct request, with what is known of its tasks.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&Request, &Alike)> {
        self.requests.iter()
    }

    pub(crate) fn distinct_requests(&self) -> usize {
        self.requests.len()
    }

    /// The tasks of a lane in the order of submission, from `since` on.
    pub(crate) fn submitted_from(&self, lane: Lane, since: TaskId) -> impl Iterator<Item = TaskId> {
        let ids = self.lanes.get(&lane).map(|waiting| waiting.ids.range(since..));
        ids.into_iter().flatten().copied()
    }

    /// The first of a lane that comes after `last`.
    pub(crate) fn first_after(&self, lane: Lane, last: Option<Rank>) -> Option<Rank> {
        self.lanes.get(&lane)?.ranked.range(after(last)).next().copied()
    }

    /// … of those that ask for something `wanted`.
    pub(crate) fn first_wanted_after(
        &self,
        lane: Lane,
        last: Option<Rank>,
        wanted: impl Fn(&Request) -> bool,
    ) -> Option<Rank> {
        let by_request = self.lanes.get(&lane)?.by_request.iter();
        let lists = by_request.filter(|(request, _)| wanted(request));
        let lists = lists.flat_map(|(_, by_estimate)| by_estimate.values());
        lists.filter_map(|ranks| ranks.range(after(last)).next()).min().copied()
    }

    /// … of those that ask for this and are expected to take at most `longest`.
    pub(crate) fn first_alike_after(
        &self,
        lane: Lane,
        last: Option<Rank>,
        request: &Request,
        longest: Estimate,
    ) -> Option<Rank> {
        let lists = self.lanes.get(&lane)?.by_request.get(request)?.range(..=longest);
        lists.filter_map(|(_, ranks)| ranks.range(after(last)).next()).min().copied()
    }

    pub(crate) fn batches(&self) -> &Batches {
        &self.batches
    }

    pub(crate) fn batches_mut(&mut self) -> &mut Batches {
        &mut self.batches
    }

    pub(crate) fn insert(&mut self, task: &Task, settings: &Settings) {
        if settings.order == Order::Auto {
            self.batches.insert(task);
        }
        let (lane, rank) = (policy::lane(task, settings), policy::rank(task, settings));
        let (request, estimate) = (&task.spec.request, Estimate::of(task));
        let waiting = self.lanes.entry(lane).or_default();
        waiting.ranked.insert(rank);
        if lane != Lane::Everybody {
            waiting.ids.insert(task.id);
        }
        let by_estimate = entry(&mut waiting.by_request, request);
        by_estimate.entry(estimate).or_default().insert(rank);
        *entry(&mut self.requests, request).by_estimate.entry(estimate).or_default() += 1;
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, task: &Task, settings: &Settings) {
        if settings.order == Order::Auto {
            self.batches.remove(task);
        }
        const LISTED: &str = "a queued task is listed";
        let (lane, rank) = (policy::lane(task, settings), policy::rank(task, settings));
        let (request, estimate) = (&task.spec.request, Estimate::of(task));
        let waiting = self.lanes.get_mut(&lane).expect(LISTED);
        waiting.ranked.remove(&rank);
        waiting.ids.remove(&task.id);
        let by_estimate = waiting.by_request.get_mut(request).expect(LISTED);
        let ranks = by_estimate.get_mut(&estimate).expect(LISTED);
        ranks.remove(&rank);
        if ranks.is_empty() {
            by_estimate.remove(&estimate);
            if by_estimate.is_empty() {
                waiting.by_request.remove(request);
                if waiting.ranked.is_empty() {
                    self.lanes.remove(&lane);
                }
            }
        }
        let alike = self.requests.get_mut(request).expect(LISTED);
        let count = alike.by_estimate.get_mut(&estimate).expect(LISTED);
        *count -= 1;
        if *count == 0 {
            alike.by_estimate.remove(&estimate);
            if alike.by_estimate.is_empty() {
                self.requests.remove(request);
            }
        }
        self.len -= 1;
    }
}

fn after(last: Option<Rank>) -> (Bound<Rank>, Bound<Rank>) {
    (last.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)
}

/// As `entry().or_default()`, without a copy of the key where there is one.
fn entry<'a, V: Default>(map: &'a mut BTreeMap<Request, V>, request: &Request) -> &'a mut V {
    if !map.contains_key(request) {
        map.insert(request.clone(), V::default());
    }
    map.get_mut(request).expect("inserted just now")
}
