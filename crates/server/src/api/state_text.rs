//! Wait reasons and outcomes as text, for programs that show them unchanged.

use super::view::rfc3339;
use danlu_core::WaitReason;
use danlu_core::task::{Canceller, Outcome};
use danlu_messages::{errors, reasons};

pub(crate) fn waits(reason: &WaitReason) -> String {
    reasons::reason(reason, rfc3339)
}

/// What is worth saying about an end beyond the name of the state.
pub(crate) fn ended(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Cancelled { by: Canceller::IdleRule } => Some(danlu_messages::ends::idle().into()),
        Outcome::Succeeded
        | Outcome::Cancelled { by: Canceller::User(_) | Canceller::Daemon }
        | Outcome::TimedOut => None,
        Outcome::Failed { exit } => Some(danlu_messages::ends::exit(exit)),
        Outcome::DependencyFailed { on } => Some(errors::dependency_failed(on)),
        Outcome::GaveUp { attempts } => Some(errors::gave_up(attempts)),
        Outcome::LaunchError { message } => Some(message.clone()),
    }
}
