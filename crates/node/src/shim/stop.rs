//! Decides, from times alone, when a run is stopped and by which signal.

use std::time::{Duration, Instant};

/// Invariant: a repeated request never extends the deadline.
#[derive(Debug)]
pub(super) struct Stop {
    phase: StopPhase,
    clock: Clock,
    limit: Option<Duration>,
    grace: Duration,
    asked: bool,
    timed_out: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StopPhase {
    Running,
    /// The leader is to be signalled.
    Ending {
        kill_at: Instant,
    },
    /// The leader has been signalled.
    Signalled {
        kill_at: Instant,
    },
    /// The leader is gone; what it left has been signalled.
    Remains {
        kill_at: Instant,
    },
    Killing {
        again_at: Instant,
        pause: Duration,
    },
}

/// How long the command may still run. It stands still during a pause.
#[derive(Debug)]
enum Clock {
    Endless { paused: bool },
    Running { end_at: Instant },
    Paused { left: Duration },
}

/// The next action of the shim.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Wait,
    SignalLeader,
    SignalRest,
    KillAll,
    Finish,
}

const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl Stop {
    pub(super) fn new(now: Instant, limit: Option<Duration>, grace: Duration) -> Stop {
        let clock = match limit.and_then(|limit| now.checked_add(limit)) {
            Some(end_at) => Clock::Running { end_at },
            None => Clock::Endless { paused: false },
        };
        Stop { phase: StopPhase::Running, clock, limit, grace, asked: false, timed_out: false }
    }

    /// A request to stop within `grace`.
    pub(super) fn ask(&mut self, now: Instant, grace: Duration) {
        let kill_at = later(now, grace);
        match &mut self.phase {
            StopPhase::Running => {
                self.asked = true;
                self.phase = StopPhase::Ending { kill_at };
            }
            StopPhase::Ending { kill_at: before }
            | StopPhase::Signalled { kill_at: before }
            | StopPhase::Remains { kill_at: before } => *before = kill_at.min(*before),
            StopPhase::Killing { .. } => {}
        }
    }

    /// So long in all, and not as long as was said before.
    pub(super) fn set_limit(&mut self, limit: Duration) {
        let Some(before) = self.limit.replace(limit) else { return };
        let moved = |at: Instant| {
            let longer = limit.saturating_sub(before);
            later(at, longer).checked_sub(before.saturating_sub(limit)).unwrap_or(at)
        };
        self.clock = match self.clock {
            Clock::Running { end_at } => Clock::Running { end_at: moved(end_at) },
            Clock::Paused { left } => Clock::Paused { left: (left + limit).saturating_sub(before) },
            Clock::Endless { paused } => Clock::Endless { paused },
        };
    }

    pub(super) fn pause(&mut self, now: Instant) {
        self.clock = match self.clock {
            Clock::Running { end_at } => {
                Clock::Paused { left: end_at.saturating_duration_since(now) }
            }
            Clock::Endless { .. } => Clock::Endless { paused: true },
            Clock::Paused { left } => Clock::Paused { left },
        };
    }

    pub(super) fn resume(&mut self, now: Instant) {
        self.clock = match self.clock {
            Clock::Paused { left } => Clock::Running { end_at: later(now, left) },
            Clock::Endless { .. } => Clock::Endless { paused: false },
            Clock::Running { end_at } => Clock::Running { end_at },
        };
    }

    pub(super) fn is_paused(&self) -> bool {
        matches!(self.clock, Clock::Paused { .. } | Clock::Endless { paused: true })
    }

    /// Everything is being killed now, and again after a while if something is left.
    pub(super) fn killing(&mut self, now: Instant) {
        let pause = match self.phase {
            StopPhase::Killing { pause, .. } => (pause * 2).min(LONGEST_PAUSE),
            StopPhase::Running
            | StopPhase::Ending { .. }
            | StopPhase::Signalled { .. }
            | StopPhase::Remains { .. } => FIRST_PAUSE,
        };
        self.phase = StopPhase::Killing { again_at: now + pause, pause };
    }

    pub(super) fn was_asked(&self) -> bool {
        self.asked
    }

    pub(super) fn timed_out(&self) -> bool {
        self.timed_out
    }

    pub(super) fn next(&mut self, now: Instant, leader_ended: bool, children: bool) -> Next {
        if leader_ended && !children {
            return Next::Finish;
        }
        match self.phase {
            StopPhase::Running if leader_ended => self.signal_rest(later(now, self.grace)),
            StopPhase::Running => {
                let Clock::Running { end_at } = self.clock else { return Next::Wait };
                if now < end_at {
                    return Next::Wait;
                }
                self.timed_out = true;
                self.signal_leader(later(now, self.grace))
            }
            StopPhase::Ending { kill_at } if leader_ended => self.signal_rest(kill_at),
            StopPhase::Ending { kill_at } => self.signal_leader(kill_at),
            StopPhase::Signalled { kill_at } if leader_ended && now < kill_at => {
                self.signal_rest(kill_at)
            }
            StopPhase::Signalled { kill_at: until }
            | StopPhase::Remains { kill_at: until }
            | StopPhase::Killing { again_at: until, .. }
                if now < until =>
            {
                Next::Wait
            }
            StopPhase::Signalled { .. } | StopPhase::Remains { .. } | StopPhase::Killing { .. } => {
                self.killing(now);
                Next::KillAll
            }
        }
    }

    fn signal_leader(&mut self, kill_at: Instant) -> Next {
        self.phase = StopPhase::Signalled { kill_at };
        Next::SignalLeader
    }

    fn signal_rest(&mut self, kill_at: Instant) -> Next {
        self.phase = StopPhase::Remains { kill_at };
        Next::SignalRest
    }

    /// When something is to be done even if nothing happens.
    pub(super) fn wake_at(&self, now: Instant) -> Option<Instant> {
        match self.phase {
            StopPhase::Running => match self.clock {
                Clock::Running { end_at } => Some(end_at),
                Clock::Paused { .. } | Clock::Endless { .. } => None,
            },
            StopPhase::Ending { .. } => Some(now),
            StopPhase::Signalled { kill_at } | StopPhase::Remains { kill_at } => Some(kill_at),
            StopPhase::Killing { again_at, .. } => Some(again_at),
        }
    }
}

