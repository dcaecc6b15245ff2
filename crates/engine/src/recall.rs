//! Brings ended tasks back from the store before an input that names them is decided.

use crate::outside::Outside;
use crate::pending::Outcome;
use danlu_core::state::Retired;
use danlu_core::{Input, Missing, Mutant, RowKey, State, TaskId, UserId, mutated};
use std::collections::BTreeSet;

impl<X> Outcome<X> {
    /// Recalls what the input names and the store has. What neither has stays missing: the core refuses the input then,
    /// or goes on without it. May be repeated from the last commit on.
    pub(crate) fn recall_for<O: Outside>(
        &mut self,
        input: &Input,
        state: &mut State,
        outside: &mut O,
    ) -> Result<(), O::Error> {
        let mut looked_for = BTreeSet::new();
        loop {
            let missing = input.missing(state).into_iter();
            let missing: Vec<Missing> = missing.filter(|it| !looked_for.contains(it)).collect();
            if missing.is_empty() {
                return Ok(());
            }
            for it in missing {
                if let Some(retired) = self.look_for(&it, outside)? {
                    self.recall(retired, state, outside);
                }
                looked_for.insert(it);
            }
        }
    }

    fn recall<O: Outside>(&mut self, retired: Retired, state: &mut State, outside: &mut O) {
        let id = retired.task.id;
        let input = Input::Recall(Box::new(retired));
        // A refusal means that it is not missing any more, or no use to the core.
        if self.decide(state, outside, None, input).is_ok() {
            self.retired.remove(&id);
        }
    }

    fn look_for<O: Outside>(
        &self,
        missing: &Missing,
        outside: &mut O,
    ) -> Result<Option<Retired>, O::Error> {
        match missing {
            Missing::Task(id) => self.retired_task(*id, outside),
            Missing::Key(user, key) => match self.retired_with_key(*user, key, outside)? {
                Some(id) => self.retired_task(id, outside),
                None => Ok(None),
            },
        }
    }

    fn retired_task<O: Outside>(
        &self,
        id: TaskId,
        outside: &mut O,
    ) -> Result<Option<Retired>, O::Error> {
        match self.retired.get(&id) {
            Some(retired) => Ok(Some(retired.clone())),
            // It was removed, and the store does not know yet.
            None if self.changed.contains(&RowKey::Task(id))
                && !mutated(Mutant::RemovedIsFound) =>
            {
                Ok(None)
            }
            None => outside.retired(id),
        }
    }

    fn retired_with_key<O: Outside>(
        &self,
        user: UserId,
        key: &str,
        outside: &mut O,
    ) -> Result<Option<TaskId>, O::Error> {
        let it = |it: &&Retired| it.task.owner == user && it.task.key.as_deref() == Some(key);
        match self.retired.values().find(it) {
            Some(retired) => Ok(Some(retired.task.id)),
            None => outside.retired_with_key(user, key),
        }
    }
}
