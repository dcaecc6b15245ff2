//! Scripted traces of what programs do to a GPU, and what is found in them: nobody who works loses a GPU, and whoever only
//! holds one is found.

use super::cpu::CpuRecord;
use super::verdict::{IdleRecord, Idleness, LEAST, Look};
use danlu_core::idle::IdleKind;
use danlu_core::{Span, Time};

const INTERVAL: i64 = 2;
pub(super) const MINUTE: i64 = 60;
pub(super) const HOUR: i64 = 3_600;
/// Watts of the simulated card at rest, with a process.
const REST: u32 = 55;

/// A program that is looked at every two seconds.
#[derive(Debug, Clone)]
pub(super) struct Trace {
    /// In seconds.
    pub(super) now: i64,
    memory: u32,
    looks: Vec<(Look, Option<u32>)>,
    random: u64,
}

impl Trace {
    pub(super) fn new(memory: u32, seed: u64) -> Trace {
        Trace { now: 0, memory, looks: Vec::new(), random: seed }
    }

    /// From 0 up to, without, `below` (SplitMix64).
    fn dice(&mut self, below: i64) -> i64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.random;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((number ^ (number >> 31)) % below.unsigned_abs()).cast_signed()
    }

    /// For so many seconds. `load`: utilisation and watts.
    fn go(&mut self, seconds: i64, load: impl Fn(i64) -> (u8, u32), cores: u32) {
        for into in (0..seconds).step_by(INTERVAL as usize) {
            let (utilization, power) = load(into);
            self.look(Some(utilization), power, Some(cores));
        }
    }

    fn look(&mut self, utilization: Option<u8>, power: u32, cores: Option<u32>) {
        let look = Look {
            at: Time::from_secs(self.now),
            utilization,
            memory: utilization.map(|_| self.memory),
            power: Some(power),
            power_at_rest: Some(REST),
        };
        self.looks.push((look, cores));
        self.now += INTERVAL;
    }

    pub(super) fn work(&mut self, seconds: i64) {
        let level = 40 + self.dice(60) as u8;
        // Steps dip now and then.
        self.go(seconds, |into| if into % 14 == 12 { (0, 90) } else { (level, 240) }, 800);
    }

    pub(super) fn rest(&mut self, seconds: i64) {
        self.go(seconds, |into| (u8::from(into % 10 == 0), 56), 20);
    }

    fn load_data(&mut self, seconds: i64, cores: u32) {
        self.go(seconds, |_| (0, 57), cores);
    }

    fn pulse(&mut self, seconds: i64, pause: i64) {
        self.go(seconds, |_| (100, 130), 100);
        self.rest(pause);
    }

    /// Nobody looks, or nobody can.
    pub(super) fn unseen(&mut self, seconds: i64) {
        self.now += seconds;
    }

    pub(super) fn unknown(&mut self, seconds: i64) {
        (0..seconds).step_by(INTERVAL as usize).for_each(|_| self.look(None, 60, None));
    }

    /// What the record says at the end, and when a run is stopped that nobody answers for.
    pub(super) fn judged(&self, release_after: Span) -> (Option<Idleness>, Option<Time>) {
        let interval = Span::from_secs(INTERVAL.unsigned_abs());
        let (mut record, mut cpu) = (IdleRecord::default(), CpuRecord::default());
        let mut released = None;
        for (look, cores) in &self.looks {
            record.add(look, interval);
            cpu.add(look.at, *cores);
            let long = |idle: Idleness| look.at.since(idle.since) >= release_after;
            let doubt = cpu.is_busy(look.at, LEAST) || record.is_stirring();
            if !doubt && record.verdict(LEAST, interval).is_some_and(long) {
                released.get_or_insert(look.at);
            }
        }
        (record.verdict(LEAST, interval), released)
    }
}

/// What has to come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// It works: never idle, and never stopped.
    Works,
    /// Idle in this way at the end, since this many seconds, and stopped in time.
    Idle(IdleKind, i64),
    /// Idle for display; not stopped, for its CPUs are busy.
    Doubt,
    /// Nothing is known: not idle.
    Unknown,
}

