//! Users in turn: who has few GPUs for their priority goes first.

use super::standing::{Ratio, Standing};
use crate::ids::TaskId;
use crate::mutant::{Mutant, mutated};
use crate::user::User;

/// Classes are strict: below zero by value, then zero, then all above zero by what they have running.
pub(crate) fn standing(user: &User, running_gpus: u64, oldest: TaskId) -> Standing {
    let priority = user.priority.0;
    match u64::try_from(priority) {
        Ok(under @ 1..) => Standing {
            class: 1,
            group: Ratio::ZERO,
            share: Ratio { over: running_gpus, under },
            oldest,
        },
        _ if mutated(Mutant::ClassesIgnored) => {
            Standing { class: 1, group: Ratio::ZERO, share: Ratio::ZERO, oldest }
        }
        _ => Standing { class: priority, group: Ratio::ZERO, share: Ratio::ZERO, oldest },
    }
}
