//! Decaying GPU time of one user or of several together, comparable without knowing the current time.
//!
//! The decayed usage of a user with `g` GPUs in use converges to that of `g` GPUs in use for ever. The distance to it
//! halves in every half-life, for every user alike. So among users with equally many GPUs in use the order by usage does
//! not change as time passes, and can be kept sorted.

use crate::model::time::{Span, Time};
use crate::schedule::turn::decay::{self, Usage};
use std::collections::BTreeMap;

/// What one user adds to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Deposit {
    pub(crate) gpus: u64,
    /// The half-life in which the amount counts in full, counted from 1970.
    epoch: i64,
    /// What the use is above that of as many GPUs for ever, or below.
    amount: i128,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Account {
    pub(crate) gpus: u64,
    /// Sums are exact, so that it does not matter in which order users come and go.
    amounts: BTreeMap<i64, i128>,
}

/// Where an account stands among those with as many GPUs in use, at any time: the higher, the more it has used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level {
    sign: i128,
    /// A logarithm, so that what was used years ago does not make numbers too large.
    size: i128,
}

/// Amounts are in millionths of a GPU-second times this power of two.
const AMOUNT_BITS: u32 = 20;
/// The largest amount: many thousand GPUs for centuries.
const MOST: i128 = 1 << 60;
const LOGARITHM_BITS: u32 = 32;

impl Deposit {
    pub(crate) fn of(used: Usage, gpus: u64, half_life: Span) -> Deposit {
        let Ok(length @ 1..) = i64::try_from(half_life.0) else {
            return Deposit { gpus, epoch: 0, amount: 0 };
        };
        let above = i128::from(used.micros) - for_ever(gpus, half_life);
        let (epoch, rest) = (used.at.0.div_euclid(length), used.at.0.rem_euclid(length));
        let grown = decay::kept(Span(length.abs_diff(rest)), half_life).cast_signed() << 1;
        let amount = (above.clamp(-MOST, MOST) * grown) >> (64 - AMOUNT_BITS);
        Deposit { gpus, epoch, amount }
    }
}

impl Account {
    pub(crate) fn add(&mut self, deposit: Deposit) {
        self.gpus += deposit.gpus;
        self.change(deposit.epoch, deposit.amount);
    }

    pub(crate) fn take(&mut self, deposit: Deposit) {
        self.gpus -= deposit.gpus;
        self.change(deposit.epoch, -deposit.amount);
    }

    fn change(&mut self, epoch: i64, amount: i128) {
        let sum = self.amounts.entry(epoch).or_default();
        *sum += amount;
        if *sum == 0 {
            self.amounts.remove(&epoch);
        }
    }

    pub(crate) fn level(&self) -> Level {
        let newest = self.amounts.last_key_value().map_or(0, |(epoch, _)| *epoch);
        let total = self.total(newest);
        let size = logarithm(total.unsigned_abs()) + (i128::from(newest) << LOGARITHM_BITS);
        match total.signum() {
            0 => Level { sign: 0, size: 0 },
            sign => Level { sign, size: sign * size },
        }
    }

    /// In millionths of a GPU-second, as it counts now.
    pub(crate) fn used(&self, now: Time, half_life: Span) -> u64 {
        let Ok(length @ 1..) = i64::try_from(half_life.0) else { return 0 };
        let (epoch, rest) = (now.0.div_euclid(length), now.0.rem_euclid(length));
        let kept = decay::kept(Span(rest.unsigned_abs()), half_life).cast_signed();
        let above = ((self.total(epoch) >> AMOUNT_BITS) * (kept >> 24)) >> 40;
        u64::try_from((for_ever(self.gpus, half_life) + above).max(0)).unwrap_or(u64::MAX)
    }

