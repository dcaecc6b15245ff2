//! States of jobs: long and short names, and which of them a task has.

use danlu_core::FailureClass;
use danlu_wire::api::{MaybeNewer, TaskStateName, TaskView};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    Cancelled,
    Completed,
    Completing,
    Failed,
    NodeFail,
    OutOfMemory,
    Pending,
    Preempted,
    Running,
    Suspended,
    Timeout,
}

impl JobState {
    pub const ALL: [JobState; 11] = [
        JobState::Cancelled,
        JobState::Completed,
        JobState::Completing,
        JobState::Failed,
        JobState::NodeFail,
        JobState::OutOfMemory,
        JobState::Pending,
        JobState::Preempted,
        JobState::Running,
        JobState::Suspended,
        JobState::Timeout,
    ];

    /// `None` of a state that only a newer server knows.
    pub fn of(task: &TaskView) -> Option<JobState> {
        Some(match task.state {
            TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued => {
                JobState::Pending
            }
            // Slurm has no state between these; of a lost one, its machine is away, and Slurm would say so only once it
            // has given it up.
            TaskStateName::Starting | TaskStateName::Running | TaskStateName::Lost => {
                JobState::Running
            }
            TaskStateName::Paused => JobState::Suspended,
            TaskStateName::Stopping => JobState::Completing,
            TaskStateName::Succeeded => JobState::Completed,
            TaskStateName::Cancelled => JobState::Cancelled,
            TaskStateName::TimedOut => JobState::Timeout,
            TaskStateName::Failed => failed(task),
            TaskStateName::Unknown => return None,
        })
    }

    pub fn long(self) -> &'static str {
        match self {
            JobState::Cancelled => "CANCELLED",
            JobState::Completed => "COMPLETED",
            JobState::Completing => "COMPLETING",
            JobState::Failed => "FAILED",
            JobState::NodeFail => "NODE_FAIL",
            JobState::OutOfMemory => "OUT_OF_MEMORY",
            JobState::Pending => "PENDING",
            JobState::Preempted => "PREEMPTED",
            JobState::Running => "RUNNING",
            JobState::Suspended => "SUSPENDED",
            JobState::Timeout => "TIMEOUT",
        }
    }

    pub fn short(self) -> &'static str {
        match self {
            JobState::Cancelled => "CA",
            JobState::Completed => "CD",
            JobState::Completing => "CG",
            JobState::Failed => "F",
            JobState::NodeFail => "NF",
            JobState::OutOfMemory => "OOM",
            JobState::Pending => "PD",
            JobState::Preempted => "PR",
            JobState::Running => "R",
            JobState::Suspended => "S",
            JobState::Timeout => "TO",
        }
    }

    /// States that Slurm has and a task here never is in: nothing is in them.
    const NEVER: [(&'static str, &'static str); 13] = [
        ("BOOT_FAIL", "BF"),
        ("CONFIGURING", "CF"),
        ("DEADLINE", "DL"),
        ("RESV_DEL_HOLD", "RD"),
        ("REQUEUE_FED", "RF"),
        ("REQUEUE_HOLD", "RH"),
        ("REQUEUED", "RQ"),
        ("RESIZING", "RS"),
        ("REVOKED", "RV"),
        ("SIGNALING", "SI"),
        ("SPECIAL_EXIT", "SE"),
        ("STAGE_OUT", "SO"),
        ("STOPPED", "ST"),
    ];

    /// `PD`, `pending`: none for a state that no task is in. `None`: there is no such state.
    pub fn read(name: &str) -> Option<Vec<JobState>> {
        let name = name.trim().to_ascii_uppercase();
        let known =
            JobState::ALL.into_iter().find(|state| state.long() == name || state.short() == name);
        match known {
            Some(state) => Some(vec![state]),
            None if JobState::NEVER.iter().any(|(long, short)| *long == name || *short == name) => {
                Some(Vec::new())
            }
            None => None,
        }
    }

    pub fn is_over(self) -> bool {
        match self {
            JobState::Cancelled
            | JobState::Completed
            | JobState::Failed
            | JobState::NodeFail
            | JobState::OutOfMemory
            | JobState::Preempted
            | JobState::Timeout => true,
            JobState::Completing | JobState::Pending | JobState::Running | JobState::Suspended => {
                false
            }
        }
    }
}

fn failed(task: &TaskView) -> JobState {
    let class = task.failure.as_ref().map(|failure| &failure.class);
    let Some(MaybeNewer::Known(class)) = class else { return JobState::Failed };
    match class {
        FailureClass::HostOom => JobState::OutOfMemory,
        FailureClass::NodeLost => JobState::NodeFail,
        FailureClass::Preempted => JobState::Preempted,
        FailureClass::Timeout => JobState::Timeout,
        FailureClass::Launch
        | FailureClass::CudaOom
        | FailureClass::Nccl
        | FailureClass::GpuHardware
        | FailureClass::PythonException
        | FailureClass::EnvMissing
        | FailureClass::DiskFull
        | FailureClass::CommandNotFound
        | FailureClass::Killed
        | FailureClass::Idle
        | FailureClass::Other => JobState::Failed,
    }
}

/// `1:0` after exit 1, `0:9` after signal 9.
pub fn exit_code(task: &TaskView) -> (i32, i32) {
    let killed = task.failure.as_ref().is_some_and(|failure| {
        matches!(
            failure.class,
            MaybeNewer::Known(
                FailureClass::Killed | FailureClass::HostOom | FailureClass::Preempted
            )
        )
    });
    let by_order = match task.state {
        TaskStateName::Cancelled | TaskStateName::TimedOut => true,
        TaskStateName::Held
        | TaskStateName::Blocked
        | TaskStateName::Queued
        | TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Succeeded
        | TaskStateName::Failed
        | TaskStateName::Unknown => false,
    };
    match task.exit_code {
        Some(code) if code > 128 && code < 193 && (killed || by_order) => (0, code - 128),
        Some(code) => (code, 0),
        None => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_both_lengths() {
        for state in JobState::ALL {
            assert_eq!(JobState::read(state.long()), Some(vec![state]));
            assert_eq!(JobState::read(&state.short().to_ascii_lowercase()), Some(vec![state]));
        }
        assert_eq!(JobState::read("RQ"), Some(vec![]));
        assert_eq!(JobState::read("nonsense"), None);
    }
}
