//! What each setting is for, in one sentence.

use crate::web::language::Language;

/// Nothing for one that has no words yet.
pub(super) fn about(key: &str, language: Language) -> &'static str {
    let (english, chinese) = match key {
        "archive.above" => (
            "With more ended tasks than this, the oldest go to the archive; 0 for never.",
            "已结束任务超过此数时归档最旧的；0 表示不归档。",
        ),
        "archive.share" => ("This part of everybody's then.", "届时归档每人的这一比例。"),
        "auto_inside" => (
            "Among one user's tasks, those that are likely short go first.",
            "同一用户的任务中，可能较短的先运行。",
        ),
        "backfill" => (
            "What may start while the first cannot: none, skip (whatever fits), easy (what does not delay it).",
            "首个任务无法开始时：none 不启动其他，skip 启动放得下的，easy 启动不会推迟它的。",
        ),
        "default_retries" => {
            ("Of tasks that do not say how often.", "未指定重试次数的任务重试几次。")
        }
        "fair.half_life" => {
            ("For fair: after this long, use counts half.", "用于 fair：经过此时间，用量减半计算。")
        }
        "idle_delay" => (
            "A GPU that others have used is given out once it was idle for so long.",
            "外部使用过的 GPU 空闲这么久后才分配。",
        ),
        "keep_gpu_memory" => {
            ("This part of a shared GPU's memory stays free.", "共享 GPU 的显存保留这一比例。")
        }
        "keep_memory" => (
            "A machine with less than this part of its memory free gets nothing new.",
            "空闲内存低于这一比例的机器不再接受新任务。",
        ),
        "las_threshold" => (
            "For las: after so much GPU time a task is in the second queue.",
            "用于 las：GPU 时间超过此值后进入第二队列。",
        ),
        "limits.open_tasks_per_user" => (
            "Tasks of one user that have not ended, where no quota says otherwise.",
            "每个用户未结束的任务数上限（配额另有规定的除外）。",
        ),
        "limits.log_size" => (
            "Bytes that are kept of a task's log: its beginning and its end. Empty for all of it.",
            "每个任务日志保留的字节数（保留开头和结尾）；留空则全部保留。",
        ),
        "limits.log_bytes_per_user" => (
            "Bytes of logs that machines keep for one user; with so many, submissions are refused. Empty or 0: no limit.",
            "每个用户保留的日志总字节数上限，达到后拒绝新任务；留空或 0 表示不限。",
        ),
        "limits.max_tasks_per_gpu" => {
            ("Tasks that share one GPU by its memory.", "按显存共享一块 GPU 的任务数上限。")
        }
        "lost_after" => (
            "What ran on a machine that was away for so long has failed; 0 for never.",
            "机器失联超过此时间后，其上的任务判为失败；0 表示从不。",
        ),
        "max_extension" => (
            "So much time may owners add to a limit in all; admins any.",
            "所有者累计可延长的时间；管理员不限。",
        ),
        "max_losses" => (
            "So often is a task begun again whose machine went down.",
            "机器宕机后任务最多重新开始几次。",
        ),
        "min_run_before_preemption" => {
            ("Nothing is preempted before it ran so long.", "运行不足此时间的任务不会被抢占。")
        }
        "placement" => (
            "Where tasks go: pack (the fullest machine), spread (the emptiest), first_fit, frag or count.",
            "任务放置方式：pack（最满的机器）、spread（最空的机器）、first_fit、frag 或 count。",
        ),
        "predictions" => {
            ("Learn from ended tasks how long others will run.", "根据已结束的任务预测运行时长。")
        }
        "quota.over" => (
            "A task over its quota: wait, or refuse it.",
            "超出配额的任务：wait 等待，refuse 拒绝。",
        ),
        "quota.period" => ("GPU-hours are counted anew after this.", "GPU 小时的计算周期。"),
        "quota.user.gpu_hours" => ("Of each user, in a period.", "每个用户每周期。"),
        "quota.user.open_tasks" => {
            ("Tasks of each user that have not ended.", "每个用户未结束的任务。")
        }
        "quota.user.queued_tasks" => ("Waiting tasks of each user.", "每个用户等待中的任务。"),
        "quota.user.running_gpus" => ("GPUs in use by each user.", "每个用户使用中的 GPU。"),
        "quota.user.running_tasks" => ("Running tasks of each user.", "每个用户运行中的任务。"),
        "reclaim_unused_memory" => (
            "A shared task that has settled counts as what it uses, not as what it asked for.",
            "共享任务稳定后按实际用量计算，而非申请量。",
        ),
        "requeue_lost" => {
            ("A task whose machine went down is queued again.", "机器宕机后任务重新排队。")
        }
        "reserve_after" => (
            "After waiting so long, GPUs that come free are kept for a task; 0s for never.",
            "等待这么久后为任务预留空出的 GPU；0s 表示从不。",
        ),
        "restart_cost.above" => {
            ("Work that preempting more than 8 GPUs costs.", "抢占超过 8 块 GPU 的代价。")
        }
        "restart_cost.up_to_8_gpus" => {
            ("Work that preempting up to 8 GPUs costs.", "抢占不超过 8 块 GPU 的代价。")
        }
        "retry_backoff" => (
            "Before the first retry; twice as long before each further one.",
            "首次重试前的等待；之后每次加倍。",
        ),
        "retry_backoff_max" => ("But no longer than this.", "但不超过此值。"),
        "retry_on" => (
            "Failures worth a retry, such as cuda_oom,nccl; empty: all but a time limit.",
            "值得重试的失败，如 cuda_oom,nccl；留空：除超时外全部。",
        ),
        "settle_time" => (
            "A shared task that has not grown for so long has the memory it needs.",
            "共享任务显存在此时间内未增长即视为稳定。",
        ),
        "stop_grace" => (
            "Between the signal to a task and the end of all its processes.",
            "从发出信号到结束其全部进程的时间。",
        ),
        "visibility" => (
            "all: everybody sees all tasks; own: their own alone.",
            "all：所有人可见全部任务；own：仅可见自己的。",
        ),
        _ => ("", ""),
    };
    language.say(english, chinese)
}
