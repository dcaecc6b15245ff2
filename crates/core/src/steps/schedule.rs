//! Decide what starts: ask the policy, check what it says, do it.

use crate::ids::TaskId;
use crate::input::Actor;
use crate::plan::{self, Plan};
use crate::policy;
use crate::refusal::Refusal;
use crate::step::{Answer, Reply, Turn};
use crate::steps::permission::require_admin;
use crate::steps::tasks::wrong_state;
use crate::view::View;

pub(crate) fn schedule(turn: &mut Turn<'_>) -> Answer {
    let plan = policy::plan(turn.state, turn.now);
    plan::apply(turn, plan);
    Ok(Reply::Done)
}

/// An admin starts a queued task now. Order does not count; what others hold does.
pub(crate) fn start(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = turn.state.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    require_admin(turn.state, by)?;
    if !task.is_queued() {
        return Err(wrong_state(task, "queued", "started"));
    }
    let placement = View::new(turn.state, turn.now).place(&task.spec.request);
    let mut plan = Plan::default();
    plan.start(id, placement.ok_or(Refusal::NoRoom(id))?);
    plan::apply(turn, plan);
    Ok(Reply::Done)
}
