//! Who is next in a pass. Every start changes whose turn it is.

use super::balance;
use super::fair::Used;
use super::standing::{Ratio, Standing};
use crate::ids::{TaskId, UserId};
use crate::queue::{Estimate, Lane, Queue, Rank};
use crate::resources::Request;
use crate::settings::Order;
use crate::state::State;
use crate::time::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::iter::Peekable;

pub(crate) struct Line<'a> {
    state: &'a State,
    queue: &'a Queue,
    /// Lanes in which nothing has happened yet, in order.
    fresh: Peekable<Box<dyn Iterator<Item = (Standing, Lane)> + 'a>>,
    /// The others. What stands here may be too early: it is looked at again when it is first.
    open: BTreeSet<(Standing, Lane)>,
    seen: BTreeMap<Lane, Seen>,
    /// For `fair`.
    used: Option<Used<'a>>,
    /// Nobody who asks for one of these is to be had in this pass any more.
    dropped: BTreeSet<&'a Request>,
    /// A task that is not in the queue, to see when its turn would come.
    guest: Option<(Lane, Rank)>,
}

/// What a pass has done in a lane.
#[derive(Debug, Default)]
struct Seen {
    /// All up to here have had their turn.
    last: Option<Rank>,
    started: BTreeSet<TaskId>,
    /// What its owner is assumed to have in addition to what runs.
    more_gpus: i64,
    oldest: Option<TaskId>,
    /// Where it stands in the line, unless it is closed.
    filed: Option<Standing>,
}

impl<'a> Line<'a> {
    pub(crate) fn new(state: &'a State, now: Time) -> Line<'a> {
        let queue = state.queue();
        let used = (state.settings().order == Order::Fair).then(|| {
            let users = queue.lanes().filter_map(Lane::user);
            Used::now(state, users, now)
        });
        let fresh: Box<dyn Iterator<Item = (Standing, Lane)> + 'a> = match state.settings().order {
            Order::Balance => {
                let users = state.index.turns.in_order();
                Box::new(users.map(|(standing, user)| (standing, Lane::User(user))))
            }
            Order::Fair => {
                let standing = |lane: Lane| {
                    let user = &state.users[&lane.user()?];
                    let oldest = queue.submitted_from(lane, TaskId(0)).next()?;
                    Some(Reverse((used.as_ref()?.standing(state, user, oldest), lane)))
                };
                let mut heap: BinaryHeap<_> = queue.lanes().filter_map(standing).collect();
                Box::new(std::iter::from_fn(move || heap.pop().map(|Reverse(first)| first)))
            }
            _ => Box::new(queue.lanes().map(|lane| (EVERYBODYS, lane))),
        };
        Line {
            state,
            queue,
            fresh: fresh.peekable(),
            open: BTreeSet::new(),
            seen: BTreeMap::new(),
            used,
            dropped: BTreeSet::new(),
            guest: None,
        }
    }

