//! GPU time that decays by half in every half-life. Integers only, so that every machine computes the same result.

pub(crate) mod account;

use crate::model::time::{Span, Time};
use serde::{Deserialize, Serialize};

/// A user's GPU time, decayed to `at`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Millionths of a GPU-second.
    pub micros: u64,
    pub at: Time,
}

impl Usage {
    /// Decayed to `now`, with `gpus` in use since `at`.
    pub fn until(self, now: Time, gpus: u64, half_life: Span) -> Usage {
        let kept = kept(now.since(self.at), half_life);
        let before = (u128::from(self.micros) * kept) >> 64;
        // Constant use decays while it accumulates: gpus × half-life ÷ ln 2 × the fraction that has decayed.
        let of_one = (for_ever(half_life) * (ONE - kept)) >> 32;
        let since = of_one.saturating_mul(u128::from(gpus)) >> 32;
        Usage { micros: u64::try_from(before + since).unwrap_or(u64::MAX), at: now }
    }
}

/// In parts of 2^64.
const ONE: u128 = 1 << 64;
/// In parts of 2^32.
const ONE_OVER_LN_2: u128 = 6_196_328_019;

/// What a GPU that is in use for ever counts, in millionths of a GPU-second.
pub(crate) fn for_ever(half_life: Span) -> u128 {
    let full = (u128::from(half_life.0) * 1_000 * ONE_OVER_LN_2) >> 32;
    full.min(ONE / 2)
}

/// What is left of one after this time, in parts of 2^64.
pub(crate) fn kept(passed: Span, half_life: Span) -> u128 {
    let (Some(halvings), Some(rest)) =
        (passed.0.checked_div(half_life.0), passed.0.checked_rem(half_life.0))
    else {
        return 0;
    };
    if halvings >= 64 {
        return 0;
    }
    // The fraction of a half-life in binary: one factor for each digit.
    let fraction = (u128::from(rest) << ROOTS.len()) / u128::from(half_life.0);
    let digits = ROOTS.iter().rev().enumerate().filter(|(digit, _)| (fraction >> digit) & 1 == 1);
    digits.fold(ONE, |left, (_, root)| (left * root) >> 64) >> halvings
}

/// The square root of one half, the square root of that, and so on.
const ROOTS: [u128; 40] = {
    let mut roots = [0; 40];
    let mut last: u128 = ONE / 2;
    let mut at = 0;
    while at < roots.len() {
        last = (last << 64).isqrt();
        roots[at] = last;
        at += 1;
    }
    roots
};

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: Span = Span::from_secs(7 * 86_400);
    const SECOND: u64 = 1_000_000;

    fn used(micros: u64) -> Usage {
        Usage { micros, at: Time(0) }
    }

    #[test]
    fn half_is_left_after_a_half_life_and_nothing_after_many() {
        let later = |weeks: i64| used(1 << 40).until(Time(7 * 86_400_000 * weeks), 0, WEEK).micros;
        assert_eq!([later(0), later(1), later(2), later(3)], [1 << 40, 1 << 39, 1 << 38, 1 << 37]);
        assert_eq!(later(1_000), 0);
        let in_between = used(1 << 40).until(Time(7 * 43_200_000), 0, WEEK).micros;
        assert_eq!(in_between, 777_472_127_993, "2^40 / sqrt 2");
    }

    #[test]
    fn use_counts_in_full_at_first_however_it_is_cut_into_pieces() {
        let hour = 3_600_000;
        let whole = used(0).until(Time(hour), 4, WEEK).micros;
        let mut pieces = used(0);
        for at in (0..=hour).step_by(10) {
            pieces = pieces.until(Time(at), 4, WEEK);
        }
        let full = 4 * 3_600 * SECOND;
        assert!((full - full / 400..full).contains(&whole), "{whole} of {full}");
        let apart = whole.abs_diff(pieces.micros);
        assert!(apart < whole / 10_000, "{whole} and {} in pieces", pieces.micros);
    }

    #[test]
    fn what_is_used_for_ever_counts_a_half_life_over_ln_2() {
        let for_ever = used(0).until(Time(i64::MAX), 1, WEEK).micros;
        assert_eq!(for_ever / SECOND, 872_541);
    }

    #[test]
    fn wrong_clocks_and_odd_settings_do_no_harm() {
        let later = used(SECOND);
        assert_eq!(later.until(Time(-5), 9, WEEK), Usage { micros: SECOND, at: Time(-5) });
        assert_eq!(later.until(Time(5), 9, Span::ZERO).micros, 0);
        let most = Usage { micros: u64::MAX, at: Time(i64::MIN) };
        most.until(Time(i64::MAX), u64::MAX, Span(u64::MAX));
    }
}
