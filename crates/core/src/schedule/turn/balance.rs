//! The users with queued tasks in the order of their turns, for orders in which time alone changes nothing.

use crate::model::ids::UserId;
use crate::schedule::TurnKey;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct BalanceTurns {
    order: BTreeSet<(TurnKey, UserId)>,
    filed: BTreeMap<UserId, TurnKey>,
}

impl BalanceTurns {
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (TurnKey, UserId)> {
        self.order.iter().copied()
    }

    /// `None`: the user has no queued task.
    pub(crate) fn file(&mut self, user: UserId, turn_key: Option<TurnKey>) {
        if self.filed.get(&user) == turn_key.as_ref() {
            return;
        }
        let before = match turn_key {
            Some(turn_key) => {
                self.order.insert((turn_key, user));
                self.filed.insert(user, turn_key)
            }
            None => self.filed.remove(&user),
        };
        if let Some(before) = before {
            self.order.remove(&(before, user));
        }
    }
}
