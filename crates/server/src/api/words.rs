//! States and reasons in English words, for programs that show them as they are. Clients that speak
//! the person's own language go by the fields beside them.

use super::view::rfc3339;
use crate::language::Language;
use crate::reasons;
use danlu_core::WaitReason;
use danlu_core::task::Outcome;

pub(crate) fn waits(reason: &WaitReason) -> String {
    Language::English.within(|| reasons::reason(reason, rfc3339))
}

/// What is worth saying about an end beyond the name of the state.
pub(crate) fn ended(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Succeeded | Outcome::Cancelled { .. } | Outcome::TimedOut => None,
        Outcome::Failed { exit } => Some(exit.in_words()),
        Outcome::DependencyFailed { on } => Some(format!("task {on} did not end as needed")),
        Outcome::GaveUp { attempts } => {
            Some(format!("its machine went down in {attempts} attempts"))
        }
        Outcome::LaunchError { message } => Some(message.clone()),
    }
}
