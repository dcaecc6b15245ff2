//! Whether the CPUs of a run are busy: then its GPUs may be idle because it prepares data for them. Pure.

use danlu_core::{Span, Time};

/// A minute with more than this, in thousandths of a core, is busy.
const BUSY: u64 = 300;
const MINUTE: Span = Span::from_secs(60);

/// Without a look for longer nothing is known.
const FORGOTTEN: Span = Span::from_secs(300);

/// Of what a run does on one machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct CpuRecord {
    /// The minute that goes on: its beginning, the sum of all looks, and how many.
    minute: Option<(Time, u64, u64)>,
    /// The last minute that was busy.
    busy_at: Option<Time>,
    seen_at: Option<Time>,
}

impl CpuRecord {
    /// `cores`: thousandths of a core. One look that tells nothing says nothing: a process may have ended just then.
    pub(crate) fn add(&mut self, at: Time, cores: Option<u32>) {
        let Some(cores) = cores else { return };
        self.seen_at = Some(at);
        let (began, sum, count) = self.minute.get_or_insert((at, 0, 0));
        *sum += u64::from(cores);
        *count += 1;
        if at < *began || at.since(*began) >= MINUTE {
            if *sum > BUSY * *count {
                self.busy_at = Some(at);
            }
            self.minute = None;
        }
    }

    /// They were busy within the last `window`, or are not known.
    pub(crate) fn is_busy(&self, now: Time, window: Span) -> bool {
        let unknown = self.seen_at.is_none_or(|at| now.since(at) > FORGOTTEN);
        let lately = self.busy_at.is_some_and(|at| now.since(at) < window || at > now);
        let beginning = self.minute.is_some_and(|(_, sum, count)| sum > BUSY * count);
        unknown || lately || beginning
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Span = Span::from_secs(1_800);

    /// A look every two seconds from second `from` to second `to`.
    fn looks(record: &mut CpuRecord, from: i64, to: i64, cores: Option<u32>) {
        (from..to).step_by(2).for_each(|second| record.add(Time::from_secs(second), cores));
    }

    #[test]
    fn cpus_are_busy_for_a_while_after_a_busy_minute() {
        let mut record = CpuRecord::default();
        looks(&mut record, 0, 300, Some(20));
        assert!(!record.is_busy(Time::from_secs(300), WINDOW));
        looks(&mut record, 300, 420, Some(900));
        assert!(record.is_busy(Time::from_secs(420), WINDOW));
        looks(&mut record, 420, 2_400, Some(20));
        assert!(!record.is_busy(Time::from_secs(2_400), WINDOW));
    }

    #[test]
    fn a_short_peak_is_not_busy_and_the_unknown_is() {
        let mut record = CpuRecord::default();
        looks(&mut record, 0, 58, Some(0));
        looks(&mut record, 58, 62, Some(2_000));
        looks(&mut record, 62, 200, Some(0));
        assert!(!record.is_busy(Time::from_secs(200), WINDOW));
        // One look that tells nothing, and none for long.
        looks(&mut record, 200, 202, None);
        assert!(!record.is_busy(Time::from_secs(300), WINDOW));
        looks(&mut record, 202, 600, None);
        assert!(record.is_busy(Time::from_secs(600), WINDOW));
        assert!(CpuRecord::default().is_busy(Time(0), WINDOW));
    }
}
