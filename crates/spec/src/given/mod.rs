//! What people write on the command line, one small parser each.

pub mod amount;
pub mod array;
pub mod begin;
pub mod dependency;
pub mod gpus;
pub mod grid;
pub mod pair;
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
