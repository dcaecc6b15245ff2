//! Queued tasks by batch, for the order `auto`: what one user asks for at about the same time is likely to run
//! about equally long, and the first of a batch that have ended tell about the rest.

use crate::ids::UserId;
use crate::logarithm::Logarithm;
use crate::policy::auto;
use crate::queue::{Estimate, Rank};
use crate::resources::Request;
use crate::task::Task;
use crate::time::Span;
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

/// What is known of a batch from those of it that do not wait any more.
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
    by_request: BTreeMap<Request, Waiting>,
}

/// The queued tasks that ask for the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Waiting {
    batches: BTreeMap<BatchId, Members>,
    /// The first of each batch by how long it is believed to run, rounded up, and by rank.
    fronts: BTreeMap<Estimate, BTreeSet<(Rank, BatchId)>>,
}

/// The waiting tasks of one batch: by submission, with what was believed of each when it was queued.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Members {
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
        let ended = task.is_finished() && task.attained > Span::ZERO;
        Record {
            started: u64::from(task.attempts > 0),
            ended: u64::from(ended),
            sum: if ended { Logarithm::of(task.attained).0 } else { 0 },
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
        for waiting in self.by_request.values_mut() {
            waiting.refile(id, record);
        }
    }

    pub(crate) fn insert(&mut self, task: &Task) {
        let (id, record) = (BatchId::of(task), self.record(task));
        if !self.by_request.contains_key(&task.spec.request) {
            self.by_request.insert(task.spec.request.clone(), Waiting::default());
        }
        let waiting = self.by_request.get_mut(&task.spec.request).expect("inserted just now");
        let members = waiting.batches.entry(id).or_default();
        members.ranks.insert(auto::by_submission(task), auto::Prior::of(task));
        waiting.refile(id, record);
    }

    pub(crate) fn remove(&mut self, task: &Task) {
        let (id, record) = (BatchId::of(task), self.record(task));
        let Some(waiting) = self.by_request.get_mut(&task.spec.request) else { return };
        if let Some(members) = waiting.batches.get_mut(&id) {
            members.ranks.remove(&auto::by_submission(task));
        }
        waiting.refile(id, record);
        if waiting.batches.is_empty() {
            self.by_request.remove(&task.spec.request);
        }
    }

    /// Every distinct request, with its tasks in the order of `auto`.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (&Request, Cursor<'_>)> {
        self.by_request.iter().map(|(request, waiting)| {
            let lines = waiting.fronts.iter().map(|(estimate, fronts)| Line {
                estimate: *estimate,
                fronts: fronts.iter().peekable(),
                behind: BinaryHeap::new(),
            });
            (request, Cursor { batches: &waiting.batches, lines: lines.collect() })
        })
    }
}

impl Waiting {
    /// The batch may have another front, or another is believed of it.
    fn refile(&mut self, id: BatchId, record: Record) {
        let Some(members) = self.batches.get_mut(&id) else { return };
        if let Some(filed) = members.filed.take()
            && let Some(fronts) = self.fronts.get_mut(&filed.estimate)
        {
            fronts.remove(&(filed.front, id));
            if fronts.is_empty() {
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
        self.fronts.entry(estimate).or_default().insert((filed.front, id));
    }
}

fn later(rank: Rank, delay: i64) -> Rank {
    Rank { key: rank.key.saturating_add(delay), ..rank }
}

/// To a quarter of a power of two: so that there are few different ones, however many tasks wait.
fn round_up(expected: Span) -> Estimate {
    const STEP: u64 = 1 << 14;
    let logarithm = Logarithm::of(expected).0.next_multiple_of(STEP);
    Estimate(Logarithm(logarithm).span().0)
}

/// The tasks of one request as a pass goes through them.
pub(crate) struct Cursor<'a> {
    batches: &'a BTreeMap<BatchId, Members>,
    lines: Vec<Line<'a>>,
}

/// Batches that are believed to run equally long.
struct Line<'a> {
    estimate: Estimate,
    fronts: Peekable<btree_set::Iter<'a, (Rank, BatchId)>>,
    /// Of batches whose first have been taken: those that come next in them.
    behind: BinaryHeap<Reverse<(Rank, BatchId)>>,
}

/// A task that may have its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub(crate) rank: Rank,
    pub(crate) estimate: Estimate,
}

impl Cursor<'_> {
    /// The first of those that are believed to take at most `longest`, but for users and numbers of GPUs that are
    /// stepped over from now on.
    pub(crate) fn first(
        &mut self,
        longest: Estimate,
        stepped_over: impl Fn(UserId, u32) -> bool,
    ) -> Option<Candidate> {
        let lines = self.lines.iter_mut().filter(|line| line.estimate <= longest);
        let firsts = lines.filter_map(|line| {
            line.step_over(|id| stepped_over(id.owner, id.gpus));
            Some(Candidate { rank: line.first()?, estimate: line.estimate })
        });
        firsts.min()
    }

    /// It starts: the next of its batch may have its turn.
    pub(crate) fn take(&mut self, taken: Candidate) {
        let batches = self.batches;
        if let Some(line) = self.lines.iter_mut().find(|line| line.estimate == taken.estimate)
            && let Some((rank, id)) = line.pop()
            && let Some(members) = batches.get(&id)
            && let Some(filed) = members.filed
        {
            let submitted = later(rank, -filed.delay);
            let mut behind = members.ranks.range(submitted..).map(|(rank, _)| rank);
            let next = behind.find(|next| next.task != rank.task);
            line.behind.extend(next.map(|next| Reverse((later(*next, filed.delay), id))));
        }
    }
}

impl Line<'_> {
    /// Batches at the front that have no turn any more: the whole batch, however many wait in it.
    fn step_over(&mut self, stepped_over: impl Fn(&BatchId) -> bool) {
        while self.fronts.next_if(|(_, id)| stepped_over(id)).is_some() {}
        while self.behind.peek().is_some_and(|Reverse((_, id))| stepped_over(id)) {
            self.behind.pop();
        }
    }

    fn first(&mut self) -> Option<Rank> {
        let front = self.fronts.peek().map(|(rank, _)| *rank);
        let behind = self.behind.peek().map(|Reverse((rank, _))| *rank);
        front.into_iter().chain(behind).min()
    }

    fn pop(&mut self) -> Option<(Rank, BatchId)> {
        let first = self.first()?;
        match self.fronts.next_if(|(rank, _)| *rank == first) {
            Some(front) => Some(*front),
            None => self.behind.pop().map(|Reverse(behind)| behind),
        }
    }
}
