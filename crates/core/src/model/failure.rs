//! Why a run failed: a class that retry rules use, and the line of output that proves it.

use crate::model::run::Exit;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The command could not be started.
    Launch,
    /// A GPU had too little memory.
    CudaOom,
    /// The machine, or the memory that the task asked for, was too small.
    HostOom,
    /// GPUs or machines could not talk to each other.
    Nccl,
    GpuHardware,
    Timeout,
    Preempted,
    PythonException,
    /// A module, a library or an environment is not there.
    EnvMissing,
    DiskFull,
    CommandNotFound,
    /// By a signal, or with its machine.
    Killed,
    /// Its machine was away for too long.
    NodeLost,
    /// It held GPUs and did not use them.
    Idle,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub class: FailureClass,
    /// A line that the run or the kernel has printed, as it is; empty where there is none: the exit and the class say the
    /// rest. Agents and rows of 0.1.0 have the exit in English here.
    pub evidence: String,
}

/// Evidence is a line for people, not a log.
const EVIDENCE_CHARS: usize = 300;

impl FailureClass {
    pub const ALL: [FailureClass; 15] = [
        FailureClass::Launch,
        FailureClass::CudaOom,
        FailureClass::HostOom,
        FailureClass::Nccl,
        FailureClass::GpuHardware,
        FailureClass::Timeout,
        FailureClass::Preempted,
        FailureClass::PythonException,
        FailureClass::EnvMissing,
        FailureClass::DiskFull,
        FailureClass::CommandNotFound,
        FailureClass::Killed,
        FailureClass::NodeLost,
        FailureClass::Idle,
        FailureClass::Other,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            FailureClass::Launch => "launch",
            FailureClass::CudaOom => "cuda_oom",
            FailureClass::HostOom => "host_oom",
            FailureClass::Nccl => "nccl",
            FailureClass::GpuHardware => "gpu_hardware",
            FailureClass::Timeout => "timeout",
            FailureClass::Preempted => "preempted",
            FailureClass::PythonException => "python_exception",
            FailureClass::EnvMissing => "env_missing",
            FailureClass::DiskFull => "disk_full",
            FailureClass::CommandNotFound => "command_not_found",
            FailureClass::Killed => "killed",
            FailureClass::NodeLost => "node_lost",
            FailureClass::Idle => "idle",
            FailureClass::Other => "other",
        }
    }

    pub fn from_name(name: &str) -> Option<FailureClass> {
        FailureClass::ALL.into_iter().find(|class| class.as_str() == name)
    }
}

impl Failure {
    /// Input from nodes and programs is untrusted: cut to length.
    pub fn new(class: FailureClass, evidence: &str) -> Failure {
        Failure { class, evidence: one_line(evidence) }
    }

    /// All that an exit tells by itself; `None` when it is no failure.
    pub fn of_exit(exit: &Exit) -> Option<Failure> {
        let class = match exit {
            Exit::Code(0) | Exit::NeverStarted | Exit::Trouble(_) => return None,
            Exit::Code(127) => FailureClass::CommandNotFound,
            // As shells tell of a child that was killed.
            Exit::Code(130 | 137 | 143) => FailureClass::Killed,
            Exit::Code(_) => FailureClass::Other,
            Exit::Signal(_) | Exit::Vanished { .. } | Exit::NoRecord => FailureClass::Killed,
            Exit::Abandoned => FailureClass::NodeLost,
            Exit::TimedOut => FailureClass::Timeout,
            Exit::Launch { .. } => FailureClass::Launch,
        };
        let printed = match exit {
            Exit::Launch { message } => message.as_str(),
            Exit::Code(_)
            | Exit::Signal(_)
            | Exit::TimedOut
            | Exit::NeverStarted
            | Exit::Vanished { .. }
            | Exit::Abandoned
            | Exit::Trouble(_)
            | Exit::NoRecord => "",
        };
        Some(Failure::new(class, printed))
    }
}

/// As much of it as fits a line.
pub(crate) fn one_line(text: &str) -> String {
    let words = text.split(|it: char| it.is_control() || it.is_whitespace());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(EVIDENCE_CHARS).collect()
}
