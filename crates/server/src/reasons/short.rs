//! Why a task waits, in a few words.

use super::ids;
use crate::language::{say, text};
use danlu_core::explain::SharedGpu;
use danlu_core::quota::{Excess, Limit, Party};
use danlu_core::task::Doubt;
use danlu_core::{TaskId, Time, WaitReason};

/// `at` writes a moment as the reader expects it.
pub fn reason(wait: &WaitReason, at: impl Fn(Time) -> String) -> String {
    match wait {
        WaitReason::Held => {
            text("held: danlu release ID lets it go", "被扣住：danlu release ID 放行")
        }
        WaitReason::NoNodes => text("there is no machine yet", "还没有机器"),
        WaitReason::NeverFits => text("no machine is large enough any more", "已没有足够大的机器"),
        WaitReason::NodesUnavailable { .. } => {
            text("the machines that could run it are away or draining", "能运行它的机器暂时不可用")
        }
        WaitReason::QueuePaused => text("the queue is paused", "队列已暂停"),
        WaitReason::Outranked => text("others come first", "其他任务优先"),
        WaitReason::AboutToStart => text("about to start", "即将开始"),
        WaitReason::Resources { held_by } if held_by.is_empty() => {
            text("for room on a machine", "等待机器有空位")
        }
        WaitReason::Begins { at: time } => {
            let at = at(*time);
            return say!("begins at {at}", "将于 {at} 开始");
        }
        WaitReason::RetryAt { at: time } => {
            let at = at(*time);
            return say!("failed; tried again at {at}", "失败后将于 {at} 重试");
        }
        WaitReason::Dependencies { on } => {
            let on = ids(on);
            return say!("after {on}", "等待任务 {on}");
        }
        WaitReason::GpusUnavailable { .. } => return gpus_unavailable(wait),
        WaitReason::GpusDisabled { gpu_ids } => {
            let gpus: Vec<String> = gpu_ids.iter().map(u32::to_string).collect();
            let gpus = gpus.join(",");
            return say!("GPU {gpus} is disabled", "GPU {gpus} 已停用");
        }
        WaitReason::NodesShortOfMemory { .. } => {
            text("the machine has too little memory left", "机器剩余内存过少")
        }
        WaitReason::Settling => text(
            "waiting for memory on the shared GPU to settle",
            "等待共享 GPU 上的显存用量稳定",
        ),
        WaitReason::GpusBusy => {
            text("the GPUs it could share are too busy", "可共享的 GPU 过于繁忙")
        }
        WaitReason::Resources { held_by } if held_by.len() == 1 => {
            text("until a running task ends", "等待一个运行中的任务结束")
        }
        WaitReason::Resources { held_by } => {
            let count = held_by.len();
            return say!(
                "until some of {count} running tasks end",
                "等待 {count} 个运行中的任务中的一些结束",
            );
        }
        WaitReason::TooFewNodes { wanted, with_room, .. } => {
            return say!(
                "for {wanted} machines at once: {with_room} have room now",
                "等待 {wanted} 台机器同时有空位：现有 {with_room} 台",
            );
        }
        WaitReason::NamedResources { wanted, held_by } => {
            let wanted = wanted.iter().map(|(name, count)| format!("{count} {name}"));
            let wanted: Vec<String> = wanted.collect();
            let wanted = wanted.join(text(", ", "、"));
            return match held_by.is_empty() {
                true => say!("no machine has {wanted}", "没有机器有 {wanted}"),
                false => say!("for {wanted}", "等待 {wanted}"),
            };
        }
        WaitReason::ArrayLimit { at_once } => {
            return say!("{at_once} of its array at a time", "数组最多同时运行 {at_once} 个");
        }
        WaitReason::Behind { first } => {
            return say!("task {first} comes first", "任务 {first} 优先");
        }
        WaitReason::Quota(excess) => return over_quota(excess),
        WaitReason::InDoubt { why: Doubt::Restored } => text(
            "held: it may have run since the backup that was restored; danlu release ID runs it",
            "被扣住：自所恢复的备份以来它可能已运行过；danlu release ID 让它运行",
        ),
        WaitReason::InDoubt { why: Doubt::NoRecord } => text(
            "held: the record of its run is gone, it may have ended; danlu release ID runs it again",
            "被扣住：运行记录已丢失，它可能已经结束；danlu release ID 让它再次运行",
        ),
        WaitReason::NodesUnfit { trouble, .. } => {
            let detail = &trouble.detail;
            return say!("the machine cannot start tasks: {detail}", "机器无法启动任务：{detail}");
        }
        WaitReason::GpusOnSeveralNodes { gpus } => {
            let names = |it: &SharedGpu| it.names.join(text(" and ", " 和 "));
            let shared = gpus.iter().map(|it| format!("{} ({})", it.gpu, names(it)));
            let shared = shared.collect::<Vec<_>>().join(", ");
            return say!(
                "for GPUs that several machines report: {shared}",
                "多台机器报告了同一块 GPU：{shared}"
            );
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
        (foreign, say!("{foreign} used outside Danlu", "{foreign} 块被外部进程占用")),
        (unknown, say!("{unknown} cannot be probed", "{unknown} 块无法探测")),
        (dirty, say!("{dirty} did not give their memory back", "{dirty} 块显存未释放")),
        (just_left, say!("{just_left} only just left by others", "{just_left} 块刚被外部进程释放")),
        (quarantined, say!("{quarantined} with hardware errors", "{quarantined} 块有硬件故障")),
        (
            unknown_runs,
            say!(
                "{unknown_runs} used by runs from before the database was lost or restored",
                "{unknown_runs} 块被数据库丢失或恢复前的运行占用"
            ),
        ),
    ];
    let parts: Vec<String> =
        counted.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words).collect();
    let parts = parts.join(text(", ", "，"));
    say!("for GPUs: {parts}", "等待 GPU：{parts}")
}

