//! How much of a GPU each process uses, from the samples that the driver keeps of it.

use std::collections::BTreeMap;

/// One sample of one process, as the driver tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessSample {
    pub(super) pid: u32,
    /// Microseconds.
    pub(super) at: u64,
    /// Percent.
    pub(super) busy: u32,
}

/// A look that comes between two samples of the driver finds nothing new: what was found last still holds then.
const SILENT_LOOKS: u32 = 2;

/// Of one GPU.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ProcessUse {
    /// The newest sample that was taken.
    seen: u64,
    last: BTreeMap<u32, u8>,
    silent: u32,
}

impl ProcessUse {
    /// Samples up to this one were taken already.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// The driver returns old samples again, and entries that it has not filled in.
    pub(super) fn take(&mut self, samples: &[ProcessSample]) {
        let fresh = |sample: &&ProcessSample| sample.at > self.seen && sample.busy <= 100;
        let mut sums: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        let mut newest = self.seen;
        for sample in samples.iter().filter(fresh) {
            let (sum, count) = sums.entry(sample.pid).or_default();
            *sum += sample.busy;
            *count += 1;
            newest = newest.max(sample.at);
        }
        self.seen = newest;
        if sums.is_empty() {
            self.silent += 1;
            if self.silent > SILENT_LOOKS {
                self.last.clear();
            }
            return;
        }
        self.silent = 0;
        let mean = |(sum, count): (u32, u32)| (sum / count).min(100) as u8;
        self.last = sums.into_iter().map(|(pid, sums)| (pid, mean(sums))).collect();
    }

    /// A process without a sample has not used the GPU.
    pub(super) fn of(&self, pid: u32) -> u8 {
        self.last.get(&pid).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(pid: u32, at: u64, busy: u32) -> ProcessSample {
        ProcessSample { pid, at, busy }
    }

    #[test]
    fn new_samples_are_averaged_and_old_ones_left() {
        let mut use_ = ProcessUse::default();
        use_.take(&[sample(7, 10, 40), sample(7, 20, 60), sample(8, 20, 5), sample(9, 15, 4_000)]);
        assert_eq!((use_.of(7), use_.of(8), use_.of(9), use_.seen()), (50, 5, 0, 20));
        use_.take(&[sample(7, 20, 60), sample(8, 30, 9)]);
        assert_eq!((use_.of(7), use_.of(8)), (0, 9));
    }

    #[test]
    fn a_look_between_two_samples_changes_nothing() {
        let mut use_ = ProcessUse::default();
        use_.take(&[sample(7, 10, 40)]);
        (0..SILENT_LOOKS).for_each(|_| use_.take(&[]));
        assert_eq!(use_.of(7), 40);
        use_.take(&[]);
        assert_eq!(use_.of(7), 0);
    }
}
