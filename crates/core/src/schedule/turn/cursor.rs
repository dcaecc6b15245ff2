//! Which task is next in a scheduling pass. Every start changes whose turn it is.

use super::key::TurnKey;
use crate::model::ids::{TaskId, UserId};
use crate::model::resources::Request;
use crate::model::settings::Order;
use crate::model::shared::Shared;
use crate::model::time::Time;
use crate::schedule::order::balance;
use crate::schedule::order::fair::Used;
use crate::schedule::queue::{Estimate, Kind, Lane, Queue, Rank};
use crate::schedule::quota::{self, Excess, Limit, Load, Party};
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::Peekable;

pub(crate) struct TurnCursor<'a> {
    state: &'a State,
    now: Time,
    queue: &'a Queue,
    /// Lanes in which nothing has happened yet, in order; without those whose first would exceed a quota.
    fresh: Peekable<Box<dyn Iterator<Item = (TurnKey, Lane)> + 'a>>,
    /// The others. What stands here may be too early: it is looked at again when it is first.
    open: BTreeSet<(TurnKey, Lane)>,
    seen: BTreeMap<Lane, Seen>,
    /// For `fair`.
    used: Option<Used<'a>>,
    /// Kinds that are closed for the rest of this pass.
    dropped: BTreeSet<&'a Kind>,
    /// What it has started for projects that have a quota.
    projects: BTreeMap<String, Load>,
    /// Started before its turn.
    taken: Option<(Lane, Rank)>,
    /// A task that is not in the queue, to see when its turn would come.
    guest: Option<(Lane, Rank)>,
}

/// What a pass has done in a lane.
#[derive(Debug, Default)]
struct Seen {
    /// All up to here have had their turn.
    last: Option<Rank>,
    started: BTreeSet<TaskId>,
    /// What its owner is assumed to run in addition, and no longer.
    more: Load,
    fewer: Load,
    oldest: Option<TaskId>,
    /// Where it stands in the line, unless it is closed.
    filed: Option<TurnKey>,
    /// Its owner may have no more GPUs.
    without_gpus: bool,
}

impl<'a> TurnCursor<'a> {
    pub(crate) fn new(state: &'a State, now: Time) -> TurnCursor<'a> {
        let queue = state.queue();
        let order = state.settings().order;
        let used = (order == Order::Fair).then(|| Used::at(state, now));
        let fresh: Box<dyn Iterator<Item = (TurnKey, Lane)> + 'a> = if order == Order::Fair {
            let used = Used::at(state, now);
            let turn_key = move |user, oldest| used.turn_key(&state.users[&user], oldest);
            let users = state.index.fair_turns.in_order(turn_key);
            Box::new(users.map(|(turn_key, user)| (turn_key, Lane::User(user))))
        } else if crate::schedule::is_by_user(state.settings()) {
            let users = state.index.turns.in_order();
            Box::new(users.map(|(turn_key, user)| (turn_key, Lane::User(user))))
        } else {
            Box::new(std::iter::once((TurnKey::by_rank(None), Lane::Everybody)))
        };
        TurnCursor {
            state,
            now,
            queue,
            fresh: fresh.peekable(),
            open: BTreeSet::new(),
            seen: BTreeMap::new(),
            used,
            dropped: BTreeSet::new(),
            projects: BTreeMap::new(),
            taken: None,
            guest: None,
        }
    }

