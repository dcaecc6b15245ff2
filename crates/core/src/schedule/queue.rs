//! The queued tasks: by lane, within a lane in the order of the policy, and by request.
//!
//! Tasks with equal requests fit in the same places, so a scheduling pass searches once for each distinct request,
//! however many tasks wait.

use crate::model::ids::{TaskId, UserId};
use crate::model::resources::Request;
use crate::model::settings::{Order, Settings};
use crate::model::shared::Shared;
use crate::model::task::{DEFAULT_PRIORITY, Task, TaskState};
use crate::model::time::{Span, Time};
use crate::schedule;
use crate::schedule::auto::batches::Batches;
use crate::schedule::packed_set::PackedSet;
use std::collections::BTreeMap;
use std::ops::Bound;

/// A place in a lane; smaller is earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    pub(crate) not_urgent: bool,
    pub(crate) priority: i32,
    /// What the policy goes by.
    pub(crate) key: i64,
    /// Submission order decides among equals, unless a task was moved; requeued tasks keep their position.
    pub(crate) place: u64,
    pub task: TaskId,
}

/// Tasks that are ranked among each other. Between lanes the order decides again after every start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// One lane for all tasks: orders that ignore owners.
    Everybody,
    User(UserId),
}

/// What decides whether a task may start now, besides its owner. Tasks of one kind fit in the same places.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub(crate) request: Shared<Request>,
    /// If it has a quota.
    pub(crate) project: Option<String>,
}

/// How long a task is expected to run; unknown is longest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Estimate(pub u64);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Queue {
    lanes: BTreeMap<Lane, LaneQueue>,
    /// Over all lanes.
    kinds: BTreeMap<Kind, Alike>,
    len: usize,
    /// Under `auto` only.
    batches: Batches,
}

/// One lane, which is never empty.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct LaneQueue {
    ranked: PackedSet<Rank>,
    /// By submission, whatever their ranks are.
    ids: PackedSet<TaskId>,
    by_kind: BTreeMap<Kind, BTreeMap<Estimate, PackedSet<Rank>>>,
}

/// Queued tasks of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Alike {
    by_estimate: BTreeMap<Estimate, usize>,
    /// By how long they have been queued.
    by_age: PackedSet<(Time, TaskId)>,
}

impl Lane {
    pub(crate) fn user(self) -> Option<UserId> {
        match self {
            Lane::Everybody => None,
            Lane::User(user) => Some(user),
        }
    }
}

impl Rank {
    pub(crate) fn of(task: &Task, key: i64) -> Rank {
        let (not_urgent, priority) = (!task.spec.urgent, task.spec.priority);
        Rank { not_urgent, priority, key, place: task.place, task: task.id }
    }