    /// What the amounts come to in this epoch.
    fn total(&self, epoch: i64) -> i128 {
        let faded = self.amounts.iter().map(|(of, amount)| {
            let halvings = u32::try_from(epoch.saturating_sub(*of).max(0)).unwrap_or(u32::MAX);
            amount.checked_shr(halvings).unwrap_or(0)
        });
        faded.sum()
    }
}

fn for_ever(gpus: u64, half_life: Span) -> i128 {
    let one = decay::for_ever(half_life).cast_signed();
    one.saturating_mul(i128::from(gpus)).min(MOST)
}

/// To the base of two, with `LOGARITHM_BITS` binary places; 0 for nothing.
fn logarithm(number: u128) -> i128 {
    let Some(whole) = number.checked_ilog2() else { return 0 };
    // The number between one and two, in parts of 2^63. Its square is above two where the next binary place is a one.
    let mut rest = if whole > 63 { number >> (whole - 63) } else { number << (63 - whole) };
    let mut result = i128::from(whole);
    for _ in 0..LOGARITHM_BITS {
        rest = (rest * rest) >> 63;
        let one = rest >> 64;
        rest >>= one;
        result = result << 1 | one.cast_signed();
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: Span = Span::from_secs(7 * 86_400);
    const DAY: i64 = 86_400_000;

    fn account(deposits: &[(u64, i64, u64)]) -> Account {
        let mut account = Account::default();
        for (micros, day, gpus) in deposits {
            let used = Usage { micros: *micros, at: Time(day * DAY) };
            account.add(Deposit::of(used, *gpus, WEEK));
        }
        account
    }

    #[test]
    fn an_account_counts_what_its_users_have_used() {
        let users = [(5_000_000_000, 100, 0), (1 << 45, 90, 3), (77, 80, 12), (1 << 50, 20, 0)];
        for day in [100, 101, 107, 130, 400] {
            let each = users.map(|(micros, at, gpus)| {
                let used = Usage { micros, at: Time(at * DAY) };
                used.until(Time(day * DAY + 12_345), gpus, WEEK).micros
            });
            let (sum, counted) =
                (each.iter().sum::<u64>(), account(&users).used(Time(day * DAY + 12_345), WEEK));
            assert!(sum.abs_diff(counted) <= sum / 1_000_000 + 10, "{sum}, but {counted}");
        }
    }

    #[test]
    fn levels_are_in_the_order_of_use_at_any_time() {
        let micros = [0, 1_000_000, 3_600_000_000, 1 << 42, 1 << 50];
        for gpus in [0, 1, 8] {
            let all = micros.iter().flat_map(|used| [(*used, 50), (*used, 53), (*used, 64)]);
            let mut all: Vec<Account> =
                all.map(|(used, day)| account(&[(used, day, gpus)])).collect();
            all.sort_by_key(Account::level);
            for day in [64, 70, 90] {
                let used: Vec<u64> =
                    all.iter().map(|it| it.used(Time(day * DAY), WEEK) / 10).collect();
                assert!(used.is_sorted(), "{gpus} GPUs on day {day}: {used:?}");
            }
        }
    }

    #[test]
    fn users_come_and_go_without_a_trace() {
        let mut there = account(&[(1 << 40, 3, 2), (999, 77, 5)]);
        let before = there.clone();
        let guest = Deposit::of(Usage { micros: 123_456_789, at: Time(5 * DAY + 7) }, 4, WEEK);
        there.add(guest);
        assert_ne!(there, before);
        there.take(guest);
        assert_eq!(there, before);
    }

    #[test]
    fn odd_settings_do_no_harm() {
        for half_life in [Span::ZERO, Span(1), Span(u64::MAX)] {
            let used = Usage { micros: u64::MAX, at: Time(i64::MAX) };
            let mut account = Account::default();
            account.add(Deposit::of(used, 1 << 40, half_life));
            account.add(Deposit::of(Usage { at: Time(i64::MIN), ..used }, 0, half_life));
            let _ = (account.level(), account.used(Time(0), half_life));
        }
    }
}
