//! Answers from a state of the core what rows alone do not tell: why a task waits, when it is expected to start.
//!
//! The state follows the read model: each reader applies the changes since the last one, without asking the engine.

use super::{ReadModel, Reader};
use danlu_core::State;
use danlu_core::state::Changes;
use danlu_engine::guarded;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;
use std::sync::{Arc, Mutex, PoisonError};
use tracing::error;

#[derive(Debug, Default)]
pub(super) struct Follower(Mutex<Option<Followed>>);

#[derive(Debug)]
struct Followed {
    model: Arc<ReadModel>,
    state: State,
}

impl Reader {
    /// As of the last commit. `None` only where a bug of ours makes it panic.
    pub(crate) fn consider<T>(&self, question: impl Fn(&State) -> T) -> Option<T> {
        let mut followed = self.follower.0.lock().unwrap_or_else(PoisonError::into_inner);
        // If it panics on what was followed, it may not on a new one.
        for _ in 0..2 {
            let before = followed.take();
            let asked = guarded(|| {
                let now = catch_up(before, self.model());
                let answer = question(&now.state);
                (now, answer)
            });
            match asked {
                Ok((now, answer)) => {
                    *followed = Some(now);
                    return Some(answer);
                }
                Err(panic) => {
                    error!(panic.message, panic.place, "internal error, please report it");
                }
            }
        }
        None
    }
}

fn catch_up(followed: Option<Followed>, model: Arc<ReadModel>) -> Followed {
    if let Some(mut followed) = followed
        && (Arc::ptr_eq(&followed.model, &model)
            || followed.state.follow(&difference(&followed.model, &model)))
    {
        followed.model = model;
        return followed;
    }
    let state = State::following(&difference(&ReadModel::default(), &model));
    Followed { model, state }
}

fn difference<'a>(old: &'a ReadModel, new: &'a ReadModel) -> Changes<'a> {
    let mut changes = Changes { ledger: Some(&new.ledger), ..Changes::default() };
    each(&old.users, &new.users, |id, _, user| {
        changes.users.push((*id, user.map(Arc::as_ref)));
    });
    each(&old.nodes, &new.nodes, |id, _, node| {
        changes.nodes.push((*id, node.map(Arc::as_ref)));
    });
    each(&old.tasks, &new.tasks, |id, old, task| changes.tasks.push((*id, old, task)));
    each(&old.runs, &new.runs, |id, _, run| changes.runs.push((*id, run)));
    for item in old.past_work.diff(&new.past_work) {
        changes.past_work.push(match item {
            DiffItem::Add(user, past) | DiffItem::Update { new: (user, past), .. } => {
                (*user, Some(past))
            }
            DiffItem::Remove(user, _) => (*user, None),
        });
    }
    changes
}

/// With the value before and after, in the order of the keys.
fn each<'a, K: Ord, V: Eq>(
    old: &'a OrdMap<K, Arc<V>>,
    new: &'a OrdMap<K, Arc<V>>,
    mut change: impl FnMut(&K, Option<&'a Arc<V>>, Option<&'a Arc<V>>),
) {
    for item in old.diff(new) {
        match item {
            DiffItem::Add(key, value) => change(key, None, Some(value)),
            DiffItem::Update { old: (_, old), new: (key, new) } => {
                change(key, Some(old), Some(new));
            }
            DiffItem::Remove(key, value) => change(key, Some(value), None),
        }
    }
}
