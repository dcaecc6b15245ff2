//! Users in turn by what they have used of late: who has used little for their weight goes first, and before that
//! whose group has.

use super::standing::{Ratio, Standing};
use crate::ids::{TaskId, UserId};
use crate::state::State;
use crate::thousandths::Thousandths;
use crate::time::Time;
use crate::user::User;
use std::collections::BTreeMap;

/// A GPU counts as used for so long as soon as it is given out, so that one pass does not give all to one user.
/// In millionths of a second.
const AT_START: u64 = 60_000_000;

/// What users and groups have used at the time of a pass, and what the pass has given them since.
#[derive(Debug, Default)]
pub(super) struct Used<'a> {
    users: BTreeMap<UserId, u64>,
    groups: BTreeMap<&'a str, u64>,
}

impl<'a> Used<'a> {
    pub(super) fn now(
        state: &'a State,
        waiting: impl Iterator<Item = UserId>,
        now: Time,
    ) -> Used<'a> {
        let mut used = Used::default();
        for user in waiting {
            used.users.insert(user, used_by(state, user, now));
            if let Some(group) = state.users[&user].group.as_deref()
                && !used.groups.contains_key(group)
            {
                let members = state.members_of(group);
                let sum = members.map(|user| used_by(state, user, now));
                used.groups.insert(group, sum.fold(0, u64::saturating_add));
            }
        }
        used
    }

    /// So many GPUs more, or fewer, are assumed to be in use.
    pub(super) fn assume(&mut self, user: &'a User, gpus: i64) {
        let own = self.users.get_mut(&user.id);
        let group = user.group.as_deref().and_then(|group| self.groups.get_mut(group));
        for used in own.into_iter().chain(group) {
            *used = used.saturating_add_signed(gpus.saturating_mul(AT_START.cast_signed()));
        }
    }

    pub(super) fn standing(&self, state: &State, user: &User, oldest: TaskId) -> Standing {
        let own = ratio(self.users.get(&user.id).copied().unwrap_or(0), user.weight);
        let group = user.group.as_deref().and_then(|group| {
            let weight = state.settings().fair.groups.get(group).copied();
            Some(ratio(*self.groups.get(group)?, weight.unwrap_or(Thousandths::ONE)))
        });
        // Who is in no group is one of their own.
        Standing::by_share(0, group.unwrap_or(own), own, oldest)
    }
}

fn used_by(state: &State, user: UserId, now: Time) -> u64 {
    let gpus = state.running_of(user).gpus;
    let used = state.used_by(user, now).micros;
    used.saturating_add(gpus.saturating_mul(AT_START))
}

fn ratio(over: u64, weight: Thousandths) -> Ratio {
    Ratio { over, under: u64::try_from(weight.0).unwrap_or(1).max(1) }
}
