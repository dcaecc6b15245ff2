//! A sorted set in few allocations: what is added at its end, as a queue mostly is, lies side by side.
//!
//! A `BTreeSet` that grows at its end keeps its nodes half empty, and every queued task is in several sets.

use std::ops::Bound;

/// Entries in one allocation, at most.
const CHUNK: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct PackedSet<T> {
    /// Sorted, and none is empty.
    chunks: Vec<Vec<T>>,
    len: usize,
}

impl<T> Default for PackedSet<T> {
    fn default() -> PackedSet<T> {
        PackedSet { chunks: Vec::new(), len: 0 }
    }
}

impl<T: Ord> PartialEq for PackedSet<T> {
    /// Whatever the chunks are.
    fn eq(&self, other: &PackedSet<T>) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<T: Ord> Eq for PackedSet<T> {}

impl<T: Ord> PackedSet<T> {
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.chunks.first()?.first()
    }

    pub(crate) fn contains(&self, entry: &T) -> bool {
        let chunk = self.chunks.get(self.chunk_of(entry));
        chunk.is_some_and(|chunk| chunk.binary_search(entry).is_ok())
    }

    /// In order, from this bound on.
    pub(crate) fn from<'a>(&'a self, bound: Bound<&T>) -> impl Iterator<Item = &'a T> + use<'a, T> {
        let before = |entry: &T| match bound {
            Bound::Included(least) => entry < least,
            Bound::Excluded(last) => entry <= last,
            Bound::Unbounded => false,
        };
        let at = self.chunks.partition_point(|chunk| chunk.last().is_some_and(before));
        let rest = self.chunks.get(at..).unwrap_or_default();
        let within = rest.first().map_or(0, |chunk| chunk.partition_point(before));
        rest.iter().flatten().skip(within)
    }

    pub(crate) fn insert(&mut self, entry: T) {
        let at = self.chunk_of(&entry);
        let Some(chunk) = self.chunks.get_mut(at) else {
            return self.push(entry);
        };
        let Err(within) = chunk.binary_search(&entry) else { return };
        self.len += 1;
        if chunk.len() < CHUNK {
            return chunk.insert(within, entry);
        }
        let mut second = chunk.split_off(CHUNK / 2);
        match within.checked_sub(CHUNK / 2) {
            Some(within) => second.insert(within, entry),
            None => chunk.insert(within, entry),
        }
        self.chunks.insert(at + 1, second);
    }

    /// Behind all others.
    fn push(&mut self, entry: T) {
        self.len += 1;
        match self.chunks.last_mut().filter(|chunk| chunk.len() < CHUNK) {
            Some(chunk) => chunk.push(entry),
            None => self.chunks.push(vec![entry]),
        }
    }

    pub(crate) fn remove(&mut self, entry: &T) -> bool {
        let at = self.chunk_of(entry);
        let Some(chunk) = self.chunks.get_mut(at) else { return false };
        let Ok(within) = chunk.binary_search(entry) else { return false };
        chunk.remove(within);
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        } else if chunk.len() <= CHUNK / 4 {
            self.join(at);
        }
        true
    }

    /// With the next one, if there is room: chunks do not stay nearly empty.
    fn join(&mut self, at: usize) {
        let next = self.chunks.get(at + 1).map_or(CHUNK, Vec::len);
        if let Some(chunk) = self.chunks.get(at)
            && chunk.len() + next <= CHUNK / 2
        {
            let mut next = self.chunks.remove(at + 1);
            self.chunks[at].append(&mut next);
        }
    }

    /// The first whose last entry is not before this one.
    fn chunk_of(&self, entry: &T) -> usize {
        self.chunks.partition_point(|chunk| chunk.last().is_some_and(|last| last < entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_sorted_set(acts in prop::collection::vec((any::<bool>(), 0_u16..600), 0..2_000)) {
            let (mut packed, mut plain) = (PackedSet::default(), BTreeSet::new());
            for (add, entry) in acts {
                if add {
                    packed.insert(entry);
                    plain.insert(entry);
                } else {
                    prop_assert_eq!(packed.remove(&entry), plain.remove(&entry));
                }
                prop_assert_eq!(packed.contains(&entry), plain.contains(&entry));
                prop_assert_eq!(packed.first(), plain.first());
                let after = (Bound::Excluded(entry), Bound::Unbounded);
                prop_assert_eq!(packed.from(Bound::Excluded(&entry)).next(), plain.range(after).next());
                prop_assert_eq!(packed.from(Bound::Included(&entry)).next(), plain.range(entry..).next());
                prop_assert_eq!(packed.is_empty(), plain.is_empty());
            }
            prop_assert!(packed.iter().eq(plain.iter()));
            prop_assert!(packed.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
        }
    }

    #[test]
    fn what_is_added_at_the_end_lies_side_by_side() {
        let mut set = PackedSet::default();
        (0..6_400_u32).for_each(|entry| set.insert(entry));
        assert_eq!(set.chunks.len(), 100);
        assert!(set.chunks.iter().all(|chunk| chunk.capacity() == CHUNK));
    }
}
