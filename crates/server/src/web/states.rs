//! Names and colours of states. Every colour also has its word.

use super::language::Language;
use danlu_wire::api::TaskStateName;

pub(super) fn word(state: TaskStateName, language: Language) -> &'static str {
    let (english, chinese) = match state {
        TaskStateName::Held => ("held", "扣住"),
        TaskStateName::Blocked => ("blocked", "受阻"),
        TaskStateName::Queued => ("waiting", "排队"),
        TaskStateName::Starting => ("starting", "启动中"),
        TaskStateName::Running => ("running", "运行"),
        TaskStateName::Paused => ("paused", "暂停"),
        TaskStateName::Stopping => ("stopping", "停止中"),
        TaskStateName::Lost => ("lost", "失联"),
        TaskStateName::Succeeded => ("succeeded", "成功"),
        TaskStateName::Failed => ("failed", "失败"),
        TaskStateName::Cancelled => ("cancelled", "已取消"),
        TaskStateName::TimedOut => ("timed out", "超时"),
    };
    language.say(english, chinese)
}

/// Of a run, as the API names it.
pub(super) fn of_run(state: &str, language: Language) -> &str {
    let chinese = match state {
        "starting" => "启动中",
        "running" => "运行",
        "paused" => "暂停",
        "stopping" => "停止中",
        "lost" => "失联",
        "ended" => "已结束",
        other => other,
    };
    language.say(state, chinese)
}

/// The class of a style sheet.
pub(super) fn class(state: TaskStateName) -> &'static str {
    match state {
        TaskStateName::Starting | TaskStateName::Running => "runs",
        TaskStateName::Blocked | TaskStateName::Queued => "waits",
        TaskStateName::Paused | TaskStateName::Stopping | TaskStateName::Lost => "warns",
        TaskStateName::Failed | TaskStateName::TimedOut => "failed",
        TaskStateName::Succeeded => "good",
        TaskStateName::Held | TaskStateName::Cancelled => "rests",
    }
}

/// What a class of failures means, and what helps.
pub(super) fn failure(class: &str, language: Language) -> (&'static str, &'static str) {
    let (what, help) = match class {
        "launch" => (("could not be started", "无法启动"), LAUNCH),
        "cuda_oom" => (("GPU memory ran out", "显存不足"), CUDA_OOM),
        "host_oom" => (("memory of the machine ran out", "内存不足"), HOST_OOM),
        "nccl" => (("GPUs could not talk to each other", "GPU 间通信失败"), NCCL),
        "gpu_hardware" => (("GPU hardware error", "GPU 硬件故障"), HARDWARE),
        "timeout" => (("reached its time limit", "达到时间上限"), TIMEOUT),
        "preempted" => (("made room for others", "被抢占"), ("", "")),
        "python_exception" => (("Python exception", "Python 异常"), SEE_LOG),
        "env_missing" => (("a module or library is missing", "缺少模块或库"), ENVIRONMENT),
        "disk_full" => (("disk full", "磁盘已满"), DISK),
        "command_not_found" => (("command not found", "找不到命令"), NOT_FOUND),
        "node_lost" => (("its machine did not come back", "机器没有恢复"), NODE_LOST),
        "killed" => (("was killed", "被杀死"), SEE_LOG),
        _ => (("ended with an error", "出错退出"), SEE_LOG),
    };
    (language.say(what.0, what.1), language.say(help.0, help.1))
}

type Help = (&'static str, &'static str);
const LAUNCH: Help =
    ("See the message, correct the task and submit a copy.", "请根据提示修改后复制提交。");
const CUDA_OOM: Help = (
    "Try a smaller batch, or a copy that asks for more GPU memory.",
    "请减小批大小，或复制任务并要求更多显存。",
);
const HOST_OOM: Help = ("Submit a copy that asks for more memory.", "请复制任务并要求更多内存。");
const NCCL: Help = (
    "Retry; if it stays, have an admin look at the links.",
    "请重试；若仍失败，请管理员检查互联。",
);
const HARDWARE: Help =
    ("Retry elsewhere; an admin has to look at this GPU.", "请换卡重试；需要管理员检查该 GPU。");
const TIMEOUT: Help = ("Submit a copy with a longer time limit.", "请复制任务并延长时间上限。");
const NODE_LOST: Help = (
    "It may still run there until the machine is back; retry it elsewhere.",
    "机器恢复前它可能仍在运行；可在别处重试。",
);
const SEE_LOG: Help = ("The log below tells more.", "详见下方日志。");
const ENVIRONMENT: Help =
    ("Check the environment (conda, venv) of the task.", "请检查任务的环境（conda、venv）。");
const DISK: Help = ("Free some space, then retry.", "请清理磁盘后重试。");
const NOT_FOUND: Help = ("Check the command and its directory.", "请检查命令与工作目录。");
