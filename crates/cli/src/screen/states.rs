//! Colours of states. The state is always written out too.

pub(crate) use danlu_messages::states::{gpu, node, part, run, task as word};
use danlu_wire::api::TaskStateName;

use super::colour::Colour;

pub(crate) fn colour(state: TaskStateName) -> Option<Colour> {
    match state {
        TaskStateName::Starting | TaskStateName::Running => Some(Colour::Green),
        TaskStateName::Blocked | TaskStateName::Queued => None,
        TaskStateName::Held | TaskStateName::Succeeded | TaskStateName::Cancelled => {
            Some(Colour::Dim)
        }
        TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Unknown => Some(Colour::Yellow),
        TaskStateName::Failed | TaskStateName::TimedOut => Some(Colour::Red),
    }
}