    /// … with one more task at the end of those that rank like it.
    pub(crate) fn with_guest(
        state: &'a State,
        now: Time,
        lane: Lane,
        rank: Rank,
    ) -> TurnCursor<'a> {
        let mut cursor = TurnCursor::new(state, now);
        cursor.guest = Some((lane, rank));
        if cursor.queue.first_after(lane, None).is_none() {
            cursor.file(lane);
        }
        cursor
    }

    /// The lane whose turn it is.
    pub(crate) fn first(&mut self) -> Option<Lane> {
        if self.guest.is_none() && self.dropped.len() == self.queue.kinds().len() {
            return None;
        }
        loop {
            let fresh_first = match (self.fresh.peek(), self.open.first()) {
                (None, None) => return None,
                (Some(fresh), Some(open)) => fresh < open,
                (fresh, None) => fresh.is_some(),
                (None, _) => false,
            };
            if fresh_first {
                let (_, lane) = self.fresh.next()?;
                if !self.seen.contains_key(&lane) {
                    self.file(lane);
                }
                continue;
            }
            let (turn_key, lane) = *self.open.first()?;
            if self.turn_key(lane) == turn_key {
                return Some(lane);
            }
            self.file(lane);
        }
    }

    /// The next of a lane that can still be had.
    pub(crate) fn next_in(&self, lane: Lane) -> Option<Rank> {
        let mut last = self.last(lane);
        let all = self.dropped.is_empty() && !self.without_gpus(lane);
        let queued = loop {
            let next = match all {
                true => self.queue.first_after(lane, last),
                false => self.queue.first_wanted_after(lane, last, |kind| self.is_open(lane, kind)),
            };
            if next.is_none() || next.map(|rank| (lane, rank)) != self.taken {
                break next;
            }
            last = next;
        };
        let guest = self.guest.filter(|(whose, rank)| *whose == lane && Some(*rank) > last);
        match (queued, guest) {
            (Some(queued), Some((_, guest))) => Some(queued.min(guest)),
            (queued, guest) => queued.or(guest.map(|(_, rank)| rank)),
        }
    }

    /// The next of a lane that is of this kind, is expected to take at most `longest`, and may be started.
    pub(crate) fn next_alike(&self, lane: Lane, kind: &Kind, longest: Estimate) -> Option<Rank> {
        let last = self.last(lane);
        let mut next = self.queue.first_alike_after(lane, last, kind, longest)?;
        if Some((lane, next)) == self.taken {
            next = self.queue.first_alike_after(lane, Some(next), kind, longest)?;
        }
        (self.is_open(lane, kind) && self.excess(next).is_none()).then_some(next)
    }

    /// What a start of this would exceed.
    pub(crate) fn excess(&self, rank: Rank) -> Option<Excess> {
        let quota = &self.state.settings().quota;
        if !quota.limits_users() && quota.project.is_empty() {
            return None;
        }
        let task = self.state.tasks.get(&rank.task)?;
        let seen = self.seen.get(&Lane::User(task.owner));
        let (more, fewer) = seen.map(|seen| (seen.more, seen.fewer)).unwrap_or_default();
        let own = self.state.running_of(task.owner).plus(more).minus(fewer);
        let project = task.spec.project.as_deref().map_or(Load::default(), |project| {
            let more = self.projects.get(project).copied().unwrap_or_default();
            self.state.load_of_project(project).0.plus(more)
        });
        quota::excess(self.state, task, own, project, self.now)
    }

    /// Skip a user or project that has reached its quota, with all tasks that count against it.
    pub(crate) fn step_over(&mut self, lane: Lane, excess: Excess) {
        let without_gpus = matches!(excess.limit, Limit::RunningGpus | Limit::GpuHours);
        match excess.whose {
            Party::User(_) if without_gpus => {
                self.seen.entry(lane).or_default().without_gpus = true;
            }
            Party::User(_) => self.close(lane),
            Party::Project(name) => {
                let of_project = |kind: &&Kind| kind.project.as_ref() == Some(&name);
                let kinds = self.queue.kinds().map(|(kind, _)| kind).filter(of_project);
                self.dropped.extend(kinds.filter(|kind| !without_gpus || kind.request.gpus > 0));
            }
        }
    }

    /// This one has had its turn and waits.
    pub(crate) fn pass_over(&mut self, lane: Lane, rank: Rank) {
        self.seen.entry(lane).or_default().last = Some(rank);
    }

    /// This one is assumed to start.
    pub(crate) fn start(&mut self, lane: Lane, rank: Rank) {
        self.pass_over(lane, rank);
        self.count(lane, rank);
    }

    /// This one is assumed to start before its turn.
    pub(crate) fn take(&mut self, lane: Lane, rank: Rank) {
        self.taken = Some((lane, rank));
        self.count(lane, rank);
        // It may have more to start.
        if lane.user().is_some() {
            self.file(lane);
        }
    }

    /// This one of this user is assumed to start, wherever it stands.
    pub(crate) fn count_for(&mut self, owner: UserId, rank: Rank) {
        self.count(Lane::User(owner), rank);
    }

    fn count(&mut self, lane: Lane, rank: Rank) {
        let Some(task) = self.state.tasks.get(&rank.task) else { return };
        let load = Load::of(&task.spec.request);
        let limited = &self.state.settings().quota.project;
        if let Some(project) = task.spec.project.as_ref().filter(|it| limited.contains_key(*it)) {
            let more = self.projects.entry(project.clone()).or_default();
            *more = more.plus(load);
        }
        let Some(user) = lane.user() else { return };
        if let Some(used) = &mut self.used {
            used.assume(&self.state.users[&user], load.gpus.cast_signed());
        }
        let queue = self.queue;
        let seen = self.seen.entry(lane).or_default();
        seen.more = seen.more.plus(load);
        seen.started.insert(rank.task);
        if let Some(oldest) = seen.oldest {
            let mut rest = queue.submitted_from(lane, oldest);
            seen.oldest = rest.find(|id| !seen.started.contains(id)).or(Some(oldest));
        }
    }

    /// A run of this user is assumed to have ended.
    pub(crate) fn end(&mut self, owner: UserId, request: &Request) {
        let lane = Lane::User(owner);
        if self.next_in(lane).is_some() {
            let load = Load::of(request);
            let seen = self.seen.entry(lane).or_default();
            seen.fewer = seen.fewer.plus(load);
            seen.without_gpus = false;
            if let Some(used) = &mut self.used {
                used.assume(&self.state.users[&owner], -load.gpus.cast_signed());
            }
            self.file(lane);
        }
    }

    /// Close this kind for the rest of this pass.
    pub(crate) fn drop_request(&mut self, request: &Shared<Request>) {
        self.dropped.extend(self.queue.kinds_asking(request));
    }

    /// The same for all that are `hopeless`.
    pub(crate) fn drop_requests(&mut self, hopeless: impl Fn(&Request) -> bool) {
        let kinds = self.queue.kinds().map(|(kind, _)| kind);
        let open = kinds.filter(|kind| !self.dropped.contains(kind));
        let hopeless: Vec<&Kind> = open.filter(|kind| hopeless(&kind.request)).collect();
        self.dropped.extend(hopeless);
    }

    /// Close this lane for the rest of this pass.
    pub(crate) fn close(&mut self, lane: Lane) {
        let filed = self.seen.entry(lane).or_default().filed.take();
        if let Some(turn_key) = filed {
            self.open.remove(&(turn_key, lane));
        }
    }

    fn last(&self, lane: Lane) -> Option<Rank> {
        self.seen.get(&lane).and_then(|seen| seen.last)
    }

    fn without_gpus(&self, lane: Lane) -> bool {
        self.seen.get(&lane).is_some_and(|seen| seen.without_gpus)
    }

    fn is_open(&self, lane: Lane, kind: &Kind) -> bool {
        let without_gpus = self.without_gpus(lane) && kind.request.gpus > 0;
        !without_gpus && !self.dropped.contains(kind)
    }

    /// Put a lane where it belongs now.
    fn file(&mut self, lane: Lane) {
        self.close(lane);
        let oldest = || self.queue.submitted_from(lane, TaskId(0)).next();
        let guest = self.guest.filter(|(whose, _)| *whose == lane).map(|(_, rank)| rank.task);
        let seen = self.seen.entry(lane).or_default();
        seen.oldest = seen.oldest.or_else(oldest).or(guest);
        let turn_key = self.turn_key(lane);
        self.open.insert((turn_key, lane));
        self.seen.entry(lane).or_default().filed = Some(turn_key);
    }

    fn turn_key(&self, lane: Lane) -> TurnKey {
        let by_user = self.state.settings().order.is_by_user();
        let Some(user) = lane.user() else { return TurnKey::by_rank(None) };
        if !by_user {
            return TurnKey::by_rank(self.next_in(lane));
        }
        let seen = self.seen.get(&lane);
        let oldest = seen.and_then(|seen| seen.oldest).unwrap_or(TaskId(0));
        let user = &self.state.users[&user];
        if let Some(used) = &self.used {
            return used.turn_key(user, oldest);
        }
        let (more, fewer) = seen.map(|seen| (seen.more, seen.fewer)).unwrap_or_default();
        let running = self.state.running_of(user.id).plus(more).minus(fewer);
        balance::turn_key(user, running.gpus, oldest)
    }
}
