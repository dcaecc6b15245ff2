//! Permissions: administrators and owners.

use crate::model::ids::TaskId;
use crate::model::task::{Canceller, Task};
use crate::model::user::User;
use crate::state::State;
use crate::step::input::Actor;
use crate::step::refusal::Refusal;

pub(crate) fn require_admin(state: &State, by: Actor) -> Result<(), Refusal> {
    match by {
        Actor::Daemon => Ok(()),
        Actor::Limited(_) => Err(Refusal::AdminOnly),
        Actor::User(id) => match state.users.get(&id) {
            None => Err(Refusal::NoSuchUser),
            Some(user) if !user.is_active() => Err(Refusal::Locked),
            Some(user) if user.admin => Ok(()),
            Some(_) => Err(Refusal::AdminOnly),
        },
    }
}

/// The task, if `by` owns it or is an admin.
pub(crate) fn own_task(state: &State, by: Actor, id: TaskId) -> Result<&Task, Refusal> {
    let task = state.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    let active = state.users.get(&task.owner).is_some_and(User::is_active);
    let owner = active && by.person() == Some(task.owner);
    if owner || require_admin(state, by).is_ok() { Ok(task) } else { Err(Refusal::NotPermitted) }
}

pub(crate) fn canceller(by: Actor) -> Canceller {
    match by {
        Actor::User(id) | Actor::Limited(id) => Canceller::User(id),
        Actor::Daemon => Canceller::Daemon,
    }
}
