//! Names of states. In English they are the names that the API has.

use crate::Language;
use danlu_wire::api::{GpuStateName, NodeStateName, PartStateName, RunStateName, TaskStateName};

/// In lists, where there is little room.
pub fn task(state: TaskStateName) -> &'static str {
    if Language::current() == Language::English {
        return state.as_str();
    }
    match state {
        TaskStateName::Held => "扣住",
        TaskStateName::Blocked => "受阻",
        TaskStateName::Queued => "排队",
        TaskStateName::Starting => STARTING,
        TaskStateName::Running => RUNNING,
        TaskStateName::Paused => PAUSED,
        TaskStateName::Stopping => STOPPING,
        TaskStateName::Lost => LOST,
        TaskStateName::Succeeded => "成功",
        TaskStateName::Failed => "失败",
        TaskStateName::Cancelled => "已取消",
        TaskStateName::TimedOut => "超时",
        TaskStateName::Unknown => UNKNOWN,
    }
}

pub fn gpu(state: GpuStateName) -> &'static str {
    if Language::current() == Language::English {
        return state.as_str();
    }
    match state {
        GpuStateName::Free => "空闲",
        GpuStateName::Held => "占用",
        GpuStateName::Shared => "共享",
        GpuStateName::Foreign => "外部占用",
        GpuStateName::Dirty => "显存未释放",
        GpuStateName::Quarantined => "隔离",
        GpuStateName::Unknown => UNKNOWN,
        GpuStateName::Disabled => "停用",
        GpuStateName::Conflict => "冲突",
    }
}

pub fn node(state: NodeStateName) -> &'static str {
    if Language::current() == Language::English {
        return state.as_str();
    }
    match state {
        NodeStateName::Ready => "就绪",
        NodeStateName::Draining => "排空中",
        NodeStateName::Unverified => "核对中",
        NodeStateName::Unfit => "异常",
        NodeStateName::Down => "离线",
        NodeStateName::Unknown => UNKNOWN,
    }
}

pub fn run(state: RunStateName) -> &'static str {
    if Language::current() == Language::English {
        return state.as_str();
    }
    match state {
        RunStateName::Starting => STARTING,
        RunStateName::Running => RUNNING,
        RunStateName::Paused => PAUSED,
        RunStateName::Stopping => STOPPING,
        RunStateName::Lost => LOST,
        RunStateName::Ended => ENDED,
        RunStateName::Unknown => UNKNOWN,
    }
}

/// Of a run on one of several nodes.
pub fn part(state: PartStateName) -> &'static str {
    if Language::current() == Language::English {
        return state.as_str();
    }
    match state {
        PartStateName::Starting => STARTING,
        PartStateName::Running => RUNNING,
        PartStateName::Lost => LOST,
        PartStateName::Ended => ENDED,
        PartStateName::Unknown => UNKNOWN,
    }
}

const STARTING: &str = "启动中";
const RUNNING: &str = "运行";
const PAUSED: &str = "暂停";
const STOPPING: &str = "停止中";
const LOST: &str = "失联";
const ENDED: &str = "已结束";
/// Also a state that only a newer server knows.
const UNKNOWN: &str = "未知";
