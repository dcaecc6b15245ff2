//! States and reasons in English words, for programs that show them as they are. Clients that speak
//! the person's own language go by the fields beside them.

use super::view::rfc3339;
use danlu_core::explain::SharedGpu;
use danlu_core::task::{Doubt, Outcome};
use danlu_core::{RunId, TaskId, WaitReason};

pub(crate) fn waits(reason: &WaitReason) -> String {
    match reason {
        WaitReason::Held => "held until somebody releases it".to_owned(),
        WaitReason::InDoubt { why: Doubt::Restored } => {
            "held: it may have run since the backup that was restored".to_owned()
        }
        WaitReason::InDoubt { why: Doubt::NoRecord } => {
            "held: the record of its run is gone, it may have ended".to_owned()
        }
        WaitReason::NodesUnfit { trouble, .. } => {
            format!("the node cannot start tasks: {}", trouble.detail)
        }
        WaitReason::GpusOnSeveralNodes { gpus } => {
            let shared = |it: &SharedGpu| format!("{} on {}", it.gpu, it.names.join(" and "));
            format!("for GPUs that several nodes report: {}", list(gpus.iter().map(shared)))
        }
        WaitReason::Dependencies { on } => {
            format!("after {}", list(on.iter().map(TaskId::to_string)))
        }
        WaitReason::Begins { at } => format!("begins at {}", rfc3339(*at)),
        WaitReason::RetryAt { at } => format!("failed; tried again at {}", rfc3339(*at)),
        WaitReason::NoNodes => "there is no node yet".to_owned(),
        WaitReason::NeverFits => "no node is large enough any more".to_owned(),
        WaitReason::NodesUnavailable { .. } => {
            "the nodes that could run it are away, draining or not yet verified".to_owned()
        }
        WaitReason::GpusUnavailable {
            foreign,
            unknown,
            dirty,
            just_left,
            quarantined,
            unknown_runs,
        } => {
            let counts = [
                (foreign, "used outside Danlu"),
                (unknown, "cannot be probed"),
                (dirty, "hold memory of ended tasks"),
                (just_left, "were used outside Danlu a moment ago"),
                (quarantined, "have hardware errors"),
                (unknown_runs, "used by runs from before the database was lost or restored"),
            ];
            let counts = counts.iter().filter(|(count, _)| **count > 0);
            format!("for GPUs: {}", list(counts.map(|(count, what)| format!("{count} {what}"))))
        }
        WaitReason::GpusDisabled { gpu_ids } => {
            format!("GPU {} is not given out", list(gpu_ids.iter().map(u32::to_string)))
        }
        WaitReason::NodesShortOfMemory { .. } => {
            "the nodes that could run it have too little memory left".to_owned()
        }
        WaitReason::Settling => {
            "until the task that started last on a shared GPU has its memory".to_owned()
        }
        WaitReason::GpusBusy => "the GPUs it could share are too busy".to_owned(),
        WaitReason::Resources { held_by } if held_by.is_empty() => {
            "for room on a machine".to_owned()
        }
        WaitReason::Resources { held_by } => {
            format!("for runs {} to end", list(held_by.iter().map(RunId::to_string)))
        }
        WaitReason::TooFewNodes { wanted, with_room, .. } => {
            format!("for {wanted} nodes at once: {with_room} have room now")
        }
        WaitReason::NamedResources { wanted, held_by } => {
            let wanted = list(wanted.iter().map(|(name, count)| format!("{count} {name}")));
            match held_by.is_empty() {
                true => format!("for {wanted}: no node has as many"),
                false => format!("for {wanted}"),
            }
        }
        WaitReason::QueuePaused => "the queue is paused".to_owned(),
        WaitReason::ArrayLimit { at_once } => format!("{at_once} of its array at a time"),
        WaitReason::Behind { first } => format!("task {first} comes first"),
        WaitReason::WouldDelay { first, .. } => format!("it might delay task {first}"),
        WaitReason::Quota(excess) => format!("over quota: {excess}"),
        WaitReason::Outranked => "others come first".to_owned(),
        WaitReason::AboutToStart => "about to start".to_owned(),
    }
}

/// What is worth saying about an end beyond the name of the state.
pub(crate) fn ended(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Succeeded | Outcome::Cancelled { .. } | Outcome::TimedOut => None,
        Outcome::Failed { exit } => Some(danlu_messages::ends::exit(exit)),
        Outcome::DependencyFailed { on } => Some(format!("task {on} did not end as needed")),
        Outcome::GaveUp { attempts } => {
            Some(format!("its machine went down in {attempts} attempts"))
        }
        Outcome::LaunchError { message } => Some(message.clone()),
    }
}

fn list(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}
