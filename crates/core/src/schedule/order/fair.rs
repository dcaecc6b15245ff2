//! `fair`: groups, then users, take turns; those with the least recent GPU time relative to their weight go first.

use crate::model::ids::{TaskId, UserId};
use crate::model::number::thousandths::Thousandths;
use crate::model::time::Time;
use crate::model::user::User;
use crate::schedule::turn::key::{Ratio, TurnKey};
use crate::state::State;
use std::collections::BTreeMap;

/// A GPU counts as used for this long from its allocation, so that one pass does not give all GPUs to one user. In
/// millionths of a second.
const AT_START: u64 = 60_000_000;

/// What users and groups have used at the time of a pass, and what the pass has given them since.
#[derive(Debug)]
pub(crate) struct Used<'a> {
    state: &'a State,
    now: Time,
    users: BTreeMap<UserId, i64>,
    groups: BTreeMap<&'a str, i64>,
}

impl<'a> Used<'a> {
    pub(crate) fn at(state: &'a State, now: Time) -> Used<'a> {
        Used { state, now, users: BTreeMap::new(), groups: BTreeMap::new() }
    }

    /// So many GPUs more, or fewer, are assumed to be in use.
    pub(crate) fn assume(&mut self, user: &'a User, gpus: i64) {
        *self.users.entry(user.id).or_default() += gpus;
        if let Some(group) = user.group.as_deref() {
            *self.groups.entry(group).or_default() += gpus;
        }
    }

    pub(crate) fn turn_key(&self, user: &User, oldest: TaskId) -> TurnKey {
        let assumed = self.users.get(&user.id).copied();
        let own = used_by(self.state, user.id, self.now);
        let own = ratio(with_assumed(own, assumed), user.weight);
        let group = user.group.as_deref().map(|group| {
            let weight = self.state.settings().fair.groups.get(group).copied();
            let used = used_by_group(self.state, group, self.now);
            let used = with_assumed(used, self.groups.get(group).copied());
            ratio(used, weight.unwrap_or(Thousandths::ONE))
        });
        // A user without a group forms a group of one.
        TurnKey::by_share(0, group.unwrap_or(own), own, oldest)
    }
}

fn used_by(state: &State, user: UserId, now: Time) -> u64 {
    let gpus = state.running_of(user).gpus;
    let used = state.used_by(user, now).micros;
    used.saturating_add(gpus.saturating_mul(AT_START))
}

fn used_by_group(state: &State, group: &str, now: Time) -> u64 {
    let Some(account) = state.index.fair_turns.account(group) else { return 0 };
    let used = account.used(now, state.settings().fair.half_life);
    used.saturating_add(account.gpus.saturating_mul(AT_START))
}

fn with_assumed(used: u64, gpus: Option<i64>) -> u64 {
    used.saturating_add_signed(gpus.unwrap_or(0).saturating_mul(AT_START.cast_signed()))
}

fn ratio(over: u64, weight: Thousandths) -> Ratio {
    Ratio { over, under: u64::try_from(weight.0).unwrap_or(1).max(1) }
}
