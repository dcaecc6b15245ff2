//! A run: one attempt of a task, on one node or on several at once.

use crate::model::failure::Failure;
use crate::model::idle::{IdleKind, IdleTrail};
use crate::model::ids::{GpuId, NodeId, RunId, SessionId, TaskId, UserId};
use crate::model::task::Canceller;
use crate::model::time::{Span, Time};
use crate::model::trouble::Trouble;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    pub id: RunId,
    pub task: TaskId,
    pub attempt: u32,
    pub launched_at: Time,
    /// When it is expected to end; `None` if unknown.
    pub expected_end_at: Option<Time>,
    pub parts: Vec<RunPart>,
    pub state: RunState,
    /// The most bytes it was seen to use of a GPU, known when a part has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_gpu_memory: Option<u64>,
    /// Of its parts that have ended.
    #[serde(default, skip_serializing_if = "RunUsage::is_nothing")]
    pub used: RunUsage,
    #[serde(default, skip_serializing_if = "IdleTrail::is_nothing")]
    pub idle: IdleTrail,
}

/// Resources that a run has used and the log it has left, as far as its machine could measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunUsage {
    /// Bytes of host memory of the whole tree at its peak; needs a memory cgroup.
    pub peak_memory: Option<u64>,
    /// How many of its processes the kernel's OOM killer ended; needs a memory cgroup.
    pub oom_kills: Option<u64>,
    /// Bytes of the largest process there was.
    pub largest_process: u64,
    pub cpu_time: Span,
    /// Bytes of the log that the machine keeps; a file that the user has named is not counted.
    pub log_bytes: u64,
}

/// A run is *lost* while one of its nodes is unreachable: that follows from the node and is not stored here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Not every part is known to have started.
    Starting,
    Running {
        since: Time,
    },
    /// Every process of it is frozen; it keeps its GPUs.
    Paused {
        since: Time,
    },
    /// Asked to stop; its GPUs are still in use.
    Stopping {
        why: StopReason,
        deadline: Time,
    },
    Ended {
        exit: Exit,
        /// Why, if it failed or was stopped for others.
        #[serde(default)]
        failure: Option<Failure>,
        at: Time,
    },
}

/// What a run does on one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPart {
    pub node: NodeId,
    pub gpus: Vec<GpuId>,
    /// By the node's clock.
    pub started_at: Option<Time>,
    pub state: PartState,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartState {
    /// The launch is bound to this connection: when it is gone and the node reports no such run,
    /// the run never started and never will.
    Launching {
        session: SessionId,
    },
    Alive {
        since: Time,
    },
    Ended {
        exit: Exit,
        /// The shim had begun to stop it: the exit is not the command's own will.
        stopped: bool,
        #[serde(default)]
        failure: Option<Failure>,
        at: Time,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    Cancelled {
        by: Canceller,
    },
    Preempted,
    /// To be started again later.
    Requeued,
    /// It held GPUs and did not use them; to be started again later, or not.
    Idle {
        kind: IdleKind,
        since: Time,
        requeue: bool,
    },
    /// The part on this node ended badly, so the others must end too.
    PartFailed {
        node: NodeId,
    },
}

/// How a run, or a part of it, came to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
    /// The command could not be started.
    Launch {
        message: String,
    },
    /// The launch never reached the node, or was dropped there. Nothing ran.
    NeverStarted,
    /// It ran, and left no result: the machine went down or its shim was killed.
    Vanished {
        rebooted: bool,
    },
    /// A user abandoned it while its node was unreachable.
    Abandoned,
    /// The machine could not start it, for a reason that is not the task's. Nothing ran: the task is queued again,
    /// and the machine gets no new work until it reports that it is fit.
    Trouble(Trouble),
    /// Its node no longer has a record of it: it may have ended by itself, in an unknown way. It is not run again
    /// before it is released.
    NoRecord,
}

/// What a node says when a run has ended there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub exit: Exit,
    pub stopped: bool,
    /// What the node has found out about a failure.
    #[serde(default)]
    pub failure: Option<Failure>,
    pub started_at: Option<Time>,
    pub ended_at: Time,
    #[serde(default, skip_serializing_if = "RunUsage::is_nothing")]
    pub used: RunUsage,
}

