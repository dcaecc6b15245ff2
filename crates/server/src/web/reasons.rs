//! Why a task waits, in the reader's language, with the names of who holds what.

use super::look::Look;
use super::moment::Moment;
use crate::model::ReadModel;
use danlu_core::explain::SharedGpu;
use danlu_core::quota::{Excess, Limit, Party};
use danlu_core::task::Doubt;
use danlu_core::{RunId, TaskId, Time, WaitReason};
use danlu_messages::web::reasons as msg;

/// Names of tasks in one sentence.
const MOST_NAMED: usize = 3;

/// As text, and the moment it is about, if there is one.
pub(super) fn reason(
    wait: &WaitReason,
    model: &ReadModel,
    look: &Look,
) -> (String, Option<Moment>) {
    let moment = |time: &Time| Some(Moment::new(*time, look.now));
    let text = match wait {
        WaitReason::Begins { at } => {
            return (msg::begins_at().to_owned(), moment(at));
        }
        WaitReason::RetryAt { at } => {
            let words = msg::failed_tried_again_at();
            return (words.to_owned(), moment(at));
        }
        WaitReason::Dependencies { on } => {
            let on = named(on);
            msg::after_on(&on)
        }
        WaitReason::Resources { held_by } if !held_by.is_empty() => holders(held_by, model),
        WaitReason::NamedResources { wanted, .. } => {
            let wanted: Vec<String> =
                wanted.iter().map(|(name, count)| format!("{count} {name}")).collect();
            let wanted = wanted.join(", ");
            msg::for_wanted(&wanted)
        }
        WaitReason::GpusUnavailable { .. } => gpus_unavailable(wait),
        WaitReason::GpusDisabled { gpu_ids } => {
            let gpus: Vec<String> = gpu_ids.iter().map(u32::to_string).collect();
            let gpus = gpus.join(", ");
            msg::gpu_gpus_is_given_to_nobody_now(&gpus)
        }
        WaitReason::ArrayLimit { at_once } => msg::at_once_of_its_array_at_a_time(&at_once),
        WaitReason::Behind { first } => msg::task_first_comes_first(&first),
        WaitReason::WouldDelay { first, .. } => msg::starting_it_now_might_delay_task_first(&first),
        WaitReason::TooFewNodes { wanted, with_room, .. } => {
            msg::for_wanted_machines_at_once_with_room_have(&wanted, &with_room)
        }
        WaitReason::NodesUnfit { trouble, .. } => {
            let detail = &trouble.detail;
            msg::the_machine_cannot_start_tasks_detail(&detail)
        }
        WaitReason::GpusOnSeveralNodes { gpus } => {
            let names = |it: &SharedGpu| it.names.join(msg::and());
            let shared: Vec<String> =
                gpus.iter().map(|it| format!("{} ({})", it.gpu, names(it))).collect();
            let shared = shared.join(", ");
            msg::for_gpus_that_several_machines_report_shared(&shared)
        }
        WaitReason::Quota(excess) => over_quota(excess),
        _ => plain(wait).to_owned(),
    };
    (text, None)
}

fn plain(wait: &WaitReason) -> &'static str {
    match wait {
        WaitReason::Held => msg::held_until_somebody_releases_it(),
        WaitReason::InDoubt { why: Doubt::Restored } => {
            msg::held_it_may_have_run_since_the_backup_that()
        }
        WaitReason::InDoubt { why: Doubt::NoRecord } => {
            msg::held_the_record_of_its_run_is_gone_it_may()
        }
        WaitReason::NoNodes => msg::there_is_no_machine_yet(),
        WaitReason::NeverFits => msg::no_machine_is_large_enough_any_more(),
        WaitReason::NodesUnavailable { .. } => msg::the_machines_that_could_run_it_are_away_or(),
        WaitReason::NodesShortOfMemory { .. } => msg::the_machines_have_too_little_memory_left(),
        WaitReason::Settling => msg::until_the_last_task_on_a_shared_gpu_has_its(),
        WaitReason::GpusBusy => msg::the_gpus_it_could_share_are_too_busy(),
        WaitReason::QueuePaused => msg::the_queue_is_paused(),
        WaitReason::Outranked => msg::others_come_first(),
        WaitReason::AboutToStart => msg::about_to_start(),
        _ => msg::for_room_on_a_machine(),
    }
}

/// `#412 (alice), #398 (bo) and 4 more`.
fn holders(runs: &[RunId], model: &ReadModel) -> String {
    let mut tasks: Vec<TaskId> =
        runs.iter().filter_map(|run| model.runs.get(run)).map(|run| run.task).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let name = |id: &TaskId| {
        let owner = model.tasks.get(id).and_then(|task| model.users.get(&task.owner));
        match owner {
            Some(owner) => msg::id_name(&id, &owner.name),
            None => format!("#{id}"),
        }
    };
    let names: Vec<String> = tasks.iter().take(MOST_NAMED).map(name).collect();
    let names = names.join(msg::comma());
    match tasks.len().saturating_sub(MOST_NAMED) {
        0 if tasks.len() == 1 => msg::until_names_ends(&names),
        0 => msg::until_one_of_names_ends(&names),
        more => {
            let all = tasks.len();
            msg::until_one_of_names_and_more_more_ends(&names, &more, &all)
        }
    }
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
        (dirty, msg::dirty_did_not_give_their_memory_back(&dirty)),
        (just_left, msg::just_left_only_just_left_by_others(&just_left)),
        (quarantined, msg::quarantined_with_hardware_errors(&quarantined)),
        (unknown_runs, msg::unknown_runs_used_by_runs_from_before_the(&unknown_runs)),
    ];
    let parts: Vec<String> =
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    let parts = parts.join(msg::comma_2());
    msg::for_gpus_parts(&parts)
}

fn over_quota(Excess { whose, limit, in_use, most }: &Excess) -> String {
    let whose = match whose {
        Party::User(name) => msg::name_s_quota(&name),
        Party::Project(name) => msg::project_name_s_quota(&name),
    };
    let what = match limit {
        Limit::RunningTasks => msg::tasks_run(),
        Limit::RunningGpus => msg::gpus_in_use(),
        Limit::QueuedTasks => msg::tasks_wait(),
        Limit::OpenTasks => msg::tasks_have_not_ended(),
        Limit::GpuHours => msg::gpu_hours_used(),
    };
    msg::whose_in_use_of_most_what(&whose, &in_use, &most, &what)
}

fn named(ids: &[TaskId]) -> String {
    let shown: Vec<String> = ids.iter().take(MOST_NAMED).map(|id| format!("#{id}")).collect();
    let more = if ids.len() > MOST_NAMED { " …" } else { "" };
    shown.join(", ") + more
}
