//! The users with queued tasks in the order of their turns, where time alone does not change whose turn it is.

use crate::model::ids::UserId;
use crate::schedule::Standing;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Turns {
    order: BTreeSet<(Standing, UserId)>,
    filed: BTreeMap<UserId, Standing>,
}

impl Turns {
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (Standing, UserId)> {
        self.order.iter().copied()
    }

    /// `None`: there is nothing to take a turn with.
    pub(crate) fn file(&mut self, user: UserId, standing: Option<Standing>) {
        if self.filed.get(&user) == standing.as_ref() {
            return;
        }
        let before = match standing {
            Some(standing) => {
                self.order.insert((standing, user));
                self.filed.insert(user, standing)
            }
            None => self.filed.remove(&user),
        };
        if let Some(before) = before {
            self.order.remove(&(before, user));
        }
    }
}
