//! `Schedule`: get a plan from the policy, verify it, carry it out; ended tasks leave the state. `Start`: an administrator starts one task.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::TaskId;
use crate::model::time::{Span, Time};
use crate::schedule;
use crate::schedule::plan::{self, Plan};
use crate::schedule::view::View;
use crate::state::State;
use crate::step::event::Event;
use crate::step::gpus;
use crate::step::growth;
use crate::step::input::Actor;
use crate::step::lost;
use crate::step::permission::require_admin;
use crate::step::refusal::{Refusal, TaskAct};
use crate::step::retire;
use crate::step::tasks::wrong_state;
use crate::step::{Answer, Reply, Turn};
use std::collections::BTreeSet;

pub(crate) fn schedule(turn: &mut Turn<'_>) -> Answer {
    growth::grow(turn);
    lost::declare_gone(turn);
    wake(turn);
    gpus::ripen(turn);
    if !turn.state.settings().queue_paused || mutated(Mutant::PauseIgnored) {
        let plan = schedule::plan(turn.state, turn.now);
        plan::apply(turn, plan);
    }
    retire::retire(turn);
    Ok(Reply::Done)
}

/// Tasks whose time has come join the queue.
fn wake(turn: &mut Turn<'_>) {
    for id in due(turn.state, turn.now) {
        turn.state.change_task(id, |task| task.trail_mut().not_before = None);
        turn.event(Event::TaskDue { task: id });
    }
}

/// After the clock was set back to before a failure, the time since then is unknown: a retry does not wait for it.
fn due(state: &State, now: Time) -> BTreeSet<TaskId> {
    let of_their_time = state.index.later.range(..=(now, TaskId(u64::MAX)));
    let set_back = state.index.retried.range((now + Span(1), TaskId(0))..);
    of_their_time.chain(set_back).map(|(_, id)| *id).collect()
}

/// An admin starts a queued task now. Order does not count; what others hold does.
pub(crate) fn start(turn: &mut Turn<'_>, by: Actor, id: TaskId) -> Answer {
    let task = turn.state.tasks.get(&id).ok_or(Refusal::NoSuchTask(id))?;
    require_admin(turn.state, by)?;
    if !task.is_queued() {
        return Err(wrong_state(task, TaskAct::Start));
    }
    let placement = View::new(turn.state, turn.now).place_by_force(&task.spec.request);
    let mut plan = Plan { ignores_quotas: true, by_force: true, ..Plan::default() };
    plan.start(id, placement.ok_or(Refusal::NoRoom(id))?);
    plan::apply(turn, plan);
    Ok(Reply::Done)
}
