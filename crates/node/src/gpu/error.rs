//! Errors of GPU probes, with hints.

use super::nvml::code;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProbeError {
    #[error("could not load {library}: {reason}")]
    Library { library: String, reason: String },
    #[error("{library} has no function {function}")]
    Function { library: String, function: &'static str },
    #[error("NVML: {}, asked by {call}", code::meaning(*code))]
    Nvml { call: &'static str, code: i32 },
    #[error("{command}: could not be {action}: {reason}")]
    Command { command: String, action: &'static str, reason: String },
    #[error("{command}: no answer within {seconds} s")]
    NoAnswer { command: String, seconds: u64 },
    #[error("{command}: ended with {status}: {output}")]
    CommandFailed { command: String, status: String, output: String },
    #[error("{command}: unexpected answer: {what}")]
    Answer { command: String, what: String },
    #[error("could not {action} {path}: {reason}", path = path.display())]
    File { action: &'static str, path: PathBuf, reason: String },
    #[error("{path}:{line}:{column}: {reason}", path = path.display())]
    Script { path: PathBuf, line: usize, column: usize, reason: String },
    #[error("{0} (simulated)")]
    Simulated(String),
    #[error("its processes cannot be listed: {0}")]
    Processes(String),
    #[error("it is in MIG mode and has no MIG instance")]
    EmptyMig,
    #[error("no GPU was found: {}", reasons.join("; "))]
    NoGpu { reasons: Vec<String> },
}

impl ProbeError {
    pub(crate) fn file(action: &'static str, path: &Path, error: &io::Error) -> Self {
        ProbeError::File { action, path: path.to_owned(), reason: error.to_string() }
    }

    /// The GPU itself does not answer its driver any more.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self, ProbeError::Nvml { code: code::GPU_IS_LOST, .. })
    }

    /// What to type or change next.
    pub fn hint(&self) -> &'static str {
        match self {
            ProbeError::Library { .. } | ProbeError::Function { .. } => {
                "install the NVIDIA driver's libraries, or set DANLU_NVML_PATH"
            }
            ProbeError::Nvml { code, .. } => code::hint(*code),
            ProbeError::Command { .. }
            | ProbeError::NoAnswer { .. }
            | ProbeError::CommandFailed { .. }
            | ProbeError::Answer { .. } => "run nvidia-smi by hand: it must list the GPUs",
            ProbeError::File { .. } => "check that the daemon may read it",
            ProbeError::Script { .. } => "correct the file; the GPUs stay as they were until then",
            ProbeError::Simulated(_) => "the script of the simulated GPUs asks for this",
            ProbeError::Processes(_) => "run the daemon as root on the host itself",
            ProbeError::EmptyMig => "nvidia-smi mig -cgi PROFILE -C makes an instance",
            ProbeError::NoGpu { .. } => "danlu up --sim-gpus N simulates some",
        }
    }
}
