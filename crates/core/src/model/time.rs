//! Points in time and durations, in milliseconds, always passed in by the caller.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Milliseconds since the Unix epoch (or since the start of a trace).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(pub i64);

/// A length of time in milliseconds, never negative.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Span(pub u64);

impl Time {
    pub const fn from_secs(seconds: i64) -> Time {
        Time(seconds.saturating_mul(1000))
    }

    /// The time since `earlier`; zero when a clock was set back in between.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0).max(0).unsigned_abs())
    }

    /// The first multiple of `step` that is later than this; this time itself for an empty step.
    pub fn next_multiple(self, step: Span) -> Time {
        match i64::try_from(step.0) {
            Ok(step) if step > 0 => Time((self.0.div_euclid(step) + 1).saturating_mul(step)),
            _ => self,
        }
    }
}

impl Span {
    pub const ZERO: Span = Span(0);

    pub const fn from_secs(seconds: u64) -> Span {
        Span(seconds.saturating_mul(1000))
    }

    pub fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    pub fn times(self, factor: u32) -> Span {
        Span(self.0.saturating_mul(u64::from(factor)))
    }
}

/// In the largest unit that it is a whole number of, as options and settings take it: `90m`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
        let unit = units.into_iter().find(|(_, ms)| self.0 >= *ms && self.0.is_multiple_of(*ms));
        let (name, ms) = unit.unwrap_or(("ms", 1));
        f.pad(&format!("{}{name}", self.0 / ms))
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add_unsigned(span.0))
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Sub<Span> for Time {
    type Output = Time;
    fn sub(self, span: Span) -> Time {
        Time(self.0.saturating_sub_unsigned(span.0))
    }
}
