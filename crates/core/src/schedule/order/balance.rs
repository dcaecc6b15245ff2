//! `balance`: users take turns; the user with the fewest running GPUs relative to their priority goes first.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::TaskId;
use crate::model::user::User;
use crate::schedule::turn::key::{Ratio, TurnKey};

/// Classes are strict: below zero by value, then zero, then all above zero by what they have running.
pub(crate) fn turn_key(user: &User, running_gpus: u64, oldest: TaskId) -> TurnKey {
    let priority = user.priority.0;
    match u64::try_from(priority) {
        Ok(under @ 1..) => {
            let share = Ratio { over: running_gpus, under };
            TurnKey::by_share(1, Ratio::ZERO, share, oldest)
        }
        _ => {
            let class = if mutated(Mutant::ClassesIgnored) { 1 } else { priority };
            TurnKey::by_share(class, Ratio::ZERO, Ratio::ZERO, oldest)
        }
    }
}