    /// … with one more task at the end of those that rank like it.
    pub(crate) fn with_guest(state: &'a State, now: Time, lane: Lane, rank: Rank) -> Line<'a> {
        let mut line = Line::new(state, now);
        if let Some(user) = lane.user().filter(|_| line.used.is_some()) {
            let waiting = state.queue().lanes().filter_map(Lane::user).chain([user]);
            line.used = Some(Used::now(state, waiting, now));
        }
        line.guest = Some((lane, rank));
        if line.queue.first_after(lane, None).is_none() {
            line.file(lane);
        }
        line
    }

    /// The lane whose turn it is.
    pub(crate) fn first(&mut self) -> Option<Lane> {
        if self.guest.is_none() && self.dropped.len() == self.queue.distinct_requests() {
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
            let (standing, lane) = *self.open.first()?;
            if self.standing(lane) == standing {
                return Some(lane);
            }
            self.file(lane);
        }
    }

    /// The next of a lane that can still be had.
    pub(crate) fn next_in(&self, lane: Lane) -> Option<Rank> {
        let last = self.last(lane);
        let queued = match self.dropped.is_empty() {
            true => self.queue.first_after(lane, last),
            false => {
                self.queue.first_wanted_after(lane, last, |request| !self.dropped.contains(request))
            }
        };
        let guest = self.guest.filter(|(whose, rank)| *whose == lane && Some(*rank) > last);
        match (queued, guest) {
            (Some(queued), Some((_, guest))) => Some(queued.min(guest)),
            (queued, guest) => queued.or(guest.map(|(_, rank)| rank)),
        }
    }

    /// The next of a lane that asks for this and is expected to take at most `longest`.
    pub(crate) fn next_alike(&self, lane: Lane, wanted: &Request, most: Estimate) -> Option<Rank> {
        self.queue.first_alike_after(lane, self.last(lane), wanted, most)
    }

    /// This one has had its turn and waits.
    pub(crate) fn pass_over(&mut self, lane: Lane, rank: Rank) {
        self.seen.entry(lane).or_default().last = Some(rank);
    }

    /// This one is assumed to start.
    pub(crate) fn start(&mut self, lane: Lane, rank: Rank, request: &Request) {
        let queue = self.queue;
        let seen = self.seen.entry(lane).or_default();
        seen.last = Some(rank);
        if lane == Lane::Everybody {
            return;
        }
        seen.more_gpus += i64::from(request.gpus);
        if let (Some(used), Some(user)) = (&mut self.used, lane.user()) {
            used.assume(&self.state.users[&user], i64::from(request.gpus));
        }
        seen.started.insert(rank.task);
        if let Some(oldest) = seen.oldest {
            let mut rest = queue.submitted_from(lane, oldest);
            seen.oldest = rest.find(|id| !seen.started.contains(id)).or(Some(oldest));
        }
    }

    /// A run of this user is assumed to have ended.
    pub(crate) fn end(&mut self, owner: UserId, request: &Request) {
        let lane = Lane::User(owner);
        if self.state.settings().order.is_by_user() && self.next_in(lane).is_some() {
            self.seen.entry(lane).or_default().more_gpus -= i64::from(request.gpus);
            if let Some(used) = &mut self.used {
                used.assume(&self.state.users[&owner], -i64::from(request.gpus));
            }
            self.file(lane);
        }
    }

    /// Nobody else who asks for this has a turn in this pass.
    pub(crate) fn drop_request(&mut self, request: &'a Request) {
        self.dropped.insert(request);
    }

    /// Nobody else of this lane has a turn in this pass.
    pub(crate) fn close(&mut self, lane: Lane) {
        let filed = self.seen.get_mut(&lane).and_then(|seen| seen.filed.take());
        if let Some(standing) = filed {
            self.open.remove(&(standing, lane));
        }
    }

    fn last(&self, lane: Lane) -> Option<Rank> {
        self.seen.get(&lane).and_then(|seen| seen.last)
    }

    /// Put a lane where it belongs now.
    fn file(&mut self, lane: Lane) {
        self.close(lane);
        let oldest = || self.queue.submitted_from(lane, TaskId(0)).next();
        let guest = self.guest.filter(|(whose, _)| *whose == lane).map(|(_, rank)| rank.task);
        let seen = self.seen.entry(lane).or_default();
        seen.oldest = seen.oldest.or_else(oldest).or(guest);
        let standing = self.standing(lane);
        self.open.insert((standing, lane));
        self.seen.entry(lane).or_default().filed = Some(standing);
    }

    fn standing(&self, lane: Lane) -> Standing {
        let Lane::User(user) = lane else { return EVERYBODYS };
        let seen = self.seen.get(&lane);
        let oldest = seen.and_then(|seen| seen.oldest).unwrap_or(TaskId(0));
        let running = self.state.running_of(user).gpus;
        if let Some(used) = &self.used {
            return used.standing(self.state, &self.state.users[&user], oldest);
        }
        let gpus = running.saturating_add_signed(seen.map_or(0, |seen| seen.more_gpus));
        balance::standing(&self.state.users[&user], gpus, oldest)
    }
}

/// There is only one lane.
const EVERYBODYS: Standing =
    Standing { class: 0, group: Ratio::ZERO, share: Ratio::ZERO, oldest: TaskId(0) };