    /// … among tasks of all users.
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
    /// The task that has waited longest. A task queued in the future was queued before the clock was set back.
    pub(crate) fn oldest(&self, now: Time) -> Option<(Time, TaskId)> {
        let later = (now + Span(1), TaskId(0));
        let mut set_back = self.by_age.from(Bound::Included(&later));
        set_back.next().or_else(|| self.by_age.first()).copied()
    }

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
        let lane = self.lanes.get(&schedule::lane(task, settings));
        lane.is_some_and(|lane| lane.ranked.contains(&schedule::rank(task, settings)))
    }

    pub(crate) fn has_tasks_without_gpus(&self, lane: Lane) -> bool {
        let kinds = self.lanes.get(&lane).and_then(|waiting| waiting.by_kind.first_key_value());
        kinds.is_some_and(|(first, _)| first.request.gpus == 0)
    }

    /// In the order of their requests, with what is known of their tasks.
    pub(crate) fn kinds(&self) -> impl ExactSizeIterator<Item = (&Kind, &Alike)> {
        self.kinds.iter()
    }

    pub(crate) fn kinds_asking(&self, request: &Shared<Request>) -> impl Iterator<Item = &Kind> {
        let first = Kind { request: request.clone(), project: None };
        let kinds = self.kinds.range(first..).map(|(kind, _)| kind);
        kinds.take_while(move |kind| kind.request == *request)
    }

    /// The tasks of a lane in the order of submission, from `since` on.
    pub(crate) fn submitted_from(&self, lane: Lane, since: TaskId) -> impl Iterator<Item = TaskId> {
        let lane = self.lanes.get(&lane).into_iter();
        lane.flat_map(move |waiting| waiting.ids.from(Bound::Included(&since)).copied())
    }

    /// The first of a lane that comes after `last`.
    pub(crate) fn first_after(&self, lane: Lane, last: Option<Rank>) -> Option<Rank> {
        self.lanes.get(&lane)?.ranked.from(after(last.as_ref())).next().copied()
    }

    /// … of those of a kind that is `wanted`.
    pub(crate) fn first_wanted_after(
        &self,
        lane: Lane,
        last: Option<Rank>,
        wanted: impl Fn(&Kind) -> bool,
    ) -> Option<Rank> {
        let by_kind = self.lanes.get(&lane)?.by_kind.iter();
        let lists = by_kind.filter(|(kind, _)| wanted(kind));
        let lists = lists.flat_map(|(_, by_estimate)| by_estimate.values());
        lists.filter_map(|ranks| ranks.from(after(last.as_ref())).next()).min().copied()
    }

    /// … of those of this kind that are expected to take at most `longest`.
    pub(crate) fn first_alike_after(
        &self,
        lane: Lane,
        last: Option<Rank>,
        kind: &Kind,
        longest: Estimate,
    ) -> Option<Rank> {
        let lists = self.lanes.get(&lane)?.by_kind.get(kind)?.range(..=longest);
        lists.filter_map(|(_, ranks)| ranks.from(after(last.as_ref())).next()).min().copied()
    }

    pub(crate) fn batches(&self) -> &Batches {
        &self.batches
    }

    pub(crate) fn batches_mut(&mut self) -> &mut Batches {
        &mut self.batches
    }

    pub(crate) fn insert(&mut self, task: &Task, settings: &Settings) {
        let (lane, rank) = (schedule::lane(task, settings), schedule::rank(task, settings));
        let (kind, estimate) = (schedule::kind(task, settings), Estimate::of(task));
        if settings.order == Order::Auto {
            self.batches.insert(task, &kind);
        }
        let waiting = self.lanes.entry(lane).or_default();
        waiting.ranked.insert(rank);
        if lane != Lane::Everybody {
            waiting.ids.insert(task.id);
        }
        let alike = entry(&mut self.kinds, &kind);
        *alike.by_estimate.entry(estimate).or_default() += 1;
        if let Some(age) = age(task) {
            alike.by_age.insert(age);
        }
        waiting.by_kind.entry(kind).or_default().entry(estimate).or_default().insert(rank);
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, task: &Task, settings: &Settings) {
        const LISTED: &str = "a queued task is listed";
        let (lane, rank) = (schedule::lane(task, settings), schedule::rank(task, settings));
        let (kind, estimate) = (schedule::kind(task, settings), Estimate::of(task));
        if settings.order == Order::Auto {
            self.batches.remove(task, &kind);
        }
        let waiting = self.lanes.get_mut(&lane).expect(LISTED);
        waiting.ranked.remove(&rank);
        waiting.ids.remove(&task.id);
        let by_estimate = waiting.by_kind.get_mut(&kind).expect(LISTED);
        let ranks = by_estimate.get_mut(&estimate).expect(LISTED);
        ranks.remove(&rank);
        if ranks.is_empty() {
            by_estimate.remove(&estimate);
            if by_estimate.is_empty() {
                waiting.by_kind.remove(&kind);
                if waiting.ranked.is_empty() {
                    self.lanes.remove(&lane);
                }
            }
        }
        let alike = self.kinds.get_mut(&kind).expect(LISTED);
        if let Some(age) = age(task) {
            alike.by_age.remove(&age);
        }
        let count = alike.by_estimate.get_mut(&estimate).expect(LISTED);
        *count -= 1;
        if *count == 0 {
            alike.by_estimate.remove(&estimate);
            if alike.by_estimate.is_empty() {
                self.kinds.remove(&kind);
            }
        }
        self.len -= 1;
    }
}

fn age(task: &Task) -> Option<(Time, TaskId)> {
    match task.state {
        TaskState::Queued { since } => Some((since, task.id)),
        TaskState::Held
        | TaskState::Blocked { .. }
        | TaskState::Active { .. }
        | TaskState::Finished { .. } => None,
    }
}

fn after(last: Option<&Rank>) -> Bound<&Rank> {
    last.map_or(Bound::Unbounded, Bound::Excluded)
}

/// As `entry().or_default()`, without a copy of the key where there is one.
fn entry<'a, V: Default>(map: &'a mut BTreeMap<Kind, V>, kind: &Kind) -> &'a mut V {
    if !map.contains_key(kind) {
        map.insert(kind.clone(), V::default());
    }
    map.get_mut(kind).expect("inserted just now")
}
