//! Whether a GPU that a run holds is idle, since when and in which way. Pure: a small record that each look at it is added to.
//!
//! In doubt it is in use: a GPU whose load is not known, or was not looked at, is never idle, and time that nobody has seen
//! is never counted.

use danlu_core::idle::IdleKind;
use danlu_core::{Span, Time};
use std::collections::VecDeque;

/// Shorter pauses are never idle: programs load data, evaluate and write checkpoints.
pub(crate) const LEAST: Span = Span::from_secs(1_800);
/// After a longer time that nobody has seen, a record begins anew.
const LONGEST_GAP: Span = Span::from_secs(120);
/// Below this, in percent, nothing is computed.
const REST_BELOW: u8 = 2;
/// Up to this, in percent, a load is none if the GPU takes no more power than at rest.
const FAINT_UP_TO: u8 = 20;
/// A longer burst is work.
const LONGEST_PULSE: Span = Span::from_secs(10);
/// Where one looks more seldom, a burst cannot be told from work.
const PULSES_NEED: Span = Span::from_secs(5);
/// Of all time, in percent: more is work.
const MOST_DUTY: u64 = 10;
/// Fewer pulses are chance …
const LEAST_PULSES: usize = 4;
/// … and so is a rhythm of fewer.
const LEAST_BEATS: usize = 6;
/// The newest, which are kept.
const KEPT_PULSES: usize = 32;
/// Programs that only keep a GPU need little memory, in MiB.
const SMALL_MEMORY: u32 = 2_048;
/// A larger change of memory, in MiB, is work: a model is being loaded, or a process has ended.
const MEMORY_STEP: u32 = 64;

/// One look at a GPU that a run holds: what the run itself has of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) at: Time,
    /// Percent.
    pub(crate) utilization: Option<u8>,
    /// MiB; none at all means that no process is there.
    pub(crate) memory: Option<u32>,
    /// Watts.
    pub(crate) power: Option<u32>,
    /// Watts that this GPU takes while nothing is computed on it, as far as it was seen.
    pub(crate) power_at_rest: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Idleness {
    pub(crate) since: Time,
    pub(crate) kind: IdleKind,
}

impl Idleness {
    /// Of several GPUs together: idle since the last of them is, and in the way that is nearest to work.
    pub(crate) fn and(self, other: Idleness) -> Idleness {
        Idleness { since: self.since.max(other.since), kind: self.kind.max(other.kind) }
    }
}

/// What the looks so far have shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct IdleRecord {
    last_at: Option<Time>,
    /// Something was computed once.
    used: bool,
    /// Load that may turn out to be a pulse or work, since then.
    burst: Option<Time>,
    quiet: Option<Quiet>,
}

