//! The protocol between server and agent.

use crate::gpu::GpuDetails;
use crate::launch::{LaunchOrder, Sink};
use crate::samples::{Samples, SamplingOrder};
use danlu_core::gpu::GpuReport;
use danlu_core::input::{NodeMessage, NodeReport};
use danlu_core::run::{Ending, RunUsage};
use danlu_core::{GpuId, RunId, SessionId, Span, Time, Trouble};
use serde::{Deserialize, Serialize};

/// Raised when an older peer could misunderstand a message.
pub const PROTOCOL: u32 = 5;
/// The first one that knows [`ToAgent::CheckPaths`].
pub const CHECKS_PATHS: u32 = 2;
/// The first one that confirms [`ToAgent::DropLog`].
pub const CONFIRMS_LOGS: u32 = 3;
/// The first one that knows [`ToAgent::Sampling`], and then tells [`FromAgent::Samples`].
pub const TELLS_SAMPLES: u32 = 4;
/// The first one that knows [`ToAgent::EndForeign`].
pub const ENDS_FOREIGN: u32 = 5;
/// The oldest one that is still understood: that of the release before.
pub const OLDEST_PROTOCOL: u32 = 1;

/// Each can be repeated or lost without harm. All but `Hello` speak of the connection they come on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToAgent {
    Hello(Hello),
    /// Start it, unless its run directory exists already.
    Launch(Box<LaunchOrder>),
    /// Signal the leader, wait for `grace`, end the whole tree. Sent again, it never gives more time.
    Stop {
        run: RunId,
        why: StopWhy,
        grace: Span,
    },
    /// Freeze the whole tree. Its time limit does not go on meanwhile.
    Pause {
        run: RunId,
    },
    Resume {
        run: RunId,
    },
    /// It may run so long, counted from its start.
    SetLimit {
        run: RunId,
        limit: Span,
    },
    /// Its end is recorded: the run directory may go. The log stays.
    Forget {
        run: RunId,
    },
    /// The log of a run that has ended may go too.
    DropLog {
        run: RunId,
    },
    AskReport,
    /// Also shows that the agent is still there.
    AskFacts,
    ReadLog(ReadLog),
    /// Since [`CHECKS_PATHS`].
    CheckPaths(CheckPaths),
    /// What to measure from now on. Since [`TELLS_SAMPLES`].
    Sampling(SamplingOrder),
    /// Since [`ENDS_FOREIGN`].
    EndForeign(EndForeign),
}

/// End a process that Danlu did not start: TERM, and after `grace` KILL. Only if it is on that GPU, older than `grace`, of no
/// run, in no container and not root's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndForeign {
    pub gpu: GpuId,
    pub pid: u32,
    pub grace: Span,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    Hello(Hello),
    Report(NodeReport),
    Started {
        run: RunId,
        at: Time,
        /// The process id of the command.
        leader: u32,
    },
    Ended {
        run: RunId,
        ending: Ending,
        /// As in `ending`, for peers that look for it here; agents of 0.1.0 tell it only here.
        used: RunUsage,
    },
    /// The log is not there any more. Since [`CONFIRMS_LOGS`].
    LogDropped {
        run: RunId,
    },
    /// The GPUs have changed.
    Gpus(Vec<GpuReport>),
    /// What people want to know about the GPUs has changed.
    Details(Vec<GpuDetails>),
    /// So many bytes of the machine's memory are free, in coarse steps.
    Memory {
        free: u64,
    },
    /// What keeps the machine from starting anything; nothing when it is well again.
    Fitness {
        trouble: Option<Trouble>,
    },
    Facts(Facts),
    Log(LogPiece),
    Paths(PathsChecked),
    /// Since [`TELLS_SAMPLES`], and only when it was told to.
    Samples(Box<Samples>),
}

/// The first message both ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// The oldest one that it understands; only its own where it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_protocol: Option<u32>,
    /// Of the binary, for people.
    pub version: String,
    pub session: SessionId,
    /// Which boot of its machine the agent lives in. A server leaves it out.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// Which machine that is. A server leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// How an agent that has just been started is to work. An agent leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub station: Option<StationOrder>,
}

/// Of an agent, when it says hello.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The same as long as its system is not installed anew.
    pub id: String,
    pub host_name: String,
    /// The login that the agent has. Root can run tasks as anybody.
    pub login: String,
    pub is_root: bool,
    /// By its own clock.
    pub now: Time,
}

/// What a server decides about the agent of a node.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StationOrder {
    /// What the node is called, and nothing else on that machine.
    pub name: String,
    /// Where it keeps its runs; where there is none, a place that is usual there.
    #[serde(default)]
    pub data: Option<String>,
    #[serde(default)]
    pub without_cgroups: bool,
    /// The program to ask about GPUs where there is no library.
    #[serde(default)]
    pub probe: Option<String>,
    #[serde(default)]
    pub sim_gpus: Option<u32>,
    /// Tasks put a load on simulated GPUs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sim_load: bool,
}

