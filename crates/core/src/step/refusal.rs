//! Why a person's request was refused, with what to do about it.

use crate::model::ids::{NodeId, RunId, TaskId};
use crate::model::number::thousandths::Thousandths;
use crate::model::time::Span;
use crate::schedule::quota::Excess;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    #[error("there is no task {0}")]
    NoSuchTask(TaskId),
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    #[error("there is no node {0}")]
    NoSuchNode(NodeId),
    #[error("there is no GPU {index} on that node")]
    NoSuchGpu { index: u32 },
    #[error("a GPU has at least 1 slot and at most {most}")]
    BadSlots { most: u16 },
    #[error("a task that shares its GPU says how much of its memory it needs")]
    ShareWithoutMemory,
    #[error("the share of a GPU that is idle goes from 0 to 100 percent")]
    BadUtilization,
    #[error("there is no such user")]
    NoSuchUser,
    #[error("this account is locked")]
    Locked,
    #[error("admins cannot lock, remove or demote themselves")]
    Oneself,
    #[error("the {what} cannot be that")]
    BadText { what: &'static str },
    #[error("this needs the owner of the task or an admin")]
    NotPermitted,
    #[error("this needs an admin")]
    AdminOnly,
    #[error("task {task} is {state}: only a {wanted} task can be {verb}")]
    WrongState { task: TaskId, state: &'static str, wanted: &'static str, verb: &'static str },
    #[error("run {0} has ended")]
    RunEnded(RunId),
    #[error("the node of run {0} can be asked: cancel its task instead")]
    NodeReachable(RunId),
    #[error("{name} can be asked what it runs: nothing is lost there")]
    NodeHeard { name: String },
    #[error("{name} has been away for {}: what ran there may still be running", Span::from_secs(.away.0 / 1_000).in_words())]
    MayStillRun { name: String, away: Span },
    #[error("task {by} still waits for task {task}")]
    StillNeeded { task: TaskId, by: TaskId },
    #[error("{name} is taken")]
    NameTaken { name: String },
    #[error("a name is needed")]
    NameMissing,
    #[error("node {node} still has {runs} running")]
    NodeBusy { node: NodeId, runs: usize },
    #[error("no node can ever run this: it asks for {wanted}, the most there is: {most}")]
    Impossible { wanted: String, most: String, lacks: Option<Lack> },
    #[error("unknown {}: {name}", .kind.as_str())]
    UnknownName { kind: NameKind, name: String, nearest: Option<String> },
    #[error("this can never run: it asks for {wanted}, {}", as_many(*.nodes))]
    TooFewNodes { wanted: String, asked: u32, each: u32, nodes: usize },
    #[error("{gpus} GPUs cannot be divided equally among {nodes} nodes")]
    UnequalNodes { nodes: u32, gpus: u32 },
    #[error("a task on {nodes} nodes cannot name one node, nor GPUs by their numbers")]
    GangNamesOne { nodes: u32 },
    #[error("too many {what}: at most {limit}")]
    TooMany { what: &'static str, limit: usize },
    #[error("the {what} is too long: at most {limit} bytes")]
    TooLong { what: &'static str, limit: usize },
    #[error("the {what} has control characters")]
    ControlCharacter { what: &'static str },
    #[error("a variable cannot be called `{name}`")]
    BadVariable { name: String },
    #[error("a time limit is more than nothing and at most ten years")]
    BadTimeLimit,
    #[error("task {0} has no time limit")]
    NoTimeLimit(TaskId),
    #[error("an owner may add {} in all to the limit of a task", .0.in_words())]
    ExtendedTooFar(Span),
    #[error("a priority below 5, or `urgent`, passes everybody: this needs an admin")]
    PassesEverybody,
    #[error("a {what} is a number between {least} and {most}")]
    OutOfRange { what: &'static str, least: Thousandths, most: Thousandths },
    #[error("over quota: {0}")]
    OverQuota(Excess),
    #[error("the logs of user {user} take {} of at most {}", in_bytes(*.kept), in_bytes(*.most))]
    LogsFull { user: String, kept: u64, most: u64 },
    #[error("the key was used before with another task description")]
    KeyReused,
    #[error("tasks may not wait for each other in a circle: {0} would wait for itself")]
    Circle(TaskId),
    #[error("there is no room for task {0} now")]
    NoRoom(TaskId),
    #[error("an array is submitted or edited as a whole, with at least one index and none twice")]
    BadArray,
    #[error("`{name}` cannot be varied: {why}")]
    BadAxis { name: String, why: &'static str },
    #[error("the command is empty")]
    EmptyCommand,
    #[error(
        "run {run} of task {task} goes on on node {node}, from before the store was lost or restored"
    )]
    RunsUnknown { task: TaskId, run: RunId, node: String },
    #[error("node {name} has no unknown runs")]
    NoUnknownRuns { name: String },
    #[error("the epoch of the store cannot go back")]
    EpochGoesBack,
}

/// In the largest unit that there is at least one of.
pub fn in_bytes(bytes: u64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = units.into_iter().find(|(_, power)| bytes >> power > 0);
    unit.map_or_else(
        || format!("{bytes} bytes"),
        |(name, power)| format!("{:.1} {name}", bytes as f64 / (1_u64 << power) as f64),
    )
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
}

impl NameKind {
    pub fn as_str(self) -> &'static str {
        match self {
            NameKind::Node => "node",
            NameKind::Label => "label",
            NameKind::Resource => "resource",
        }
    }
}

fn as_many(nodes: usize) -> String {
    match nodes {
        0 => "no node has as many".to_owned(),
        1 => "1 node has as many".to_owned(),
        nodes => format!("{nodes} nodes have as many"),
    }
}

impl Refusal {
    /// What to type or change next.
    pub fn hint(&self) -> &'static str {
        use Refusal::*;
        match self {
            NoSuchTask(_) => "danlu ls -a lists the tasks",
            NoSuchRun(_) | RunEnded(_) => "danlu show ID lists the runs of a task",
            NoSuchNode(_) => "danlu nodes lists the nodes",
            NoSuchGpu { .. } => "danlu gpus lists the GPUs by their numbers",
            BadSlots { .. } => "for example danlu gpu slots 0=2",
            ShareWithoutMemory => "for example --shared --vram 20G, on at least one GPU",
            BadUtilization => "for example --idle-util 50",
            NoSuchUser => "danlu user list lists the users",
            Locked => "ask an administrator",
            Oneself => "another administrator can",
            BadText { what: "language" } => "en or zh",
            BadText { what: "email" } => "an address such as ann@lab.example",
            BadText { what: "name" } => "letters, digits and - _ . @ without spaces",
            BadText { .. } => "see danlu user --help",
            NotPermitted | AdminOnly => "ask the owner or an administrator",
            WrongState { .. } => "danlu show ID tells the state of a task",
            NodeHeard { .. } => "danlu cancel ID ends a task there",
            MayStillRun { .. } => {
                "--force declares them failed all the same: whoever still writes there then writes twice"
            }
            NodeReachable(_) => "danlu cancel ID ends a task wherever it can be reached",
            StillNeeded { .. } => "cancel or release the waiting task first",
            NameTaken { .. } | NameMissing => "choose another name",
            NodeBusy { .. } => "drain it first: danlu node drain NAME",
            UnknownName { .. } => "danlu nodes lists the nodes",
            Impossible { .. } | TooFewNodes { .. } => "danlu gpus shows what there is",
            UnequalNodes { .. } => "--gpus counts on each node: --nodes 2 --gpus 4 is 8 in all",
            GangNamesOne { .. } => "choose nodes by a label: --node KEY=VALUE",
            TooMany { what: "GPUs", .. } => "danlu gpus shows what there is",
            TooMany { what: "open tasks", .. } => "wait for some to end",
            TooMany { .. } => "ask for less",
            TooLong { .. } => "shorten it",
            ControlCharacter { .. } => "leave them out: one line of plain text",
            BadVariable { .. } => "names are not empty and have no `=`: --env NAME=VALUE",
            BadTimeLimit => "for example -t 90m, -t 2h, -t 1-12:00:00",
            NoTimeLimit(_) => "it runs until it ends by itself",
            ExtendedTooFar(_) => "ask an administrator for more",
            PassesEverybody => "leave the priority at 5 or above, or ask an administrator",
            OutOfRange { .. } => "with at most three decimal places, such as 0.5",
            OverQuota(_) => "wait for some to end, ask for less, or ask an administrator",
            LogsFull { .. } => "remove ended tasks with their logs: danlu rm ID",
            KeyReused => "use a new key for a new task",
            Circle(_) => "leave that dependency out",
            NoRoom(_) => "danlu why ID tells what holds its GPUs",
            BadArray => "for example --array 0-99%4",
            BadAxis { .. } => "for example --grid lr=1e-3,1e-4 --grid seed=0..4",
            EmptyCommand => "danlu submit -- COMMAND",
            RunsUnknown { .. } => {
                "wait for its end, or have an administrator end it: danlu node end-unknown NODE"
            }
            NoUnknownRuns { .. } => "danlu nodes lists the nodes",
            EpochGoesBack => "restore with danlu's own restore command",
        }
    }
}
