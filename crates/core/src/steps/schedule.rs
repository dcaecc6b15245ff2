//! Decide what starts: ask the policy, check what it says, do it.

use crate::plan;
use crate::policy;
use crate::step::{Answer, Reply, Turn};

pub(crate) fn schedule(turn: &mut Turn<'_>) -> Answer {
    let plan = policy::plan(turn.state, turn.now);
    plan::apply(turn, plan);
    Ok(Reply::Done)
}
