//! Why a task waits, in a few words.

use super::ids;
use super::words as msg;
use danlu_core::explain::SharedGpu;
use danlu_core::quota::{Excess, Limit, Party};
use danlu_core::task::Doubt;
use danlu_core::{TaskId, Time, WaitReason};

/// `at` writes a moment as the reader expects it.
pub fn reason(wait: &WaitReason, at: impl Fn(Time) -> String) -> String {
    match wait {
        WaitReason::Held => msg::held_danlu_release_id_lets_it_go(),
        WaitReason::NoNodes => msg::no_machine_yet(),
        WaitReason::NeverFits => msg::no_machine_is_large_enough_any_more(),
        WaitReason::NodesUnavailable { .. } => msg::machines_unavailable(),
        WaitReason::QueuePaused => msg::queue_is_paused(),
        WaitReason::Outranked => msg::others_come_first(),
        WaitReason::AboutToStart => msg::about_to_start(),
        WaitReason::Resources { held_by } if held_by.is_empty() => msg::for_room_on_a_machine(),
        WaitReason::Begins { at: time } => {
            let at = at(*time);
            return msg::begins_at_at(&at);
        }
        WaitReason::RetryAt { at: time } => {
            let at = at(*time);
            return msg::failed_retry_at(&at);
        }
        WaitReason::Dependencies { on } => {
            let on = ids(on);
            return msg::after_on(&on);
        }
        WaitReason::GpusUnavailable { .. } => return gpus_unavailable(wait),
        WaitReason::GpusDisabled { gpu_ids } => {
            let gpus: Vec<String> = gpu_ids.iter().map(u32::to_string).collect();
            let gpus = gpus.join(",");
            return msg::gpu_gpus_is_disabled(&gpus);
        }
        WaitReason::NodesShortOfMemory { .. } => msg::too_little_memory(),
        WaitReason::Settling => msg::memory_settling(),
        WaitReason::GpusBusy => msg::shared_gpus_busy(),
        WaitReason::Resources { held_by } if held_by.len() == 1 => msg::until_a_running_task_ends(),
        WaitReason::Resources { held_by } => {
            let count = held_by.len();
            return msg::until_some_end(&count);
        }
        WaitReason::TooFewNodes { wanted, with_room, .. } => {
            return msg::too_few_machines(&wanted, &with_room);
        }
        WaitReason::NamedResources { wanted, held_by } => {
            let wanted = wanted.iter().map(|(name, count)| format!("{count} {name}"));
            let wanted: Vec<String> = wanted.collect();
            let wanted = wanted.join(msg::comma());
            return match held_by.is_empty() {
                true => msg::no_machine_has_wanted(&wanted),
                false => msg::for_wanted(&wanted),
            };
        }
        WaitReason::ArrayLimit { at_once } => {
            return msg::at_once_of_its_array_at_a_time(&at_once);
        }
        WaitReason::Behind { first } => {
            return msg::task_first_comes_first(&first);
        }
        WaitReason::Quota(excess) => return over_quota(excess),
        WaitReason::InDoubt { why: Doubt::Restored } => msg::held_restored(),
        WaitReason::InDoubt { why: Doubt::NoRecord } => msg::held_no_record(),
        WaitReason::NodesUnfit { trouble, .. } => {
            let detail = &trouble.detail;
            return msg::machine_unfit(&detail);
        }
        WaitReason::GpusOnSeveralNodes { gpus } => {
            let names = |it: &SharedGpu| it.names.join(msg::and());
            let shared = gpus.iter().map(|it| format!("{} ({})", it.gpu, names(it)));
            let shared = shared.collect::<Vec<_>>().join(", ");
            return msg::gpus_reported_twice(&shared);
        }
        WaitReason::WouldDelay { first, starts_at } => {
            return would_delay(*first, starts_at.map(at));
        }
    }
    .to_owned()
}

fn gpus_unavailable(wait: &WaitReason) -> String {
    let &WaitReason::GpusUnavailable {
        foreign,
        unknown,
        dirty,
        just_left,
        quarantined,
        unknown_runs,
    } = wait
    else {
        return String::new();
    };
    let counted = [
        (foreign, msg::foreign_used_outside_danlu(&foreign)),
        (unknown, msg::unknown_cannot_be_probed(&unknown)),
        (dirty, msg::dirty_gpus(&dirty)),
        (just_left, msg::just_left_only_just_left_by_others(&just_left)),
        (quarantined, msg::quarantined_with_hardware_errors(&quarantined)),
        (unknown_runs, msg::unknown_run_gpus(&unknown_runs)),
    ];
    let parts: Vec<String> =
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    let parts = parts.join(msg::fullwidth_comma());
    msg::for_gpus_parts(&parts)
}

pub(crate) fn over_quota(Excess { whose, limit, in_use, most }: &Excess) -> String {
    let whose = match whose {
        Party::User(name) => msg::whose_user(name),
        Party::Project(name) => msg::whose_project(name),
    };
    match limit {
        Limit::RunningTasks => msg::quota_of_running_tasks(&whose, in_use, most),
        Limit::RunningGpus => msg::quota_of_running_gpus(&whose, in_use, most),
        Limit::QueuedTasks => msg::quota_of_waiting_tasks(&whose, in_use, most),
        Limit::OpenTasks => msg::quota_of_open_tasks(&whose, in_use, most),
        Limit::GpuHours => msg::quota_of_gpu_hours(&whose, in_use, most),
    }
}

fn would_delay(first: TaskId, starts_at: Option<String>) -> String {
    match starts_at {
        Some(at) => msg::would_delay_at(&first, &at),
        None => msg::would_delay_task_first(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::{RunId, ids::Epoch};

    #[test]
    fn every_reason_has_short_words() {
        let run = RunId { epoch: Epoch(1), number: 1 };
        let check = |wait: WaitReason, expect: &str| {
            assert_eq!(reason(&wait, |_| "noon".to_owned()), expect);
        };
        check(WaitReason::Dependencies { on: vec![TaskId(3), TaskId(4), TaskId(5)] }, "after 3-5");
        check(WaitReason::Resources { held_by: vec![run] }, "for a running task to end");
        check(
            WaitReason::Resources { held_by: vec![run, run] },
            "for some of 2 running tasks to end",
        );
        check(
            WaitReason::GpusUnavailable {
                foreign: 2,
                unknown: 0,
                dirty: 1,
                just_left: 0,
                quarantined: 0,
                unknown_runs: 0,
            },
            "for GPUs: 2 used outside Danlu, 1 with memory not freed",
        );
        check(WaitReason::GpusDisabled { gpu_ids: vec![1, 2] }, "GPU 1,2 is disabled");
        let wanted = std::collections::BTreeMap::from([("licence".to_owned(), 2)]);
        check(WaitReason::NamedResources { wanted, held_by: vec![run] }, "for 2 licence");
        check(WaitReason::WouldDelay { first: TaskId(7), starts_at: None }, "would delay task 7");
        check(
            WaitReason::TooFewNodes { wanted: 3, with_room: 2, held_by: vec![run] },
            "for 3 machines at once: 2 have room now",
        );
        let whose = Party::Project("llm".into());
        let excess = Excess { whose, limit: Limit::RunningGpus, in_use: 7, most: 8 };
        check(WaitReason::Quota(excess), "project llm's quota: 7 of 8 GPUs in use");
    }
}
