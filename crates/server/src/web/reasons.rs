//! Why a task waits, in the reader's language, with the names of who holds what.

use super::language::{Language, tell};
use super::look::Look;
use super::moment::Moment;
use crate::model::ReadModel;
use danlu_core::explain::SharedGpu;
use danlu_core::quota::{Excess, Limit, Party};
use danlu_core::task::Doubt;
use danlu_core::{RunId, TaskId, Time, WaitReason};

/// Names of tasks in one sentence.
const MOST_NAMED: usize = 3;

/// As text, and the moment it is about, if there is one.
pub(super) fn reason(
    wait: &WaitReason,
    model: &ReadModel,
    look: &Look,
) -> (String, Option<Moment>) {
    let language = look.language;
    let moment = |time: &Time| Some(Moment::new(*time, look.now));
    let text = match wait {
        WaitReason::Begins { at } => {
            return (language.say("begins at", "开始时间：").to_owned(), moment(at));
        }
        WaitReason::RetryAt { at } => {
            let words = language.say("failed; tried again at", "失败，重试时间：");
            return (words.to_owned(), moment(at));
        }
        WaitReason::Dependencies { on } => {
            let on = named(on);
            tell!(language, "after {on}", "等待任务 {on}")
        }
        WaitReason::Resources { held_by } if !held_by.is_empty() => {
            holders(held_by, model, language)
        }
        WaitReason::NamedResources { wanted, .. } => {
            let wanted: Vec<String> =
                wanted.iter().map(|(name, count)| format!("{count} {name}")).collect();
            let wanted = wanted.join(", ");
            tell!(language, "for {wanted}", "等待资源：{wanted}")
        }
        WaitReason::GpusUnavailable { .. } => gpus_unavailable(wait, language),
        WaitReason::GpusDisabled { gpu_ids } => {
            let gpus: Vec<String> = gpu_ids.iter().map(u32::to_string).collect();
            let gpus = gpus.join(", ");
            tell!(language, "GPU {gpus} is given to nobody now", "GPU {gpus} 当前不分配")
        }
        WaitReason::ArrayLimit { at_once } => {
            tell!(language, "{at_once} of its array at a time", "数组最多同时运行 {at_once} 个")
        }
        WaitReason::Behind { first } => {
            tell!(language, "task #{first} comes first", "任务 #{first} 优先")
        }
        WaitReason::WouldDelay { first, .. } => {
            tell!(
                language,
                "starting it now might delay task #{first}",
                "现在开始可能推迟任务 #{first}"
            )
        }
        WaitReason::TooFewNodes { wanted, with_room, .. } => {
            tell!(
                language,
                "for {wanted} machines at once: {with_room} have room now",
                "等待 {wanted} 台机器同时有空位：现有 {with_room} 台"
            )
        }
        WaitReason::NodesUnfit { trouble, .. } => {
            let detail = &trouble.detail;
            tell!(
                language,
                "the machine cannot start tasks: {detail}",
                "机器无法启动任务：{detail}"
            )
        }
        WaitReason::GpusOnSeveralNodes { gpus } => {
            let names = |it: &SharedGpu| it.names.join(language.say(" and ", " 和 "));
            let shared: Vec<String> =
                gpus.iter().map(|it| format!("{} ({})", it.gpu, names(it))).collect();
            let shared = shared.join(", ");
            tell!(
                language,
                "for GPUs that several machines report: {shared}",
                "多台机器报告了同一块 GPU：{shared}"
            )
        }
        WaitReason::Quota(excess) => over_quota(excess, language),
        _ => plain(wait, language).to_owned(),
    };
    (text, None)
}