/// What people want to know about a machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    pub now: Time,
    /// The load of the last minute, in hundredths.
    pub load: u32,
    /// Bytes.
    pub memory_used: Option<u64>,
    /// Of the disk that the runs are on, in bytes.
    pub disk_free: Option<u64>,
    pub disk_total: Option<u64>,
    /// Bytes that all its interfaces but loopback have received and sent since it was booted.
    pub received: u64,
    pub sent: u64,
    /// How it asks about its GPUs, or why it has none.
    pub probe: String,
    /// Which kernel it has, for people.
    pub system: String,
    /// Where the runs are, and on what kind of file system.
    pub directory: String,
    pub file_system: String,
    /// Of its GPUs, with its version.
    pub driver: Option<String>,
}

/// A part of what a run has printed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadLog {
    /// Comes back with the answer.
    pub ask: u64,
    pub log: LogPlace,
    pub from: LogStart,
    pub limit: u64,
    /// Answer only when there is something, or the run has ended; after a minute in any case.
    #[serde(default)]
    pub wait: bool,
}

/// Where a run prints to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPlace {
    pub run: RunId,
    /// Words in its name replaced.
    pub sink: Sink,
    pub directory: String,
    /// Whose the file must be, where it is not one of the agent's own.
    pub owner: String,
    pub ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogStart {
    Offset(u64),
    /// The last so many lines.
    Tail(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPiece {
    pub ask: u64,
    pub content: Result<LogContent, LogProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogContent {
    /// Where it begins.
    pub offset: u64,
    /// Of the whole log by now.
    pub size: u64,
    pub base64: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogProblem {
    NotThere,
    NotTheirs,
    Other(String),
}

/// Would a task of this user find what it names?
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckPaths {
    /// Comes back with the answer.
    pub ask: u64,
    /// The OS user by name, whose rights count.
    pub owner: String,
    pub paths: TaskPaths,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskPaths {
    /// The working directory, an absolute path.
    pub directory: String,
    /// Relative to it.
    pub outputs: Vec<OutputPath>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputPath {
    pub path: String,
    /// A directory gets a file for each task.
    pub may_be_directory: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathsChecked {
    pub ask: u64,
    pub seen: PathsSeen,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathsSeen {
    /// As far as the user may look.
    Good,
    Wrong(PathProblem),
    /// The file system did not answer in time.
    Silent,
    /// Nobody could look: there is no such user, for one.
    Unseen,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathProblem {
    NoDirectory { path: String },
    NoDirectoryFor { file: String, directory: String },
    IsDirectory { path: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopWhy {
    Cancelled,
    /// The command also finds the file `DANLU_PREEMPT_FILE`.
    Preempted,
    /// To be started again later.
    Requeued,
    PartFailed,
    Stray,
}

impl Hello {
    pub fn new(version: &str, session: SessionId, boot_id: Option<String>) -> Hello {
        let version = version.to_owned();
        let (protocol, oldest_protocol) = (PROTOCOL, Some(OLDEST_PROTOCOL));
        let (machine, station) = (None, None);
        Hello { protocol, oldest_protocol, version, session, boot_id, machine, station }
    }

    /// There is one that both understand.
    pub fn is_compatible(&self) -> bool {
        let oldest = self.oldest_protocol.unwrap_or(self.protocol);
        self.protocol >= OLDEST_PROTOCOL && oldest <= PROTOCOL
    }
}

impl FromAgent {
    /// As the core hears it; `None` for what it need not hear.
    pub fn into_node_message(self) -> Option<NodeMessage> {
        match self {
            FromAgent::Hello(_)
            | FromAgent::Details(_)
            | FromAgent::Facts(_)
            | FromAgent::Log(_)
            | FromAgent::Paths(_)
            | FromAgent::Samples(_) => None,
            FromAgent::Report(report) => Some(NodeMessage::Report(report)),
            FromAgent::Started { run, at, .. } => Some(NodeMessage::Started { run, at }),
            FromAgent::Ended { run, ending, used } => {
                let used = if ending.used.is_nothing() { used } else { ending.used };
                Some(NodeMessage::Ended { run, ending: Ending { used, ..ending } })
            }
            FromAgent::LogDropped { run } => Some(NodeMessage::LogDropped { run }),
            FromAgent::Gpus(gpus) => Some(NodeMessage::Gpus(gpus)),
            FromAgent::Memory { free } => Some(NodeMessage::Memory { free }),
            FromAgent::Fitness { trouble } => Some(NodeMessage::Fitness { trouble }),
        }
    }
}

impl From<danlu_core::effect::StopOrder> for StopWhy {
    fn from(order: danlu_core::effect::StopOrder) -> StopWhy {
        use danlu_core::effect::StopOrder;
        use danlu_core::run::StopReason;
        match order {
            StopOrder::Stray => StopWhy::Stray,
            StopOrder::Because(StopReason::Cancelled { .. }) => StopWhy::Cancelled,
            StopOrder::Because(StopReason::Preempted) => StopWhy::Preempted,
            StopOrder::Because(StopReason::Requeued) => StopWhy::Requeued,
            // Its program may write a checkpoint.
            StopOrder::Because(StopReason::Idle { requeue: true, .. }) => StopWhy::Preempted,
            StopOrder::Because(StopReason::Idle { requeue: false, .. }) => StopWhy::Cancelled,
            StopOrder::Because(StopReason::PartFailed { .. }) => StopWhy::PartFailed,
        }
    }
}
