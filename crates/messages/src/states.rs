//! Names of states. In English they are the names that the API has.

use crate::Language;
use danlu_wire::api::TaskStateName;

/// In lists, where there is little room.
pub fn task(state: TaskStateName) -> &'static str {
    if Language::current() == Language::English {
        return state.as_str();
    }
    match state {
        TaskStateName::Held => "扣住",
        TaskStateName::Blocked => "受阻",
        TaskStateName::Queued => "排队",
        TaskStateName::Starting => "启动中",
        TaskStateName::Running => "运行",
        TaskStateName::Paused => "暂停",
        TaskStateName::Stopping => "停止中",
        TaskStateName::Lost => "失联",
        TaskStateName::Succeeded => "成功",
        TaskStateName::Failed => "失败",
        TaskStateName::Cancelled => "已取消",
        TaskStateName::TimedOut => "超时",
    }
}

/// Of a GPU, a machine or a run, as the API names it.
pub fn other(state: &str) -> &str {
    if Language::current() == Language::English {
        return state;
    }
    match state {
        "free" => "空闲",
        "held" => "占用",
        "shared" => "共享",
        "foreign" => "外部占用",
        "dirty" => "显存未释放",
        "quarantined" => "隔离",
        "unknown" => "未知",
        "disabled" => "停用",
        "conflict" => "冲突",
        "unfit" => "异常",
        "ready" => "就绪",
        "unverified" => "核对中",
        "draining" => "排空中",
        "down" => "离线",
        "starting" => "启动中",
        "running" => "运行",
        "paused" => "暂停",
        "stopping" => "停止中",
        "lost" => "失联",
        "ended" => "已结束",
        other => other,
    }
}
