//! Why a person's request was refused. Values only: `messages` has the sentences and hints.

use crate::model::ids::{NodeId, RunId, TaskId};
use crate::model::number::thousandths::Thousandths;
use crate::model::resources::Request;
use crate::model::time::Span;
use crate::schedule::quota::Excess;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    NoSuchTask(TaskId),
    NoSuchRun(RunId),
    NoSuchNode(NodeId),
    NoSuchGpu {
        index: u32,
    },
    NoSuchUser,
    /// The number of slots of a GPU is not between 1 and `most`.
    BadSlots {
        most: u16,
    },
    ShareWithoutMemory,
    /// A percentage above 100.
    BadUtilization,
    Locked,
    /// Administrators cannot lock, remove or demote themselves.
    Oneself,
    BadUserName,
    BadEmail,
    BadLanguage,
    /// Only the owner of the task and administrators may do this.
    NotPermitted,
    AdminOnly,
    WrongState {
        task: TaskId,
        state: TaskStage,
        act: TaskAct,
    },
    RunEnded(RunId),
    /// Nothing is lost while the node of the run is connected.
    NodeReachable(RunId),
    NodeHeard {
        name: String,
    },
    MayStillRun {
        name: String,
        away: Span,
    },
    StillNeeded {
        task: TaskId,
        by: TaskId,
    },
    NameTaken {
        name: String,
    },
    NameMissing,
    NodeBusy {
        node: NodeId,
        runs: usize,
    },
    /// No known node could ever run it.
    Impossible {
        wanted: Box<Request>,
        most: Largest,
        lacks: Option<Lack>,
    },
    UnknownName {
        kind: NameKind,
        name: String,
        nearest: Option<String>,
    },
    /// Only `nodes` nodes could ever run a part of it.
    TooFewNodes {
        wanted: Box<Request>,
        nodes: usize,
    },
    UnequalNodes {
        nodes: u32,
        gpus: u32,
    },
    GangNamesOne {
        nodes: u32,
    },
    TooMany {
        what: Counted,
        limit: usize,
    },
    TooLong {
        what: TextField,
        /// In bytes.
        limit: usize,
    },
    ControlCharacter {
        what: TextField,
    },
    BadVariable {
        name: String,
    },
    BadTimeLimit,
    NoTimeLimit(TaskId),
    /// An owner may add at most this much to the limit of a task.
    ExtendedTooFar(Span),
    /// An owner may keep idle GPUs for at most this long.
    KeptTooLong(Span),
    /// Nothing is to be done about it: it is in use, kept, not running, or there is no such rule.
    NotIdle(RunId),
    /// Of the rule for idle GPUs: told before asked, asked before stopped.
    IdleOrder,
    /// A priority that only administrators may give.
    PassesEverybody,
    OutOfRange {
        what: Share,
        least: Thousandths,
        most: Thousandths,
    },
    OverQuota(Excess),
    /// In bytes.
    LogsFull {
        user: String,
        kept: u64,
        most: u64,
    },
    KeyReused,
    /// It would wait for itself.
    Circle(TaskId),
    NoRoom(TaskId),
    BadArray,
    BadAxis {
        name: String,
        why: AxisProblem,
    },
    EmptyCommand,
    /// A run from before the store was lost or restored goes on.
    RunsUnknown {
        task: TaskId,
        run: RunId,
        node: String,
    },
    NoUnknownRuns {
        name: String,
    },
    EpochGoesBack,
}

/// The state of a task, without what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskStage {
    Held,
    Blocked,
    Queued,
    Active,
    Finished,
}

/// What somebody wanted to do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAct {
    Cancel,
    Requeue,
    Hold,
    Release,
    Retry,
    Remove,
    Move,
    Pause,
    Resume,
    Extend,
    Keep,
    Edit,
    Start,
}

/// A text with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextField {
    Name,
    Description,
    Project,
    Label,
    Key,
    Command,
    NodeName,
    NodeLabel,
    GpuModel,
    ResourceName,
    SweepName,
    SweepValue,
    Path,
    GpuArgument,
    Shell,
    PythonEnvironment,
    Variable,
    /// All of them together.
    Variables,
    Announcement,
    Group,
    OsUser,
    Email,
    Language,
    Template,
    NotifyTarget,
}

/// Things that there may be only so many of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    Gpus,
    GpuNumbers,
    /// That one task runs on.
    NodesOfTask,
    /// That there are.
    Nodes,
    Retries,
    NamedResources,
    SweepNames,
    Combinations,
    Labels,
    ArrayTasks,
    OpenTasks,
    Dependencies,
    Users,
    Groups,
    UserQuotas,
    ProjectQuotas,
    /// Users, projects or labels that a rule is not for.
    Exempt,
    /// That stay in memory.
    RecentTasks,
    NotifyRules,
}

/// What decides whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    Priority,
    Weight,
}

/// Why a name cannot be varied in a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AxisProblem {
    /// Letters, digits, `_`, `-` and `.` only.
    BadCharacter,
    Taken,
    NoValues,
}

/// The most that there is, of each thing by itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Largest {
    /// On one node, like all others but the next.
    pub gpus: u32,
    pub gpus_in_all: u32,
    pub cpus: u32,
    /// In bytes.
    pub memory: u64,
    /// Those that were asked for.
    pub resources: BTreeMap<String, u32>,
}

/// What no node has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// So many GPUs on one node; those with most have `most`.
    Gpus {
        wanted: u32,
        most: u32,
        /// How many nodes have as many.
        equal: usize,
        /// The first of them.
        largest: Vec<SizedNode>,
    },
    /// A GPU of this model; some models that there are.
    Model { model: String, there_are: Vec<String> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizedNode {
    pub name: String,
    pub gpus: u32,
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameKind {
    Node,
    Label,
    Resource,
    /// Over which people are told.
    Channel,
}
