//! Queued tasks by batch, for the order `auto`.
//!
//! Tasks that a user submits at about the same time and with as many GPUs form a batch. They are likely to run equally
//! long, so the first ones to end predict the rest.

use crate::model::ids::{TaskId, UserId};
use crate::model::number::logarithm::Logarithm;
use crate::model::task::Task;
use crate::model::time::Span;
use crate::schedule::auto;
use crate::schedule::queue::{Estimate, Kind, Rank};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, btree_set};
use std::iter::Peekable;

/// Tasks submitted within the same stretch of this length are one batch.
const TOGETHER: i64 = 30 * 60 * 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BatchId {
    owner: UserId,
    gpus: u32,
    stretch: i64,
}

/// Statistics of a batch, from its tasks that no longer wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Record {
    pub(crate) started: u64,
    pub(crate) ended: u64,
    /// Of the logarithms of how long the ended ones ran.
    pub(crate) sum: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Batches {
    records: BTreeMap<BatchId, Record>,
    by_kind: BTreeMap<Kind, KindBatches>,
    /// Users who have reached their quota.
    shut: BTreeSet<UserId>,
}

/// The queued tasks of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct KindBatches {
    batches: BTreeMap<BatchId, BatchMembers>,
    /// By expected run time, rounded up.
    fronts: BTreeMap<Estimate, Fronts>,
}

/// The first of each batch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Fronts {
    by_user: BTreeMap<UserId, Own>,
    /// The first of each user who has not reached their quota.
    open: BTreeSet<(Rank, UserId)>,
}

/// The waiting tasks of one batch by submission, with the prediction made when each was queued.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct BatchMembers {
    ranks: BTreeMap<Rank, auto::Prior>,
    filed: Option<Filed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Filed {
    estimate: Estimate,
    /// How much later than their submission its tasks have their turn.
    delay: i64,
    front: Rank,
}

impl BatchId {
    pub(crate) fn of(task: &Task) -> BatchId {
        let stretch = task.submitted_at.0.div_euclid(TOGETHER);
        BatchId { owner: task.owner, gpus: task.spec.request.gpus, stretch }
    }
}

impl Record {
    fn of(task: &Task) -> Record {
        let ended = task.is_finished() && task.trail().attained > Span::ZERO;
        Record {
            started: u64::from(task.trail().attempts > 0),
            ended: u64::from(ended),
            sum: if ended { Logarithm::of(task.trail().attained).0 } else { 0 },
        }
    }
}

impl Batches {
    pub(crate) fn record(&self, task: &Task) -> Record {
        self.records.get(&BatchId::of(task)).copied().unwrap_or_default()
    }

    /// A task that has started counts in its batch.
    pub(crate) fn count(&mut self, task: &Task) {
        self.recount(task, |record, more| Record {
            started: record.started + more.started,
            ended: record.ended + more.ended,
            sum: record.sum + more.sum,
        });
    }

    pub(crate) fn uncount(&mut self, task: &Task) {
        self.recount(task, |record, less| Record {
            started: record.started - less.started,
            ended: record.ended - less.ended,
            sum: record.sum - less.sum,
        });
    }

    fn recount(&mut self, task: &Task, change: impl FnOnce(Record, Record) -> Record) {
        let (id, difference) = (BatchId::of(task), Record::of(task));
        if difference == Record::default() {
            return;
        }
        let record = change(self.records.get(&id).copied().unwrap_or_default(), difference);
        if record == Record::default() {
            self.records.remove(&id);
        } else {
            self.records.insert(id, record);
        }
        let shut = self.shut.contains(&id.owner);
        for waiting in self.by_kind.values_mut() {
            waiting.refile(id, record, shut);
        }
    }

    pub(crate) fn insert(&mut self, task: &Task, kind: &Kind) {
        let (id, record) = (BatchId::of(task), self.record(task));
        if !self.by_kind.contains_key(kind) {
            self.by_kind.insert(kind.clone(), KindBatches::default());
        }
        let waiting = self.by_kind.get_mut(kind).expect("inserted just now");
        let members = waiting.batches.entry(id).or_default();
        members.ranks.insert(auto::by_submission(task), auto::Prior::of(task));
        waiting.refile(id, record, self.shut.contains(&id.owner));
    }

