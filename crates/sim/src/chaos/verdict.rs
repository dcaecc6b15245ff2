//! The result of a check: nothing, or the violation.

use std::fmt;

/// Something that must never happen has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Violation(pub(super) String);

pub(super) type Verdict<T = ()> = Result<T, Violation>;

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! ensure {
    ($holds:expr, $($message:tt)+) => {
        if !$holds {
            return Err($crate::chaos::verdict::Violation(format!($($message)+)));
        }
    };
}

pub(super) use ensure;
