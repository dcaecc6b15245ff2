//! When points are taken, and when a database that is away is asked again.

use danlu_core::{Span, Time};

/// After so many failures in a row administrators have a notice: once may be chance.
pub(crate) const FAILURES: u32 = 3;
const LONGEST_PAUSE: Span = Span::from_secs(60);

/// Points are taken at whole multiples of the interval, so that those of a restarted server fall on the same times.
pub(crate) fn slot(now: Time, interval: Span) -> Time {
    let interval = i64::try_from(interval.0).unwrap_or(i64::MAX).max(1);
    Time(now.0.div_euclid(interval) * interval)
}

/// The slot that is due now, if it was not the last one.
pub(crate) fn due(now: Time, last: Option<Time>, interval: Span) -> Option<Time> {
    Some(slot(now, interval)).filter(|slot| last != Some(*slot))
}

/// Until the next slot.
pub(crate) fn until_next(now: Time, interval: Span) -> Span {
    (slot(now, interval) + interval).since(now)
}

/// After so many failures in a row: longer each time, up to a minute.
pub(crate) fn pause(failures: u32) -> Span {
    let doubled = 1_u64 << failures.saturating_sub(1).min(10);
    Span(doubled.saturating_mul(1_000)).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Span = Span::from_secs(10);

    #[test]
    fn each_slot_once_also_when_the_clock_is_set() {
        assert_eq!(due(Time(25_000), None, TEN), Some(Time(20_000)));
        assert_eq!(due(Time(29_999), Some(Time(20_000)), TEN), None);
        assert_eq!(due(Time(30_000), Some(Time(20_000)), TEN), Some(Time(30_000)));
        assert_eq!(due(Time(95_000), Some(Time(20_000)), TEN), Some(Time(90_000)), "after a sleep");
        assert_eq!(due(Time(5_000), Some(Time(20_000)), TEN), Some(Time(0)), "set back");
    }

    #[test]
    fn waits_end_with_the_slot() {
        assert_eq!(until_next(Time(25_000), TEN), Span(5_000));
        assert_eq!(until_next(Time(30_000), TEN), TEN);
    }

    #[test]
    fn pauses_grow_up_to_a_minute() {
        let seconds: Vec<u64> = (1..9).map(|failures| pause(failures).0 / 1_000).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(pause(u32::MAX), LONGEST_PAUSE);
    }
}
