//! The files in a run directory. What is damaged, empty, too large or of another version counts as absent.
//!
//! The order itself is not among them: it has the user's environment in it, and is handed over in memory.

use danlu_core::run::{Ending, Exit, RunUsage};
use danlu_core::{Failure, GpuId, Span, TaskId, Time};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A file of JSON with a name, a version and a limit.
pub trait RunFile: Serialize + DeserializeOwned {
    const NAME: &'static str;
    const BYTES: usize = 64 * 1024;

    fn parse(content: &[u8]) -> Option<Self> {
        if content.len() > Self::BYTES { None } else { serde_json::from_slice(content).ok() }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut content = serde_json::to_vec(self).expect("a run file has text keys only");
        content.push(b'\n');
        content
    }
}

/// Who runs it. Written by the shim before the command may begin, so that without it nothing ever ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShimState {
    pub v: V1,
    pub shim: ProcessMark,
    pub boot_id: String,
    /// The process id of the command; 0 until it is known. The session of the shim is the shim's process id.
    pub leader: u32,
    pub started_at: Time,
    #[serde(default)]
    pub cgroups: CgroupPaths,
    /// Of which task it is; shims of 0.1.0 do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The GPUs it was given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuId>,
}

/// A process for ever: its id may be given out again, but not with the same start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessMark {
    pub pid: u32,
    /// Clock ticks since the machine's boot.
    pub start: u64,
}

/// The control groups made for a run; all its processes are in them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CgroupPaths {
    /// In the version 2 tree: freezes and kills, limits memory where that controller is in this tree.
    pub unified: Option<String>,
    /// In the version 1 tree of the memory controller.
    pub memory: Option<String>,
}

/// What the agent wants of the shim. Written by the agent, which then signals the shim.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Control {
    pub v: V1,
    pub stop: Option<StopRequest>,
    pub paused: bool,
    /// How long it may run, if that is not what it was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopRequest {
    pub grace: Span,
    pub preempted: bool,
}

/// How it ended. Written last by the shim, or by the agent for a shim that cannot any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitRecord {
    pub v: V1,
    pub boot_id: String,
    pub exit: Exit,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_failure: Option<LaunchFailure>,
    /// What was found out about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    /// A stop had begun: the exit is not the command's own will.
    pub stopped: bool,
    /// The shim itself was told to end, as all processes are when a machine goes down.
    pub interrupted: bool,
    pub started_at: Option<Time>,
    pub ended_at: Time,
    #[serde(default)]
    pub used: RunUsage,
}

/// Why a command could not be started, for programs; `Exit::Launch` has the words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchFailure {
    pub stage: LaunchStage,
    /// The error number of the operating system; 0 when it was not asked.
    pub errno: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LaunchStage {
    /// The run directory or a file in it.
    RunDirectory,
    User,
    Cgroup,
    Process,
    Directory,
    Stdout,
    Stderr,
    Command,
    /// The Python environment that it was to run in.
    Environment,
    /// The command is a script whose first line names a program that is not there.
    Interpreter,
}

/// The version of a file, `1`; any other cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct V1;

impl RunFile for ShimState {
    const NAME: &'static str = "state.json";
}

impl RunFile for Control {
    const NAME: &'static str = "control.json";
}

impl RunFile for ExitRecord {
    const NAME: &'static str = "exit.json";
}

impl ExitRecord {
    /// What the server is told, by an agent that lives in the boot `boot_id`.
    pub fn ending(&self, boot_id: &str) -> Ending {
        let went_down = self.interrupted && self.boot_id != boot_id && !self.exit.is_success();
        Ending {
            exit: if went_down { Exit::Vanished { rebooted: true } } else { self.exit.clone() },
            stopped: self.stopped,
            failure: self.failure.clone().filter(|_| !went_down),
            started_at: self.started_at,
            ended_at: self.ended_at,
            used: self.used,
        }
    }
}

impl Serialize for V1 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u32(1)
    }
}

impl<'de> Deserialize<'de> for V1 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<V1, D::Error> {
        match u32::deserialize(deserializer)? {
            1 => Ok(V1),
            other => Err(D::Error::custom(format_args!("version {other} of a run file"))),
        }
    }
}