pub(super) fn over_quota(Excess { whose, limit, in_use, most }: &Excess) -> String {
    let (english, chinese) = match whose {
        Party::User(name) => (format!("{name}'s"), format!("用户 {name}")),
        Party::Project(name) => (format!("project {name}'s"), format!("项目 {name}")),
    };
    match limit {
        Limit::RunningTasks => {
            say!(
                "{english} quota: {in_use} of {most} tasks run",
                "{chinese} 的配额：{in_use}/{most} 个任务在运行"
            )
        }
        Limit::RunningGpus => {
            say!(
                "{english} quota: {in_use} of {most} GPUs in use",
                "{chinese} 的配额：{in_use}/{most} 块 GPU 在使用"
            )
        }
        Limit::QueuedTasks => {
            say!(
                "{english} quota: {in_use} of {most} tasks wait",
                "{chinese} 的配额：{in_use}/{most} 个任务在等待"
            )
        }
        Limit::OpenTasks => {
            say!(
                "{english} quota: {in_use} of {most} tasks have not ended",
                "{chinese} 的配额：{in_use}/{most} 个任务未结束"
            )
        }
        Limit::GpuHours => {
            say!(
                "{english} quota: {in_use} of {most} GPU-hours used",
                "{chinese} 的配额：已用 {in_use}/{most} GPU 小时"
            )
        }
    }
}

fn would_delay(first: TaskId, starts_at: Option<String>) -> String {
    match starts_at {
        Some(at) => say!("would delay task {first} (≈{at})", "会推迟任务 {first}（≈{at}）"),
        None => say!("would delay task {first}", "会推迟任务 {first}"),
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
        check(WaitReason::Resources { held_by: vec![run] }, "until a running task ends");
        check(
            WaitReason::Resources { held_by: vec![run, run] },
            "until some of 2 running tasks end",
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
            "for GPUs: 2 used outside Danlu, 1 did not give their memory back",
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
