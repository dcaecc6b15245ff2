//! Which messages may be sent now: in order for each task and target, at rest after failures. Pure.

use danlu_core::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A message that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// As the outbox writes it.
    pub(crate) target: String,
    /// Messages of one subject reach a target in their order.
    pub(crate) subject: String,
    pub(crate) due: Time,
    pub(crate) attempts: u32,
    pub(crate) since: Time,
}

/// The messages to one target.
#[derive(Debug, Default)]
struct Lane {
    waiting: BTreeMap<i64, Waiting>,
    in_flight: Option<i64>,
    failures: u32,
    rests_until: Option<Time>,
}

/// Messages by target. A target that fails or hangs delays only itself.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    lanes: BTreeMap<String, Lane>,
    count: usize,
    /// Failures since the last success, of the ways that have any.
    failures: BTreeMap<String, u32>,
}

/// To one mail server at once.
const MAILS_AT_ONCE: usize = 4;
const FIRST_PAUSE: Span = Span::from_secs(10);
const LONGEST_PAUSE: Span = Span::from_secs(3_600);
/// Then it is given up.
const PATIENCE: Span = Span::from_secs(3 * 86_400);
/// One failure may be of the message, and not of the target.
const OUTAGE: u32 = 2;

/// After so many failures in a row.
pub(crate) fn pause(failures: u32) -> Span {
    let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST_PAUSE.times(doubled).min(LONGEST_PAUSE)
}

fn is_mail(target: &str) -> bool {
    target.starts_with("email:")
}

/// What targets have in common: all mail goes through one server.
fn way(target: &str) -> &str {
    if is_mail(target) { crate::daemon::config::EMAIL } else { target }
}

