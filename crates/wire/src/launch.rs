//! Everything a node needs to know to start a run.

use danlu_core::gpu::GpuVendor;
use danlu_core::task::{ArrayElement, PythonEnvironment};
use danlu_core::{GpuId, RunId, Span, TaskId};
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchOrder {
    pub run: RunId,
    pub task: TaskId,
    pub attempt: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub array: Option<ArrayElement>,
    /// What the names of a sweep stand for in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(String, String)>,
    pub command: Command,
    /// Where it runs; entered with the user's rights.
    pub directory: String,
    /// Everything the command gets, besides what the node adds.
    pub environment: Environment,
    /// Whose programs and modules come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<PythonEnvironment>,
    /// The OS user by name. `None` is the user that the agent runs as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    #[serde(default = "default_umask")]
    pub umask: u32,
    #[serde(default)]
    pub output: Output,
    #[serde(default)]
    pub gpus: GpuOrder,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<Span>,
    /// Between the first signal and the end of the whole tree, unless a stop names another.
    #[serde(default = "default_grace")]
    pub grace: Span,
    /// Bytes for the whole tree. Kept where the node has a memory cgroup to keep it with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<u64>,
    /// Bytes of each GPU that it has asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_memory: Option<u64>,
    /// Bytes of what it prints that are kept in its log: beyond that, the middle goes. A file that the user has named has no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_limit: Option<u64>,
    /// The name of the node that runs it.
    pub node: String,
    /// Present when the run uses several nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<Ranks>,
}

/// `{gpu_list}`, `{task_id}` and the other [`crate::Placeholders`] are replaced in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    Argv(Vec<String>),
    /// One line for a shell: `shell -c line`.
    Shell {
        shell: String,
        line: String,
        /// The node chooses the shell by the user's account; agents that do not know this use `shell`.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        of_user: bool,
    },
}

/// `NAME=value` each. Secrets are among them, so it is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Environment(pub Vec<String>);

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Output {
    pub stdout: Sink,
    pub stderr: ErrorSink,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sink {
    /// `output.log` in the run directory.
    #[default]
    Log,
    /// A file of the user, opened with the user's rights; relative to the working directory.
    File {
        path: String,
        append: bool,
        /// Where the path is a directory, the file is `<id>.log` in it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_in_directory: Option<TaskId>,
        /// Others may write to its directory: the file must be new or one of the user's own, not a link, and only the
        /// user may read it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        own: bool,
    },
    Discard,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorSink {
    #[default]
    WithStdout,
    Own(Sink),
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuOrder {
    /// In the order of the PCI bus. Empty for a CPU task, which sees no GPU.
    pub assigned: Vec<AssignedGpu>,
    /// Of all of them.
    pub vendor: GpuVendor,
    pub named_by: GpuNames,
    /// Appended to the command with the list of indices, as in `--gpus=0,2`.
    pub argument: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedGpu {
    pub uuid: GpuId,
    pub index: u32,
}

/// How `CUDA_VISIBLE_DEVICES` names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuNames {
    #[default]
    Index,
    Uuid,
}

/// The place of a part among the parts of a run on several nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ranks {
    pub rank: u32,
    /// The names of all nodes, by rank.
    pub nodes: Vec<String>,
    pub master_address: String,
    pub master_port: u16,
    pub world_size: u32,
}

pub const DEFAULT_GRACE: Span = Span::from_secs(10);
pub const DEFAULT_UMASK: u32 = 0o022;

impl Sink {
    pub fn file(path: impl Into<String>, append: bool) -> Sink {
        Sink::File { path: path.into(), append, task_in_directory: None, own: false }
    }
}

impl LaunchOrder {
    /// An order with everything left at its default but what must be said.
    pub fn new(run: RunId, task: TaskId, command: Command, directory: &str) -> LaunchOrder {
        LaunchOrder {
            run,
            task,
            attempt: 1,
            array: None,
            values: Vec::new(),
            command,
            directory: directory.to_owned(),
            environment: Environment::default(),
            python: None,
            user: None,
            umask: DEFAULT_UMASK,
            output: Output::default(),
            gpus: GpuOrder::default(),
            time_limit: None,
            grace: DEFAULT_GRACE,
            memory_limit: None,
            gpu_memory: None,
            log_limit: None,
            node: String::new(),
            ranks: None,
        }
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

fn default_grace() -> Span {
    DEFAULT_GRACE
}

fn default_umask() -> u32 {
    DEFAULT_UMASK
}