/// Very long waits are cut to a century.
fn later(now: Instant, wait: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
    now + wait.min(CENTURY)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(10);

    /// Seconds after the start.
    struct Scenario {
        start: Instant,
        stop: Stop,
    }

    fn scenario(limit: Option<u64>) -> Scenario {
        let start = Instant::now();
        Scenario { start, stop: Stop::new(start, limit.map(Duration::from_secs), GRACE) }
    }

    impl Scenario {
        fn at(&self, seconds: u64) -> Instant {
            self.start + Duration::from_secs(seconds)
        }

        #[track_caller]
        #[allow(clippy::needless_pass_by_value, reason = "reads better where it is called")]
        fn check(&mut self, seconds: u64, leader_ended: bool, children: bool, expected: Next) {
            let now = self.at(seconds);
            assert_eq!(self.stop.next(now, leader_ended, children), expected, "at {seconds} s");
        }

        fn wake_after(&self, seconds: u64) -> Option<u64> {
            let wake = self.stop.wake_at(self.at(seconds))?;
            Some(wake.saturating_duration_since(self.start).as_secs())
        }
    }

    #[test]
    fn command_that_ends_by_itself() {
        let mut run = scenario(None);
        run.check(5, false, true, Next::Wait);
        assert_eq!(run.wake_after(5), None);
        run.check(6, true, false, Next::Finish);
        assert!(!run.stop.was_asked() && !run.stop.timed_out());
    }

    #[test]
    fn leader_first_then_the_tree() {
        let mut run = scenario(None);
        run.stop.ask(run.at(1), GRACE);
        run.check(1, false, true, Next::SignalLeader);
        run.check(10, false, true, Next::Wait);
        assert_eq!(run.wake_after(10), Some(11));
        run.check(11, false, true, Next::KillAll);
        run.check(11, false, true, Next::Wait);
        run.check(12, true, true, Next::KillAll);
        run.check(12, true, false, Next::Finish);
        assert!(run.stop.was_asked() && !run.stop.timed_out());
    }

    #[test]
    fn what_the_leader_leaves_gets_the_rest_of_the_grace() {
        let mut run = scenario(None);
        run.stop.ask(run.at(0), GRACE);
        run.check(0, false, true, Next::SignalLeader);
        run.check(4, true, true, Next::SignalRest);
        run.check(9, true, true, Next::Wait);
        run.check(10, true, true, Next::KillAll);
    }

    #[test]
    fn what_an_ended_command_leaves_is_ended() {
        let mut run = scenario(None);
        run.check(3, true, true, Next::SignalRest);
        run.check(12, true, true, Next::Wait);
        run.check(13, true, true, Next::KillAll);
        assert!(!run.stop.was_asked());
    }

    #[test]
    fn asking_again_never_gives_more_time() {
        let mut run = scenario(None);
        run.stop.ask(run.at(0), GRACE);
        run.check(0, false, true, Next::SignalLeader);
        run.stop.ask(run.at(5), GRACE);
        assert_eq!(run.wake_after(5), Some(10));
        run.stop.ask(run.at(6), Duration::ZERO);
        run.check(6, false, true, Next::KillAll);
    }

    #[test]
    fn paused_time_does_not_count() {
        let mut run = scenario(Some(10));
        run.stop.pause(run.at(4));
        assert!(run.stop.is_paused());
        run.check(100, false, true, Next::Wait);
        assert_eq!(run.wake_after(100), None);
        run.stop.resume(run.at(100));
        assert_eq!(run.wake_after(100), Some(106));
        run.check(105, false, true, Next::Wait);
        run.check(106, false, true, Next::SignalLeader);
        assert!(run.stop.timed_out() && !run.stop.was_asked());
    }

    #[test]
    fn more_time_counts_from_the_start() {
        let mut run = scenario(Some(10));
        run.stop.set_limit(Duration::from_secs(25));
        run.stop.set_limit(Duration::from_secs(25));
        assert_eq!(run.wake_after(3), Some(25));
        run.stop.pause(run.at(5));
        run.stop.set_limit(Duration::from_secs(35));
        run.stop.resume(run.at(105));
        run.check(134, false, true, Next::Wait);
        run.check(135, false, true, Next::SignalLeader);
        assert!(run.stop.timed_out());
    }

    #[test]
    fn time_limit_after_a_stop_changes_nothing() {
        let mut run = scenario(Some(10));
        run.stop.ask(run.at(9), GRACE);
        run.check(9, false, true, Next::SignalLeader);
        run.check(15, false, true, Next::Wait);
        run.check(19, false, true, Next::KillAll);
        assert!(run.stop.was_asked() && !run.stop.timed_out());
    }

    #[test]
    fn endless_limit_is_no_limit() {
        let start = Instant::now();
        let mut stop = Stop::new(start, Some(Duration::MAX), Duration::MAX);
        assert_eq!(stop.next(start, false, true), Next::Wait);
        stop.ask(start, Duration::MAX);
        assert_eq!(stop.next(start, false, true), Next::SignalLeader);
    }
}
