//! The key by which lanes are compared to decide whose turn is next.

use crate::model::ids::TaskId;
use crate::schedule::queue::Rank;
use std::cmp::Ordering;

/// Smaller comes first. No two lanes are equal, as no task is the oldest or the first of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TurnKey {
    /// Lower ones come before all higher ones, whatever else.
    pub(crate) class: i64,
    pub(crate) group: Ratio,
    pub(crate) share: Ratio,
    /// Of its first task, where only that counts.
    pub(crate) rank: Option<Rank>,
    /// The task that has waited longest.
    pub(crate) oldest: TaskId,
}

impl TurnKey {
    /// For orders that do not look at whose a task is.
    pub(crate) fn by_rank(rank: Option<Rank>) -> TurnKey {
        let (group, share) = (Ratio::ZERO, Ratio::ZERO);
        TurnKey { class: 0, group, share, rank, oldest: TaskId(0) }
    }

    pub(crate) fn by_share(class: i64, group: Ratio, share: Ratio, oldest: TaskId) -> TurnKey {
        TurnKey { class, group, share, rank: None, oldest }
    }
}

/// A fraction, compared exactly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    pub(crate) over: u64,
    /// More than nothing.
    pub(crate) under: u64,
}

impl Ratio {
    pub(crate) const ZERO: Ratio = Ratio { over: 0, under: 1 };
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let (ours, theirs) = (u128::from(self.over), u128::from(other.over));
        (ours * u128::from(other.under)).cmp(&(theirs * u128::from(self.under)))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Ratio) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}