    pub(crate) fn remove(&mut self, task: &Task, kind: &Kind) {
        let (id, record) = (BatchId::of(task), self.record(task));
        let Some(waiting) = self.by_kind.get_mut(kind) else { return };
        if let Some(members) = waiting.batches.get_mut(&id) {
            members.ranks.remove(&auto::by_submission(task));
        }
        waiting.refile(id, record, self.shut.contains(&id.owner));
        if waiting.batches.is_empty() {
            self.by_kind.remove(kind);
        }
    }

    /// The first of a user's tasks, whether or not the user has reached their quota.
    pub(crate) fn first_of(&self, user: UserId) -> Option<TaskId> {
        let fronts = self.by_kind.values().flat_map(|waiting| waiting.fronts.values());
        let firsts = fronts.filter_map(|fronts| fronts.first_of(user));
        firsts.min().map(|(rank, _)| rank.task)
    }

    /// The tasks of a user who has reached their quota are skipped without being looked at.
    pub(crate) fn set_shut(&mut self, user: UserId, shut: bool) {
        let changed = if shut { self.shut.insert(user) } else { self.shut.remove(&user) };
        if changed {
            let fronts = self.by_kind.values_mut().flat_map(|waiting| waiting.fronts.values_mut());
            fronts.for_each(|fronts| fronts.change(user, shut, |_| {}));
        }
    }

    /// Every kind, with its tasks in the order of `auto`.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&Kind, BatchCursor<'_>)> {
        self.by_kind.iter().map(|(kind, waiting)| {
            let cursors = waiting.fronts.iter().map(|(estimate, fronts)| EstimateCursor {
                estimate: *estimate,
                by_user: &fronts.by_user,
                open: fronts.open.iter().peekable(),
                behind: BinaryHeap::new(),
            });
            (kind, BatchCursor { batches: &waiting.batches, cursors: cursors.collect() })
        })
    }
}

impl KindBatches {
    /// Update the batch after its first task or its prediction has changed.
    fn refile(&mut self, id: BatchId, record: Record, shut: bool) {
        let Some(members) = self.batches.get_mut(&id) else { return };
        if let Some(filed) = members.filed.take()
            && let Some(fronts) = self.fronts.get_mut(&filed.estimate)
        {
            fronts.change(id.owner, shut, |own| {
                own.remove(&(filed.front, id));
            });
            if fronts.by_user.is_empty() {
                self.fronts.remove(&filed.estimate);
            }
        }
        let Some((rank, prior)) = members.ranks.first_key_value() else {
            self.batches.remove(&id);
            return;
        };
        let expected = prior.with(record);
        let (estimate, delay) = (round_up(expected), auto::delay(expected, id.gpus, record));
        let filed = Filed { estimate, delay, front: later(*rank, delay) };
        members.filed = Some(filed);
        let fronts = self.fronts.entry(estimate).or_default();
        fronts.change(id.owner, shut, |own| {
            own.insert((filed.front, id));
        });
    }
}

impl Fronts {
    fn first_of(&self, user: UserId) -> Option<(Rank, BatchId)> {
        self.by_user.get(&user)?.first().copied()
    }

    fn change(&mut self, user: UserId, shut: bool, change: impl FnOnce(&mut Own)) {
        let own = self.by_user.entry(user).or_default();
        if let Some((rank, _)) = own.first() {
            self.open.remove(&(*rank, user));
        }
        change(own);
        match own.first() {
            Some((rank, _)) if !shut => {
                self.open.insert((*rank, user));
            }
            Some(_) => {}
            None => {
                self.by_user.remove(&user);
            }
        }
    }
}

/// The fronts of one user.
type Own = BTreeSet<(Rank, BatchId)>;

fn later(rank: Rank, delay: i64) -> Rank {
    Rank { key: rank.key.saturating_add(delay), ..rank }
}

