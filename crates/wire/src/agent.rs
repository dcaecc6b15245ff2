//! What a server and an agent say to each other.

use crate::launch::LaunchOrder;
use danlu_core::gpu::GpuReport;
use danlu_core::input::{NodeMessage, NodeReport};
use danlu_core::run::Ending;
use danlu_core::{RunId, SessionId, Span, Time};
use serde::{Deserialize, Serialize};

/// Raised when an older peer could misunderstand a message.
pub const PROTOCOL: u32 = 1;

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
    /// The log of a forgotten run may go too.
    DropLog {
        run: RunId,
    },
    AskReport,
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
        used: Used,
    },
    /// The GPUs have changed.
    Gpus(Vec<GpuReport>),
    /// So many bytes of the machine's memory are free, in coarse steps.
    Memory {
        free: u64,
    },
}

/// The first message both ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    pub protocol: u32,
    /// Of the binary, for people.
    pub version: String,
    pub session: SessionId,
    /// Which boot of its machine the agent lives in. A server leaves it out.
    #[serde(default)]
    pub boot_id: Option<String>,
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

/// What a run has used, as far as its node could tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Used {
    /// Bytes of host memory of the whole tree at its peak; needs a memory cgroup.
    pub peak_memory: Option<u64>,
    /// How many of its processes the kernel ended for want of memory; needs a memory cgroup.
    pub oom_kills: Option<u64>,
    /// Bytes of the largest process there was.
    pub largest_process: u64,
    pub cpu_time: Span,
}

impl Hello {
    pub fn new(version: &str, session: SessionId, boot_id: Option<String>) -> Hello {
        Hello { protocol: PROTOCOL, version: version.to_owned(), session, boot_id }
    }

    pub fn is_compatible(&self) -> bool {
        self.protocol == PROTOCOL
    }
}

impl FromAgent {
    /// As the core hears it; `None` for what it need not hear.
    pub fn into_node_message(self) -> Option<NodeMessage> {
        match self {
            FromAgent::Hello(_) => None,
            FromAgent::Report(report) => Some(NodeMessage::Report(report)),
            FromAgent::Started { run, at, .. } => Some(NodeMessage::Started { run, at }),
            FromAgent::Ended { run, ending, .. } => Some(NodeMessage::Ended { run, ending }),
            FromAgent::Gpus(gpus) => Some(NodeMessage::Gpus(gpus)),
            FromAgent::Memory { free } => Some(NodeMessage::Memory { free }),
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
            StopOrder::Because(StopReason::PartFailed { .. }) => StopWhy::PartFailed,
        }
    }
}
