//! What `reports.db` has as numbers: runs, what became of tasks, classes of failures.

use super::piece::TaskCount;
use danlu_core::{Epoch, FailureClass, RunId};

/// As the main database numbers them.
pub(super) fn run_number(run: RunId) -> i64 {
    i64::from(run.epoch.0) << 40 | i64::try_from(run.number).unwrap_or(i64::MAX)
}

pub(super) fn run_of(number: i64) -> RunId {
    let epoch = Epoch(u32::try_from(number >> 40).unwrap_or(u32::MAX));
    RunId { epoch, number: (number & ((1 << 40) - 1)).unsigned_abs() }
}

impl TaskCount {
    pub(super) fn code(self) -> i64 {
        match self {
            TaskCount::Running => 0,
            TaskCount::Succeeded => 1,
            TaskCount::Failed => 2,
            TaskCount::Cancelled => 3,
            TaskCount::TimedOut => 4,
        }
    }

    /// What runs is never in the file.
    pub(super) fn of_code(code: i64) -> Option<TaskCount> {
        match code {
            1 => Some(TaskCount::Succeeded),
            2 => Some(TaskCount::Failed),
            3 => Some(TaskCount::Cancelled),
            4 => Some(TaskCount::TimedOut),
            _ => None,
        }
    }
}

/// Never given to another class.
pub(super) fn failure_code(class: FailureClass) -> i64 {
    match class {
        FailureClass::Launch => 1,
        FailureClass::CudaOom => 2,
        FailureClass::HostOom => 3,
        FailureClass::Nccl => 4,
        FailureClass::GpuHardware => 5,
        FailureClass::Timeout => 6,
        FailureClass::Preempted => 7,
        FailureClass::PythonException => 8,
        FailureClass::EnvMissing => 9,
        FailureClass::DiskFull => 10,
        FailureClass::CommandNotFound => 11,
        FailureClass::Killed => 12,
        FailureClass::NodeLost => 13,
        FailureClass::Other => 14,
        FailureClass::Idle => 15,
    }
}

pub(super) fn failure_of(code: i64) -> Option<FailureClass> {
    FailureClass::ALL.into_iter().find(|class| failure_code(*class) == code)
}
