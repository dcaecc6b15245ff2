//! How often something is done at most, and when it is due.

use std::time::{Duration, Instant};

/// Something that is wanted again and again, done with a gap between two times, and never twice at once.
#[derive(Debug)]
pub(crate) struct Pace {
    gap: Duration,
    began: Option<Instant>,
    wanted: bool,
    under_way: bool,
}

impl Pace {
    pub(crate) fn new(gap: Duration) -> Self {
        Self { gap, began: None, wanted: true, under_way: false }
    }

    pub(crate) fn want(&mut self) {
        self.wanted = true;
    }

    /// Somebody waits for it: without a gap.
    pub(crate) fn want_now(&mut self) {
        self.wanted = true;
        self.began = None;
    }

    pub(crate) fn done(&mut self) {
        self.under_way = false;
    }

    /// When it is due; `None` while it is not wanted or under way.
    pub(crate) fn due(&self, now: Instant) -> Option<Instant> {
        let wanted = self.wanted && !self.under_way;
        wanted.then(|| self.began.map_or(now, |began| (began + self.gap).max(now)))
    }

    /// `true` once when it is due: the caller does it.
    pub(crate) fn begin(&mut self, now: Instant) -> bool {
        if self.due(now).is_none_or(|due| due > now) {
            return false;
        }
        self.wanted = false;
        self.under_way = true;
        self.began = Some(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: Duration = Duration::from_millis(500);

    #[test]
    fn a_storm_of_wishes_is_one_request_per_gap() {
        let start = Instant::now();
        let mut pace = Pace::new(GAP);
        let mut times = 0;
        for millisecond in 0..2_000 {
            let now = start + Duration::from_millis(millisecond);
            pace.want();
            if pace.begin(now) {
                times += 1;
                pace.done();
            }
        }
        assert_eq!(times, 4);
    }

    #[test]
    fn nothing_is_due_while_it_is_under_way_or_not_wanted() {
        let now = Instant::now();
        let mut pace = Pace::new(GAP);
        assert!(pace.begin(now));
        pace.want();
        assert_eq!(pace.due(now + GAP), None);
        pace.done();
        assert_eq!(pace.due(now), Some(now + GAP));
        pace.want_now();
        assert!(pace.begin(now));
        pace.done();
        assert_eq!(pace.due(now + GAP), None);
    }
}
