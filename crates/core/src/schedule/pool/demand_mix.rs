//! How often each kind of request occurs. Placement by fragmentation keeps room for the frequent ones.

use crate::model::resources::{Request, Sharing};
use std::collections::BTreeMap;

/// More kinds than these count for too little to be worth the time.
const MOST_KINDS: usize = 256;

/// How many tasks there are of each kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct DemandMix {
    counts: BTreeMap<DemandKind, u32>,
}

/// What matters of a request for what it leaves to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DemandKind {
    pub(crate) gpus: u32,
    /// Bytes of each GPU; `None` for whole ones.
    pub(crate) share: Option<u64>,
    pub(crate) cpus: u32,
    pub(crate) memory: u64,
}

impl DemandKind {
    pub(crate) fn of(request: &Request) -> DemandKind {
        let share = match request.sharing {
            Sharing::Shared { .. } => Some(request.gpu_memory),
            Sharing::Slot | Sharing::Exclusive => None,
        };
        DemandKind {
            gpus: request.gpus_per_node(),
            share,
            cpus: request.cpus,
            memory: request.memory,
        }
    }
}

impl DemandMix {
    pub(crate) fn add(&mut self, request: &Request) {
        *self.counts.entry(DemandKind::of(request)).or_default() += 1;
    }

    pub(crate) fn remove(&mut self, request: &Request) {
        let kind = DemandKind::of(request);
        if let Some(count) = self.counts.get_mut(&kind) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&kind);
            }
        }
    }

    /// The most frequent kinds, with how often each comes.
    pub(crate) fn kinds(&self) -> Vec<(DemandKind, u64)> {
        let counted = self.counts.iter().map(|(kind, count)| (*kind, u64::from(*count)));
        let mut kinds: Vec<(DemandKind, u64)> = counted.collect();
        if kinds.len() > MOST_KINDS {
            kinds.sort_by_key(|(kind, count)| (std::cmp::Reverse(*count), *kind));
            kinds.truncate(MOST_KINDS);
        }
        kinds
    }
}
