//! One value of a trace: a whole number within limits, or a name.

use super::problem::{RowProblem, Wrong};
use danlu_core::limits;

/// A whole number, also where a program has written it as `12.0`.
pub(super) fn number(
    column: &'static str,
    value: &str,
    least: u64,
    most: u64,
) -> Result<u64, RowProblem> {
    let bad = |wrong| bad_value(column, value, wrong);
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if value.is_empty() {
        return Err(bad(Wrong::Empty));
    }
    if !digits(fraction) || !digits(whole.strip_prefix('-').unwrap_or(whole)) {
        return Err(bad(Wrong::NotANumber));
    }
    if fraction.bytes().any(|byte| byte != b'0') {
        return Err(bad(Wrong::NotWhole));
    }
    if whole.starts_with('-') {
        return Err(bad(Wrong::Negative));
    }
    match whole.parse::<u64>() {
        Ok(number) if number < least => Err(bad(Wrong::Zero)),
        Ok(number) if number <= most => Ok(number),
        // Only digits, so it can fail only by its size.
        Ok(_) | Err(_) => Err(bad(Wrong::TooLarge { most })),
    }
}

pub(super) fn name<'a>(column: &'static str, value: &'a str) -> Result<&'a str, RowProblem> {
    if value.is_empty() {
        return Err(bad_value(column, value, Wrong::Empty));
    }
    if value.len() > limits::NAME_BYTES {
        return Err(bad_value(column, value, Wrong::TooLong { most: limits::NAME_BYTES }));
    }
    Ok(value)
}

fn bad_value(column: &'static str, value: &str, wrong: Wrong) -> RowProblem {
    RowProblem::BadValue { column, value: shortened(value, 40), wrong }
}

/// A message quotes what was found, but not a whole damaged file.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most).chain(['…']).collect()
}