fn scripted() -> Vec<(&'static str, Trace, Expect)> {
    let mut all = Vec::new();
    let mut add = |name, trace: Trace, expect| all.push((name, trace, expect));

    for (name, pause) in [
        ("training, pauses of 1 min", MINUTE),
        ("training, pauses of 10 min", 10 * MINUTE),
        ("training, pauses of 29 min", 29 * MINUTE),
    ] {
        let mut trace = Trace::new(18_000, 1);
        for _ in 0..24 {
            trace.work(5 * MINUTE);
            trace.load_data(pause, 40);
        }
        add(name, trace, Expect::Works);
    }
    let mut trace = Trace::new(22_000, 2);
    for _ in 0..30 {
        trace.work(12 * MINUTE);
        trace.go(3 * MINUTE, |into| if into % 6 == 0 { (25, 120) } else { (4, 95) }, 1_000);
        trace.rest(25);
    }
    add("epochs with evaluation", trace, Expect::Works);
    let mut trace = Trace::new(3_000, 3);
    for step in 0..60 {
        trace.memory = 3_000 + step * 200;
        trace.rest(4 * MINUTE);
    }
    trace.work(HOUR);
    add("a model that is loaded for hours", trace, Expect::Works);
    let mut trace = Trace::new(1_500, 4);
    for level in 0..80_i64 {
        trace.go(3 * MINUTE, |_| ((3 + level / 2) as u8, 70 + level as u32), 200);
    }
    add("use that grows slowly", trace, Expect::Works);
    let mut trace = Trace::new(900, 5);
    for _ in 0..200 {
        let (long, pause) = (12 + trace.dice(60), 60 + trace.dice(1_500));
        trace.work(long);
        trace.rest(pause);
    }
    add("a notebook that is used now and then", trace, Expect::Works);
    let mut trace = Trace::new(14_000, 6);
    for _ in 0..200 {
        let (long, pause) = (2 + trace.dice(7), 40 + trace.dice(900));
        trace.go(long, |_| (70, 180), 300);
        trace.rest(pause);
    }
    add("short steps between long loads", trace, Expect::Works);
    let mut trace = Trace::new(700, 7);
    trace.go(8 * HOUR, |into| (8 + (into % 5) as u8, 78), 900);
    add("a small load with real power", trace, Expect::Works);
    let mut trace = Trace::new(9_000, 8);
    trace.work(HOUR);
    trace.load_data(4 * HOUR, 3_500);
    add("data is prepared on the CPUs for hours", trace, Expect::Doubt);

    let mut trace = Trace::new(0, 10);
    trace.go(4 * HOUR, |_| (0, 25), 0);
    add("no process", trace, Expect::Idle(IdleKind::NoProcess, 0));
    let mut trace = Trace::new(9_000, 11);
    trace.work(2 * HOUR);
    trace.memory = 0;
    let since = trace.now;
    trace.go(4 * HOUR, |_| (0, 25), 0);
    add("the process has ended, the run has not", trace, Expect::Idle(IdleKind::NoProcess, since));
    let mut trace = Trace::new(600, 12);
    trace.rest(4 * HOUR);
    add("never used", trace, Expect::Idle(IdleKind::NeverUsed, 0));
    let mut trace = Trace::new(20_000, 13);
    trace.work(3 * HOUR);
    let since = trace.now;
    trace.rest(4 * HOUR);
    add("used, then idle", trace, Expect::Idle(IdleKind::UsedThenIdle, since));
    for (name, memory, period) in [
        ("pulses: 2 s every 60 s", 1_000, 60),
        ("pulses: 2 s every 300 s", 1_000, 300),
        ("pulses: 2 s every 60 s, in all memory", 38_000, 60),
        ("pulses: 2 s every 180 s, in all memory", 38_000, 180),
        ("pulses: 2 s every 300 s, in all memory", 38_000, 300),
    ] {
        let mut trace = Trace::new(memory, 14);
        while trace.now < 5 * HOUR {
            trace.pulse(2, period - 2);
        }
        add(name, trace, Expect::Idle(IdleKind::Pulses, 2));
    }
    let mut trace = Trace::new(1_000, 15);
    trace.work(HOUR);
    let since = trace.now;
    while trace.now < 7 * HOUR {
        let pause = 58 + trace.dice(240) / 2 * 2;
        trace.rest(pause);
        trace.pulse(2, 2);
    }
    add("pulses: 2 s every 60 to 300 s by chance", trace, Expect::Idle(IdleKind::Pulses, since));
    let mut trace = Trace::new(1_200, 16);
    trace.go(5 * HOUR, |into| (4 + (into % 9) as u8, 58), 60);
    add("a faint load at the power of rest", trace, Expect::Idle(IdleKind::Pulses, 0));

    let mut trace = Trace::new(20_000, 20);
    trace.work(HOUR);
    let since = trace.now;
    for _ in 0..10 {
        trace.rest(30 * MINUTE);
        trace.unseen(40);
    }
    trace.rest(10);
    let idle = Expect::Idle(IdleKind::UsedThenIdle, since + 10 * 40);
    add("used, then idle, with short gaps", trace, idle);
    let mut trace = Trace::new(20_000, 21);
    trace.work(HOUR);
    trace.rest(29 * MINUTE);
    trace.unseen(2 * HOUR);
    trace.rest(29 * MINUTE);
    add("the machine was away", trace, Expect::Unknown);
    let mut trace = Trace::new(20_000, 22);
    trace.work(HOUR);
    trace.rest(20 * MINUTE);
    trace.unknown(6 * HOUR);
    add("a card that others share, without own figures", trace, Expect::Unknown);
    let mut trace = Trace::new(20_000, 23);
    trace.work(HOUR);
    trace.rest(80 * MINUTE);
    // The server stops and starts: the samples are read again, without the last minute.
    trace.unseen(70);
    let since = HOUR + 70;
    trace.rest(80 * MINUTE);
    add("used, then idle, over a restart", trace, Expect::Idle(IdleKind::UsedThenIdle, since));
    all
}

#[test]
fn nobody_who_works_is_stopped_and_whoever_does_not_is_found() {
    println!("| trace | hours | found | stopped after 2 h |");
    println!("| --- | ---: | --- | --- |");
    let mut wrong = Vec::new();
    for (name, trace, expect) in scripted() {
        let (idle, stopped) = trace.judged(Span::from_secs(7_200));
        // As soon as any administrator may order it.
        let (_, soonest) = trace.judged(LEAST);
        let found = idle.map_or_else(|| "in use".to_owned(), |idle| format!("{:?}", idle.kind));
        let done = if stopped.is_some() { "yes" } else { "no" };
        println!("| {name} | {:.1} | {found} | {done} |", trace.now as f64 / HOUR as f64);
        let slack = |seconds: i64, idle: Idleness| (idle.since.0 / 1_000 - seconds).abs() <= 20;
        let right = match expect {
            Expect::Works | Expect::Unknown => idle.is_none() && soonest.is_none(),
            Expect::Doubt => idle.is_some() && soonest.is_none(),
            Expect::Idle(kind, since) => {
                idle.is_some_and(|idle| idle.kind == kind && slack(since, idle))
                    && stopped.is_some_and(|at| at.0 / 1_000 <= since + 2 * HOUR + 300)
            }
        };
        if !right {
            wrong.push(format!(
                "{name}: expected {expect:?}, found {idle:?}, {stopped:?}, {soonest:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