impl Lanes {
    pub(crate) fn add(&mut self, number: i64, waiting: Waiting) {
        let lane = self.lanes.entry(waiting.target.clone()).or_default();
        self.count += usize::from(lane.waiting.insert(number, waiting).is_none());
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The one that has waited longest and is not under way.
    pub(crate) fn oldest(&self) -> Option<i64> {
        let idle = |lane: &Lane| {
            let waiting = lane.waiting.keys().copied();
            waiting.filter(|number| lane.in_flight != Some(*number)).min()
        };
        self.lanes.values().filter_map(idle).min()
    }

    /// Those that may be sent now; they count as under way.
    pub(crate) fn start(&mut self, now: Time) -> Vec<i64> {
        let mut mails = self.mails_in_flight();
        let mut started = Vec::new();
        for (target, lane) in &mut self.lanes {
            let mail = is_mail(target);
            if lane.in_flight.is_some() || mail && mails >= MAILS_AT_ONCE {
                continue;
            }
            if lane.rests_until.is_some_and(|until| until > now) {
                continue;
            }
            let mut blocked = BTreeSet::new();
            let ready = lane.waiting.iter().find(|(_, waiting)| {
                !blocked.contains(&waiting.subject) && {
                    let due = waiting.due <= now;
                    if !due {
                        blocked.insert(waiting.subject.clone());
                    }
                    due
                }
            });
            if let Some(number) = ready.map(|(number, _)| *number) {
                lane.in_flight = Some(number);
                mails += usize::from(mail);
                started.push(number);
            }
        }
        started
    }

    fn mails_in_flight(&self) -> usize {
        let flying =
            |(target, lane): &(&String, &Lane)| is_mail(target) && lane.in_flight.is_some();
        self.lanes.iter().filter(flying).count()
    }

    /// Refused for good, given up or dropped.
    pub(crate) fn remove(&mut self, number: i64) {
        self.take_out(number);
        self.drop_empty();
    }

    fn drop_empty(&mut self) {
        self.lanes.retain(|_, lane| !lane.waiting.is_empty() || lane.failures > 0);
    }

    fn take_out(&mut self, number: i64) -> Option<String> {
        let has = |(_, lane): &(&String, &mut Lane)| lane.waiting.contains_key(&number);
        let (target, lane) = self.lanes.iter_mut().find(has)?;
        lane.waiting.remove(&number);
        lane.in_flight.take_if(|flying| *flying == number);
        self.count -= 1;
        Some(target.clone())
    }

    /// It has arrived. After an outage nothing waits for the pauses that came of it.
    pub(crate) fn delivered(&mut self, number: i64, now: Time) {
        let Some(target) = self.take_out(number) else { return };
        if self.failures.remove(way(&target)).is_some_and(|failures| failures >= OUTAGE) {
            self.recovered(&target, now);
        }
        if let Some(lane) = self.lanes.get_mut(&target) {
            (lane.failures, lane.rests_until) = (0, None);
        }
        self.drop_empty();
    }

    /// The target can be reached again, and all that is reached the same way.
    pub(crate) fn recovered(&mut self, target: &str, now: Time) {
        let recovered = way(target);
        self.failures.remove(recovered);
        for (_, lane) in self.lanes.iter_mut().filter(|(target, _)| way(target) == recovered) {
            (lane.failures, lane.rests_until) = (0, None);
            for waiting in lane.waiting.values_mut() {
                waiting.due = waiting.due.min(now);
            }
        }
    }

    /// The channels are others now.
    pub(crate) fn all_recovered(&mut self, now: Time) {
        let targets: Vec<String> = self.lanes.keys().cloned().collect();
        targets.iter().for_each(|target| self.recovered(target, now));
    }

    /// It could not be delivered now. When it is tried again; `None`: it is given up.
    pub(crate) fn failed(
        &mut self,
        number: i64,
        now: Time,
        asked: Option<Span>,
    ) -> Option<Waiting> {
        let has = |(_, lane): &(&String, &mut Lane)| lane.waiting.contains_key(&number);
        let (target, lane) = self.lanes.iter_mut().find(has)?;
        let failures = self.failures.entry(way(target).to_owned()).or_default();
        *failures = failures.saturating_add(1);
        lane.in_flight = None;
        lane.failures = lane.failures.saturating_add(1);
        // No server makes people wait for ever.
        let asked = asked.map(|asked| asked.min(LONGEST_PAUSE));
        lane.rests_until = Some(now + asked.unwrap_or(pause(lane.failures)));
        let waiting = lane.waiting.get_mut(&number)?;
        waiting.attempts = waiting.attempts.saturating_add(1);
        waiting.due = now + pause(waiting.attempts).max(asked.unwrap_or(Span::ZERO));
        (waiting.since + PATIENCE > now).then(|| waiting.clone())
    }

    pub(crate) fn wake_at(&self) -> Option<Time> {
        let busy = self.mails_in_flight() >= MAILS_AT_ONCE;
        let next = |(target, lane): (&String, &Lane)| {
            if lane.in_flight.is_some() || busy && is_mail(target) {
                return None;
            }
            // The first of each subject keeps the others back.
            let mut first = BTreeMap::new();
            for waiting in lane.waiting.values() {
                first.entry(waiting.subject.as_str()).or_insert(waiting.due);
            }
            let due = first.into_values().min()?;
            Some(due.max(lane.rests_until.unwrap_or(due)))
        };
        self.lanes.iter().filter_map(next).min()
    }

    /// Targets whose last attempts failed, and how many did.
    pub(crate) fn failing(&self) -> BTreeMap<String, u32> {
        let failing = self.lanes.iter().filter(|(_, lane)| lane.failures > 0);
        failing.map(|(target, lane)| (target.clone(), lane.failures)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(target: &str, subject: &str) -> Waiting {
        let (target, subject) = (target.to_owned(), subject.to_owned());
        Waiting { target, subject, due: Time(0), attempts: 0, since: Time(0) }
    }

    #[test]
    fn a_target_that_hangs_delays_only_itself() {
        let mut lanes = Lanes::default();
        for (number, target) in [(1, "a"), (2, "a"), (3, "b"), (4, "b")] {
            lanes.add(number, waiting(target, "7"));
        }
        assert_eq!(lanes.start(Time(0)), [1, 3]);
        lanes.delivered(3, Time(0));
        assert_eq!(lanes.start(Time(0)), [4], "the first of a is still under way");
    }

    #[test]
    fn a_message_that_fails_keeps_back_those_of_its_task_only() {
        let mut lanes = Lanes::default();
        lanes.add(1, waiting("a", "7"));
        lanes.add(2, waiting("a", "7"));
        lanes.add(3, waiting("a", "8"));
        assert_eq!(lanes.start(Time(0)), [1]);
        let again = lanes.failed(1, Time(0), None).expect("it is tried again");
        assert_eq!((again.due, again.attempts), (Time(10_000), 1));
        assert!(lanes.start(Time(9_999)).is_empty(), "the target rests");
        assert_eq!(lanes.wake_at(), Some(Time(10_000)));
        // Twice in a row, it is still the first of its task that goes first.
        assert_eq!(lanes.start(Time(10_000)), [1]);
        lanes.failed(1, Time(10_000), None);
        assert_eq!(lanes.start(Time(30_000)), [1]);
        lanes.failed(1, Time(30_000), Some(Span::from_secs(5)));
        assert_eq!(lanes.start(Time(35_000)), [3], "not 2, which comes after 1");
        lanes.remove(3);
        assert!(lanes.start(Time(35_000)).is_empty());
        assert_eq!(lanes.wake_at(), Some(Time(70_000)), "after its third failure");
    }

    #[test]
    fn pauses_double_and_end() {
        assert_eq!(
            [pause(1), pause(2), pause(9), pause(40)].map(|it| it.0 / 1_000),
            [10, 20, 2_560, 3_600]
        );
        let mut lanes = Lanes::default();
        lanes.add(1, waiting("a", "7"));
        assert_eq!(lanes.start(Time(0)), [1]);
        assert!(lanes.failed(1, Time(3 * 86_400_000), None).is_none(), "three days are enough");
    }

    /// Fails at each of these seconds, when it is due.
    fn fail(lanes: &mut Lanes, number: i64, seconds: &[i64]) {
        for at in seconds.iter().map(|second| Time(second * 1_000)) {
            assert_eq!(lanes.start(at), [number], "at {at:?}");
            assert!(lanes.failed(number, at, None).is_some());
        }
    }

    #[test]
    fn after_an_outage_nothing_waits_for_old_pauses() {
        let mut lanes = Lanes::default();
        lanes.add(1, waiting("a", "7"));
        fail(&mut lanes, 1, &[0, 10, 30, 70]);
        lanes.add(2, waiting("a", "8"));
        assert_eq!(lanes.wake_at(), Some(Time(150_000)), "the target rests");
        lanes.recovered("a", Time(80_000));
        assert_eq!(lanes.start(Time(80_000)), [1], "somebody has seen that it works");
        lanes.failed(1, Time(80_000), None);
        assert_eq!(lanes.start(Time(240_000)), [1]);
        lanes.failed(1, Time(240_000), Some(Span::from_secs(1)));
        assert_eq!(lanes.start(Time(241_000)), [2], "the first is due in five minutes");
        lanes.delivered(2, Time(242_000));
        assert_eq!(lanes.start(Time(242_000)), [1], "not later");
    }

    #[test]
    fn a_message_that_alone_fails_is_not_hurried() {
        let mut lanes = Lanes::default();
        lanes.add(1, waiting("a", "7"));
        fail(&mut lanes, 1, &[0]);
        lanes.add(2, waiting("a", "8"));
        lanes.failed(1, Time(0), None);
        lanes.delivered(2, Time(5_000));
        assert_eq!(lanes.start(Time(5_000)), [1], "two failures in a row look like an outage");
        lanes.failed(1, Time(5_000), None);
        lanes.add(3, waiting("a", "8"));
        lanes.delivered(3, Time(20_000));
        assert!(lanes.start(Time(20_000)).is_empty(), "all others arrive");
        assert_eq!(lanes.wake_at(), Some(Time(45_000)));
    }

    #[test]
    fn one_mail_that_arrives_shows_that_the_server_is_back() {
        let mut lanes = Lanes::default();
        for (number, target) in [(1, "email:a@x.org"), (2, "email:b@x.org"), (3, "ops")] {
            lanes.add(number, waiting(target, "7"));
        }
        assert_eq!(lanes.start(Time(0)), [1, 2, 3]);
        for number in [1, 2, 3] {
            lanes.failed(number, Time(0), Some(Span::from_secs(100)));
        }
        lanes.add(4, waiting("email:c@x.org", "9"));
        assert_eq!(lanes.start(Time(1_000)), [4]);
        lanes.delivered(4, Time(1_000));
        assert_eq!(lanes.start(Time(1_000)), [1, 2], "but nothing is known of another channel");
    }

    #[test]
    fn a_mail_server_is_not_flooded() {
        let mut lanes = Lanes::default();
        for number in 0..9 {
            lanes.add(number, waiting(&format!("email:{number}@x.org"), "7"));
        }
        lanes.add(9, waiting("ops", "7"));
        assert_eq!(lanes.start(Time(0)).len(), MAILS_AT_ONCE + 1);
        assert!(lanes.start(Time(0)).is_empty());
        assert_eq!(lanes.wake_at(), None, "one has to come back first");
    }
}