/// A stretch without work.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Quiet {
    since: Time,
    /// Without pulses as well.
    still_since: Time,
    /// There was some load at the power of an idle GPU.
    faint: bool,
    memory: Option<u32>,
    pulses: VecDeque<Pulse>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pulse {
    at: Time,
    length: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Load {
    Rest,
    Faint,
    Busy,
}

impl Look {
    fn load(&self) -> Option<Load> {
        let utilization = self.utilization?;
        let rests = match (self.power, self.power_at_rest) {
            (Some(power), Some(rest)) => power <= rest + (rest / 10).max(8),
            (None, _) | (_, None) => false,
        };
        Some(match utilization {
            0..REST_BELOW => Load::Rest,
            REST_BELOW..=FAINT_UP_TO if rests => Load::Faint,
            _ => Load::Busy,
        })
    }
}

impl IdleRecord {
    /// `interval`: how often one looks.
    pub(crate) fn add(&mut self, look: &Look, interval: Span) {
        // What is not known was not seen.
        let Some(load) = look.load() else { return };
        self.pass(look.at, interval);
        match load {
            Load::Busy => self.add_busy(look.at, interval),
            Load::Rest => self.add_quiet(look, interval, false),
            Load::Faint => self.add_quiet(look, interval, true),
        }
    }

    /// Time that was not seen is taken out of the stretch, or ends it.
    fn pass(&mut self, at: Time, interval: Span) {
        let Some(last) = self.last_at.replace(at) else { return };
        let gap = at.since(last);
        let usual = Span(interval.0 * 5 / 2);
        if at < last || gap > LONGEST_GAP.max(usual) {
            (self.burst, self.quiet) = (None, None);
        } else if gap > usual
            && let Some(quiet) = &mut self.quiet
        {
            let unseen = gap.saturating_sub(interval);
            quiet.since = quiet.since + unseen;
            quiet.still_since = quiet.still_since + unseen;
            quiet.pulses.iter_mut().for_each(|pulse| pulse.at = pulse.at + unseen);
        }
    }

    fn add_busy(&mut self, at: Time, interval: Span) {
        let began = *self.burst.get_or_insert(at);
        if interval > PULSES_NEED || at.since(began) >= LONGEST_PULSE {
            (self.used, self.quiet) = (true, None);
        }
    }

    fn add_quiet(&mut self, look: &Look, interval: Span, faint: bool) {
        let burst = self.burst.take();
        let begun = || Quiet {
            since: look.at,
            still_since: look.at,
            faint,
            memory: look.memory,
            pulses: VecDeque::new(),
        };
        let Some(quiet) = &mut self.quiet else {
            self.quiet = Some(begun());
            return;
        };
        if has_changed(quiet.memory, look.memory) {
            *quiet = begun();
            return;
        }
        quiet.faint |= faint;
        let Some(at) = burst else { return };
        quiet.still_since = look.at;
        if quiet.pulses.len() == KEPT_PULSES {
            quiet.pulses.pop_front();
        }
        quiet.pulses.push_back(Pulse { at, length: look.at.since(at).max(interval) });
        if quiet.pulses.len() >= LEAST_PULSES && !quiet.is_low_duty(look.at) {
            self.used = true;
            *quiet = begun();
        }
    }

    /// There is load at the moment, and it is not known yet what it will be.
    pub(crate) fn is_stirring(&self) -> bool {
        self.burst.is_some()
    }

    pub(crate) fn last_at(&self) -> Option<Time> {
        self.last_at
    }

    /// Idle for at least so long.
    pub(crate) fn verdict(&self, least: Span, interval: Span) -> Option<Idleness> {
        let (quiet, now) = (self.quiet.as_ref()?, self.last_at?);
        if quiet.is_kept_alive(interval) && now.since(quiet.since) >= least {
            return Some(Idleness { since: quiet.since, kind: IdleKind::Pulses });
        }
        if self.burst.is_some() || now.since(quiet.still_since) < least {
            return None;
        }
        let kind = match (quiet.memory, quiet.faint, self.used) {
            (Some(0), false, _) => IdleKind::NoProcess,
            (_, true, _) => IdleKind::Pulses,
            (_, false, true) => IdleKind::UsedThenIdle,
            (_, false, false) => IdleKind::NeverUsed,
        };
        Some(Idleness { since: quiet.still_since, kind })
    }
}

impl Quiet {
    fn is_low_duty(&self, now: Time) -> bool {
        let Some(first) = self.pulses.front() else { return true };
        let busy: u64 = self.pulses.iter().map(|pulse| pulse.length.0).sum();
        busy * 100 <= now.since(first.at).0 * MOST_DUTY
    }

    /// By a program that does nothing else: always the same burst, in little memory or like a clock.
    fn is_kept_alive(&self, interval: Span) -> bool {
        if self.pulses.len() < LEAST_PULSES || self.memory.is_none_or(|memory| memory == 0) {
            return false;
        }
        let lengths = self.pulses.iter().map(|pulse| pulse.length.0);
        let (shortest, longest) =
            (lengths.clone().min().unwrap_or(0), lengths.max().unwrap_or(u64::MAX));
        let alike = longest - shortest <= interval.0 * 3 / 2;
        let small = self.memory.is_some_and(|memory| memory <= SMALL_MEMORY);
        alike && (small || self.is_regular(interval))
    }

    fn is_regular(&self, interval: Span) -> bool {
        let next = self.pulses.iter().skip(1);
        let mut pauses: Vec<u64> =
            self.pulses.iter().zip(next).map(|(one, next)| next.at.since(one.at).0).collect();
        pauses.sort_unstable();
        let Some(&middle) = pauses.get(pauses.len() / 2) else { return false };
        let slack = middle / 10 + interval.0 * 3 / 2;
        self.pulses.len() >= LEAST_BEATS && pauses.iter().all(|it| it.abs_diff(middle) <= slack)
    }
}

fn has_changed(before: Option<u32>, now: Option<u32>) -> bool {
    match (before, now) {
        (Some(before), Some(now)) => {
            (before == 0) != (now == 0) || before.abs_diff(now) > MEMORY_STEP.max(before / 50)
        }
        (before, now) => before != now,
    }
}
