//! Who may do what.

use crate::ids::TaskId;
use crate::input::Actor;
use crate::refusal::Refusal;
use crate::state::State;
use crate::task::{Canceller, Task};

pub(crate) fn require_admin(state: &State, by: Actor) -> Result<(), Refusal> {
    match by {
        Actor::Daemon => Ok(()),
        Actor::User(id) => match state.users.get(&id) {
            None => Err(Refusal::NoSuchUser),
            Some(user) if user.admin => Ok(()),
            Some(_) => Err(Refusal::AdminOnly),
        },
    }
}

/// The task, if `by` owns it or is an admin.
pub(crate) fn own_task(state: &State, by: Actor, id: TaskId) -> Result<&Task, Refusal> {
    let task = state.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    let owner = matches!(by, Actor::User(user) if user == task.owner);
    if owner || require_admin(state, by).is_ok() { Ok(task) } else { Err(Refusal::NotPermitted) }
}

pub(crate) fn canceller(by: Actor) -> Canceller {
    match by {
        Actor::User(id) => Canceller::User(id),
        Actor::Daemon => Canceller::Daemon,
    }
}
