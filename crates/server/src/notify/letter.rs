//! What a message says, as values: stored in the outbox and worded when it is sent, in the recipient's language.

use super::monthly::MonthlyFacts;
use crate::api::part_gpu_ids;
use crate::read_model::ReadModel;
use danlu_core::failure::Failure;
use danlu_core::idle::IdleKind;
use danlu_core::run::{Exit, RunState, RunUsage};
use danlu_core::task::Outcome;
use danlu_core::{FailureClass, Run, RunId, Task, TaskId, Time};
use danlu_wire::api::TaskStateName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Letter {
    /// When it happened.
    pub(crate) at: Time,
    pub(crate) matter: Matter,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Matter {
    Task { news: TaskNews, task: Box<TaskFacts> },
    Digest(Box<DigestFacts>),
    Monthly(Box<MonthlyFacts>),
    Announcement { text: String },
    GpuQuarantined { node: String, gpu: u32, model: String, why: String, tasks: Vec<u64> },
    NodeLost { node: String, tasks: Vec<u64> },
    Quota { used: u64, most: u64 },
    GpusFree { wanted: String, free: Vec<(String, Vec<u32>)> },
    ForeignProcess { facts: Box<ForeignFacts>, yours: bool },
    Dropped { count: u64 },
    Test { user: String },
}

/// A process that Danlu did not start, on a GPU that a task has for itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ForeignFacts {
    pub(crate) node: String,
    pub(crate) gpu: u32,
    pub(crate) pid: u32,
    /// Empty where that is not for the reader.
    pub(crate) user: String,
    pub(crate) command: String,
    pub(crate) task: TaskId,
    pub(crate) owner: Option<String>,
}

/// What has become of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TaskNews {
    Started,
    Ended,
    Requeued { why: RequeuedFor },
    Lost { node: String },
    Expiring { ends_at: Time },
    InDoubt,
    Idle { since: Time, kind: IdleKind, stops: Option<IdleStop> },
}

/// What is done without an answer, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IdleStop {
    pub(crate) at: Time,
    pub(crate) requeue: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequeuedFor {
    Failure,
    Loss,
    Preemption,
    Request,
    Idle,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TaskFacts {
    pub(crate) id: TaskId,
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) command: String,
    pub(crate) state: TaskStateName,
    pub(crate) nodes: Vec<String>,
    pub(crate) gpus: Vec<u32>,
    pub(crate) attempt: u32,
    pub(crate) array: Option<TaskId>,
    pub(crate) index: Option<u32>,
    pub(crate) submitted_at: Time,
    pub(crate) started_at: Option<Time>,
    pub(crate) ended_at: Option<Time>,
    pub(crate) exit: Option<Exit>,
    pub(crate) failure: Option<Failure>,
    #[serde(default, skip_serializing_if = "RunUsage::is_nothing")]
    pub(crate) used: RunUsage,
    /// Whose last lines are of interest.
    pub(crate) log: Option<RunId>,
}

/// Many messages in one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DigestFacts {
    pub(crate) array: Option<TaskId>,
    pub(crate) name: String,
    /// How many of each: the name of a state, or `started`, `requeued`, `other`.
    pub(crate) counts: BTreeMap<String, u64>,
    pub(crate) first_task: TaskId,
    pub(crate) last_task: TaskId,
    pub(crate) failures: Vec<TaskFacts>,
    pub(crate) since: Time,
}

/// Of a command: enough to know it by.
const COMMAND_CHARS: usize = 300;

impl TaskFacts {
    pub(crate) fn of(model: &ReadModel, task: &Task, run: Option<&Run>) -> TaskFacts {
        let user = model.users.get(&task.owner).map_or_else(String::new, |user| user.name.clone());
        let parts = run.into_iter().flat_map(|run| &run.parts);
        let name = |node| model.nodes.get(node).map(|node| node.name.clone());
        let (exit, failure) = match run.map(|run| &run.state) {
            Some(RunState::Ended { exit, failure, .. }) => (Some(exit.clone()), failure.clone()),
            Some(
                RunState::Starting
                | RunState::Running { .. }
                | RunState::Paused { .. }
                | RunState::Stopping { .. },
            )
            | None => (None, None),
        };
        let started = parts.clone().filter_map(|part| part.started_at).min();
        let failed = failure.is_some() || exit.as_ref().is_some_and(|exit| !exit.is_success());
        TaskFacts {
            id: task.id,
            name: task.spec.name.clone(),
            user,
            command: task.spec.command.join(" ").chars().take(COMMAND_CHARS).collect(),
            state: crate::api::view::state_name(model, task.id),
            nodes: parts.clone().filter_map(|part| name(&part.node)).collect(),
            gpus: parts.flat_map(|part| part_gpu_ids(model, part)).collect(),
            attempt: run.map_or(task.trail().attempts, |run| run.attempt),
            array: task.array.map(|element| element.first),
            index: task.array.map(|element| element.index),
            submitted_at: task.submitted_at,
            started_at: started,
            ended_at: task.ended_at(),
            exit,
            failure,
            used: run.map(|run| run.used).unwrap_or_default(),
            log: run.filter(|_| failed).map(|run| run.id),
        }
    }

    pub(crate) fn class(&self) -> Option<FailureClass> {
        self.failure.as_ref().map(|failure| failure.class)
    }
}

/// How an outcome is called.
pub(crate) fn state_of(outcome: &Outcome) -> TaskStateName {
    match outcome {
        Outcome::Succeeded => TaskStateName::Succeeded,
        Outcome::Failed { .. } | Outcome::GaveUp { .. } | Outcome::LaunchError { .. } => {
            TaskStateName::Failed
        }
        Outcome::Cancelled { .. } | Outcome::DependencyFailed { .. } => TaskStateName::Cancelled,
        Outcome::TimedOut => TaskStateName::TimedOut,
    }
}

impl Letter {
    /// In webhooks and lists.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.matter {
            Matter::Task { news, .. } => match news {
                TaskNews::Started => "start",
                TaskNews::Ended => "end",
                TaskNews::Requeued { .. } => "requeue",
                TaskNews::Lost { .. } => "lost",
                TaskNews::Expiring { .. } => "expiring",
                TaskNews::InDoubt => "in_doubt",
                TaskNews::Idle { stops: None, .. } => "idle",
                TaskNews::Idle { stops: Some(_), .. } => "idle_asked",
            },
            Matter::Digest(_) => "digest",
            Matter::Monthly(_) => "monthly",
            Matter::Announcement { .. } => "announcement",
            Matter::GpuQuarantined { .. } => "gpu_quarantined",
            Matter::NodeLost { .. } => "node_lost",
            Matter::Quota { .. } => "quota",
            Matter::GpusFree { .. } => "gpus_free",
            Matter::ForeignProcess { .. } => "foreign_process",
            Matter::Dropped { .. } => "dropped",
            Matter::Test { .. } => "test",
        }
    }

    pub(crate) fn task(&self) -> Option<&TaskFacts> {
        match &self.matter {
            Matter::Task { task, .. } => Some(task),
            Matter::Digest(_)
            | Matter::Monthly(_)
            | Matter::Announcement { .. }
            | Matter::GpuQuarantined { .. }
            | Matter::NodeLost { .. }
            | Matter::Quota { .. }
            | Matter::GpusFree { .. }
            | Matter::ForeignProcess { .. }
            | Matter::Dropped { .. }
            | Matter::Test { .. } => None,
        }
    }

    /// Messages about the same thing reach a target in their order.
    pub(crate) fn subject(&self) -> String {
        self.task().map_or_else(|| "-".to_owned(), |task| task.id.to_string())
    }
}