/// What a node reports of one run directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReport {
    pub run: RunId,
    pub state: ReportedState,
    /// Its task; `None` if the agent does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The GPUs it was given. Says nothing where `task` is `None`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedState {
    Alive {
        since: Time,
        paused: bool,
        /// The time limit it was last sent, if different from the one at its start.
        #[serde(default)]
        limit: Option<Span>,
    },
    Ended(Ending),
}

/// The log of a run whose task was removed, until every machine that it ran on has deleted it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogRemoval {
    pub run: RunId,
    pub owner: UserId,
    /// Those that have not said so yet.
    pub nodes: BTreeSet<NodeId>,
}

impl Ending {
    /// Of its own will, and nothing more is known.
    pub fn new(exit: Exit, ended_at: Time) -> Ending {
        let used = RunUsage::default();
        Ending { exit, stopped: false, failure: None, started_at: None, ended_at, used }
    }
}

impl RunUsage {
    pub fn is_nothing(&self) -> bool {
        *self == RunUsage::default()
    }

    /// Bytes of host memory at its peak: of the whole tree where that is known, else of its largest process.
    pub fn memory(&self) -> Option<u64> {
        self.peak_memory.or((self.largest_process > 0).then_some(self.largest_process))
    }

    /// Of two machines together: sums, and the peak of the one that had the higher.
    #[must_use]
    pub fn plus(self, other: RunUsage) -> RunUsage {
        RunUsage {
            peak_memory: self.peak_memory.max(other.peak_memory),
            oom_kills: match (self.oom_kills, other.oom_kills) {
                (Some(ours), Some(theirs)) => Some(ours.saturating_add(theirs)),
                (ours, theirs) => ours.or(theirs),
            },
            largest_process: self.largest_process.max(other.largest_process),
            cpu_time: self.cpu_time + other.cpu_time,
            log_bytes: self.log_bytes.saturating_add(other.log_bytes),
        }
    }
}

impl RunReport {
    /// A report of an old agent, with nothing but the state.
    pub fn new(run: RunId, state: ReportedState) -> RunReport {
        RunReport { run, state, task: None, gpus: Vec::new() }
    }
}

impl Run {
    pub fn is_ended(&self) -> bool {
        matches!(self.state, RunState::Ended { .. })
    }

    pub fn is_stopping(&self) -> bool {
        matches!(self.state, RunState::Stopping { .. })
    }

    /// Since when its work counts: the start where it is known, else the launch.
    pub fn since(&self) -> Time {
        match self.state {
            RunState::Running { since } => since,
            RunState::Starting
            | RunState::Paused { .. }
            | RunState::Stopping { .. }
            | RunState::Ended { .. } => self.launched_at,
        }
    }

    /// When its GPUs are expected to be released.
    pub fn release_at(&self) -> Option<Time> {
        match self.state {
            RunState::Stopping { deadline, .. } => Some(deadline),
            RunState::Starting
            | RunState::Running { .. }
            | RunState::Paused { .. }
            | RunState::Ended { .. } => self.expected_end_at,
        }
    }

    pub fn part_on(&self, node: NodeId) -> Option<&RunPart> {
        self.parts.iter().find(|part| part.node == node)
    }

    pub fn gpu_count(&self) -> u32 {
        let count: usize = self.parts.iter().map(|part| part.gpus.len()).sum();
        u32::try_from(count).expect("a run has at most GPUS_PER_TASK GPUs")
    }
}

impl RunPart {
    pub fn is_ended(&self) -> bool {
        matches!(self.state, PartState::Ended { .. })
    }
}

impl Exit {
    pub fn is_success(&self) -> bool {
        *self == Exit::Code(0)
    }

    /// What the command itself has ended with.
    pub fn code(&self) -> Option<i32> {
        match self {
            Exit::Code(code) => Some(*code),
            Exit::Signal(_)
            | Exit::TimedOut
            | Exit::Launch { .. }
            | Exit::NeverStarted
            | Exit::Vanished { .. }
            | Exit::Abandoned
            | Exit::Trouble(_)
            | Exit::NoRecord => None,
        }
    }
}

/// How long a stopped run may take beyond its grace period before it counts as overdue.
pub(crate) const STOP_SLACK: Span = Span::from_secs(5);
