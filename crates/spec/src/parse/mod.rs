//! Parsers of option values, one file each.

pub mod amount;
pub mod array;
pub mod begin;
pub mod dependency;
pub mod duration;
pub mod gpus;
pub mod grid;
pub mod notify;
pub mod pair;
pub mod past;
pub mod resource;
pub mod retries;
pub mod stream;
pub mod task_ids;
pub mod task_state;
pub mod time_limit;

use std::str::FromStr;

/// A whole number without a sign, which `parse` would take.
fn whole<T: FromStr>(digits: &str) -> Option<T> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// `1.5` times so many, in whole numbers, so that nothing is rounded but the last digit.
fn times(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let mut total = u128::from(whole) * u128::from(factor);
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).ok().filter(|digits| *digits <= 15)?;
        total += fraction.parse::<u128>().ok()? * u128::from(factor) / 10_u128.pow(digits);
    }
    u64::try_from(total).ok()
}
