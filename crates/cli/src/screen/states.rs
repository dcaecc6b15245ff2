//! Names and colours of states. Every colour also has its word.

use danlu_wire::api::TaskStateName;

use super::colour::Colour;
use crate::language::text;

pub(crate) fn word(state: TaskStateName) -> &'static str {
    let chinese = match state {
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
    };
    text(state.as_str(), chinese)
}

pub(crate) fn colour(state: TaskStateName) -> Option<Colour> {
    match state {
        TaskStateName::Starting | TaskStateName::Running => Some(Colour::Green),
        TaskStateName::Blocked | TaskStateName::Queued => None,
        TaskStateName::Held | TaskStateName::Succeeded | TaskStateName::Cancelled => {
            Some(Colour::Dim)
        }
        TaskStateName::Paused | TaskStateName::Stopping | TaskStateName::Lost => {
            Some(Colour::Yellow)
        }
        TaskStateName::Failed | TaskStateName::TimedOut => Some(Colour::Red),
    }
}

/// Of a GPU, a machine or a run, as the server names it.
pub(crate) fn other(state: &str) -> &str {
    let chinese = match state {
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
    };
    text(state, chinese)
}
