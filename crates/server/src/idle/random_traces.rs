//! Traces by chance: whatever a program does, who works is never idle, and idle time is found and never more than was seen.

use super::traces::{HOUR, MINUTE, Trace};
use super::verdict::{IdleRecord, LEAST, Look};
use danlu_core::idle::IdleKind;
use danlu_core::{Span, Time};
use proptest::prelude::*;

/// One thing that a program that works does.
#[derive(Debug, Clone, Copy)]
enum Doing {
    Work(i64),
    Pause(i64),
    Unseen(i64),
    Unknown(i64),
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        4 => (12..600_i64).prop_map(Doing::Work),
        4 => (2..29 * MINUTE).prop_map(Doing::Pause),
        1 => (0..4 * HOUR).prop_map(Doing::Unseen),
        1 => (2..400_i64).prop_map(Doing::Unknown),
    ]
}

fn done(memory: u32, all: &[Doing]) -> Trace {
    let mut trace = Trace::new(memory, 99);
    // Two pauses without work in between are one: less than 29 minutes of pause between two pieces of work.
    let mut paused = 0;
    for doing in all {
        match *doing {
            Doing::Work(seconds) => {
                trace.work(seconds);
                paused = 0;
            }
            Doing::Pause(seconds) if paused + seconds < 29 * MINUTE => {
                trace.rest(seconds);
                paused += seconds;
            }
            Doing::Pause(_) => {}
            Doing::Unseen(seconds) => trace.unseen(seconds),
            Doing::Unknown(seconds) => trace.unknown(seconds),
        }
    }
    trace
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn work_with_pauses_is_never_idle(memory in 500..80_000_u32, all in prop::collection::vec(doing(), 1..40)) {
        let trace = done(memory, &all);
        let (idle, released) = trace.judged(LEAST);
        prop_assert_eq!((idle, released), (None, None));
    }

    #[test]
    fn whatever_it_did_before_idle_time_is_found_and_no_more_than_was_seen(
        memory in 500..80_000_u32,
        all in prop::collection::vec(doing(), 0..20),
        seconds in 31 * MINUTE..5 * HOUR,
    ) {
        let mut trace = done(memory, &all);
        trace.work(60);
        let began = trace.now;
        trace.rest(seconds);
        let (idle, _) = trace.judged(LEAST);
        let idle = idle.expect("it is idle");
        prop_assert_eq!(idle.kind, IdleKind::UsedThenIdle);
        let late = idle.since.0 / 1_000 - began;
        prop_assert!((0..20).contains(&late), "{}", late);
    }

    #[test]
    fn idle_time_is_never_longer_than_what_was_seen(
        looks in prop::collection::vec((0..130_i64, prop::option::of(0..3_u8)), 1..3_000),
    ) {
        let mut record = IdleRecord::default();
        let (mut at, mut seen) = (0, 0);
        let interval = Span::from_secs(2);
        for (pause, utilization) in looks {
            at += pause;
            let look = Look {
                at: Time::from_secs(at),
                utilization,
                memory: Some(4_000),
                power: None,
                power_at_rest: None,
            };
            record.add(&look, interval);
            seen += pause.min(5);
            if let Some(idle) = record.verdict(Span::ZERO, interval) {
                let last = record.last_at().expect("it has looked");
                prop_assert!(last.since(idle.since).0 <= seen.unsigned_abs() * 1_000);
            }
        }
    }
}