/// Round up to a quarter of a power of two, so that there are few distinct values, however many tasks wait.
fn round_up(expected: Span) -> Estimate {
    const STEP: u64 = 1 << 14;
    let logarithm = Logarithm::of(expected).0.next_multiple_of(STEP);
    Estimate(Logarithm(logarithm).span().0)
}

/// The tasks of one kind as a pass goes through them.
pub(crate) struct BatchCursor<'a> {
    batches: &'a BTreeMap<BatchId, BatchMembers>,
    cursors: Vec<EstimateCursor<'a>>,
}

/// Batches with the same expected run time.
struct EstimateCursor<'a> {
    estimate: Estimate,
    by_user: &'a BTreeMap<UserId, Own>,
    open: Peekable<btree_set::Iter<'a, (Rank, UserId)>>,
    /// What comes next of users whose first have been taken.
    behind: BinaryHeap<Reverse<Next>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Next {
    rank: Rank,
    batch: BatchId,
    /// Of its batch: the next batch of its user may come after it.
    is_front: bool,
}

/// A task that may have its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BatchCandidate {
    pub(crate) rank: Rank,
    pub(crate) estimate: Estimate,
}

impl BatchCursor<'_> {
    /// The first task that is expected to take at most `longest`, without the users to skip.
    pub(crate) fn first(
        &mut self,
        longest: Estimate,
        stepped_over: impl Fn(UserId) -> bool,
    ) -> Option<BatchCandidate> {
        let cursors = self.cursors.iter_mut().filter(|cursor| cursor.estimate <= longest);
        let firsts = cursors.filter_map(|cursor| {
            cursor.step_over(&stepped_over);
            Some(BatchCandidate { rank: cursor.first()?, estimate: cursor.estimate })
        });
        firsts.min()
    }

    /// It starts: the next of its batch may have its turn.
    pub(crate) fn take(&mut self, taken: BatchCandidate) {
        let batches = self.batches;
        if let Some(cursor) =
            self.cursors.iter_mut().find(|cursor| cursor.estimate == taken.estimate)
            && let Some(Next { rank, batch, .. }) = cursor.pop()
            && let Some(members) = batches.get(&batch)
            && let Some(filed) = members.filed
        {
            let submitted = later(rank, -filed.delay);
            let mut behind = members.ranks.range(submitted..).map(|(rank, _)| rank);
            let next = behind.find(|next| next.task != rank.task);
            let next = next.map(|next| later(*next, filed.delay));
            cursor.behind.extend(next.map(|rank| Reverse(Next { rank, batch, is_front: false })));
        }
    }
}

impl EstimateCursor<'_> {
    /// Skip users at the front who have no turn any more, with all their batches.
    fn step_over(&mut self, stepped_over: impl Fn(UserId) -> bool) {
        while self.open.next_if(|(_, user)| stepped_over(*user)).is_some() {}
        while self.behind.peek().is_some_and(|Reverse(next)| stepped_over(next.batch.owner)) {
            self.behind.pop();
        }
    }

    fn first(&mut self) -> Option<Rank> {
        let open = self.open.peek().map(|(rank, _)| *rank);
        let behind = self.behind.peek().map(|Reverse(next)| next.rank);
        open.into_iter().chain(behind).min()
    }

    fn pop(&mut self) -> Option<Next> {
        let first = self.first()?;
        let by_user = self.by_user;
        let popped = match self.open.next_if(|(rank, _)| *rank == first) {
            Some((rank, user)) => {
                let batch = by_user.get(user)?.first()?.1;
                Next { rank: *rank, batch, is_front: true }
            }
            None => self.behind.pop()?.0,
        };
        if popped.is_front {
            let own = by_user.get(&popped.batch.owner)?;
            let mut rest = own.range((popped.rank, popped.batch)..).skip(1);
            let next = rest.next().map(|(rank, batch)| (*rank, *batch));
            self.behind
                .extend(next.map(|(rank, batch)| Reverse(Next { rank, batch, is_front: true })));
        }
        Some(popped)
    }
}