fn plain(wait: &WaitReason, language: Language) -> &'static str {
    match wait {
        WaitReason::Held => language.say("held until somebody releases it", "被扣住，等待放行"),
        WaitReason::InDoubt { why: Doubt::Restored } => language.say(
            "held: it may have run since the backup that was restored",
            "被扣住：自所恢复的备份以来它可能已运行过",
        ),
        WaitReason::InDoubt { why: Doubt::NoRecord } => language.say(
            "held: the record of its run is gone, it may have ended",
            "被扣住：运行记录已丢失，它可能已经结束",
        ),
        WaitReason::NoNodes => language.say("there is no machine yet", "还没有机器"),
        WaitReason::NeverFits => {
            language.say("no machine is large enough any more", "已没有足够大的机器")
        }
        WaitReason::NodesUnavailable { .. } => language
            .say("the machines that could run it are away or draining", "能运行它的机器暂时不可用"),
        WaitReason::NodesShortOfMemory { .. } => {
            language.say("the machines have too little memory left", "机器剩余内存过少")
        }
        WaitReason::Settling => language.say(
            "until the last task on a shared GPU has its memory",
            "等待共享 GPU 上最近的任务显存稳定",
        ),
        WaitReason::GpusBusy => {
            language.say("the GPUs it could share are too busy", "可共享的 GPU 过于繁忙")
        }
        WaitReason::QueuePaused => language.say("the queue is paused", "队列已暂停"),
        WaitReason::Outranked => language.say("others come first", "其他任务优先"),
        WaitReason::AboutToStart => language.say("about to start", "即将开始"),
        _ => language.say("for room on a machine", "等待机器有空位"),
    }
}

/// `#412 (alice), #398 (bo) and 4 more`.
fn holders(runs: &[RunId], model: &ReadModel, language: Language) -> String {
    let mut tasks: Vec<TaskId> =
        runs.iter().filter_map(|run| model.runs.get(run)).map(|run| run.task).collect();
    tasks.sort_unstable();
    tasks.dedup();
    let name = |id: &TaskId| {
        let owner = model.tasks.get(id).and_then(|task| model.users.get(&task.owner));
        match owner {
            Some(owner) => tell!(language, "#{id} ({0})", "#{id}（{0}）", owner.name),
            None => format!("#{id}"),
        }
    };
    let names: Vec<String> = tasks.iter().take(MOST_NAMED).map(name).collect();
    let names = names.join(language.say(", ", "、"));
    match tasks.len().saturating_sub(MOST_NAMED) {
        0 if tasks.len() == 1 => tell!(language, "until {names} ends", "等待 {names} 结束"),
        0 => tell!(language, "until one of {names} ends", "等待 {names} 之一结束"),
        more => {
            let all = tasks.len();
            tell!(
                language,
                "until one of {names} and {more} more ends",
                "等待 {names} 等 {all} 个任务之一结束",
            )
        }
    }
}

fn gpus_unavailable(wait: &WaitReason, language: Language) -> String {
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
        (foreign, tell!(language, "{foreign} used outside Danlu", "{foreign} 块被外部进程占用")),
        (unknown, tell!(language, "{unknown} cannot be probed", "{unknown} 块无法探测")),
        (dirty, tell!(language, "{dirty} did not give their memory back", "{dirty} 块显存未释放")),
        (
            just_left,
            tell!(language, "{just_left} only just left by others", "{just_left} 块刚被释放"),
        ),
        (
            quarantined,
            tell!(language, "{quarantined} with hardware errors", "{quarantined} 块有硬件故障"),
        ),
        (
            unknown_runs,
            tell!(
                language,
                "{unknown_runs} used by runs from before the database was lost or restored",
                "{unknown_runs} 块被数据库丢失或恢复前的运行占用"
            ),
        ),
    ];
    let parts: Vec<String> =
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    let parts = parts.join(language.say(", ", "，"));
    tell!(language, "for GPUs: {parts}", "等待 GPU：{parts}")
}

fn over_quota(Excess { whose, limit, in_use, most }: &Excess, language: Language) -> String {
    let whose = match whose {
        Party::User(name) => tell!(language, "{name}'s quota", "用户 {name} 的配额"),
        Party::Project(name) => tell!(language, "project {name}'s quota", "项目 {name} 的配额"),
    };
    let what = match limit {
        Limit::RunningTasks => language.say("tasks run", "个任务在运行"),
        Limit::RunningGpus => language.say("GPUs in use", "块 GPU 在使用"),
        Limit::QueuedTasks => language.say("tasks wait", "个任务在等待"),
        Limit::OpenTasks => language.say("tasks have not ended", "个任务未结束"),
        Limit::GpuHours => language.say("GPU-hours used", "GPU 小时已用"),
    };
    tell!(language, "{whose}: {in_use} of {most} {what}", "{whose}：{in_use}/{most} {what}")
}

fn named(ids: &[TaskId]) -> String {
    let shown: Vec<String> = ids.iter().take(MOST_NAMED).map(|id| format!("#{id}")).collect();
    let more = if ids.len() > MOST_NAMED { " …" } else { "" };
    shown.join(", ") + more
}
