//! What people write on the command line, one small parser each.

pub(crate) mod amount;
pub(crate) mod array;
pub(crate) mod begin;
pub(crate) mod dependency;
pub(crate) mod gpus;
pub(crate) mod grid;
pub(crate) mod pair;
pub(crate) mod resource;
pub(crate) mod retries;
pub(crate) mod stream;
pub(crate) mod task_ids;
pub(crate) mod task_state;
pub(crate) mod time_limit;

use std::str::FromStr;

/// A whole number without a sign, which `parse` would take.
fn whole<T: FromStr>(digits: &str) -> Option<T> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}
