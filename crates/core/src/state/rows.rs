//! The state as a store keeps it: rows by key. Everything else is derived from them.

use crate::model::ids::{Epoch, NodeId, RunId, SpecId, TaskId, UserId};
use crate::model::node::Node;
use crate::model::past_work::PastWork;
use crate::model::run::{LogRemoval, Run};
use crate::model::settings::Settings;
use crate::model::task::{Task, TaskSpec};
use crate::model::time::Time;
use crate::model::user::User;
use crate::schedule::quota::Spent;
use crate::state::growing::Growing;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    Ledger,
    User(UserId),
    Node(NodeId),
    Spec(SpecId),
    Task(TaskId),
    Run(RunId),
    LogRemoval(RunId),
    PastWork(UserId),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    Ledger(Box<Ledger>),
    User(User),
    Node(Node),
    Spec { id: SpecId, spec: Arc<TaskSpec> },
    Task(Arc<Task>),
    Run(Arc<Run>),
    LogRemoval(LogRemoval),
    PastWork(Arc<PastWork>),
}

/// The one row that is not part of a list: settings, and the next ids to assign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    pub epoch: Epoch,
    pub next_task: TaskId,
    pub next_spec: SpecId,
    pub next_run: u64,
    pub next_node: NodeId,
    pub next_user: UserId,
    pub settings: Settings,
    /// GPU time of projects that may have only so much of it.
    #[serde(default)]
    pub projects: BTreeMap<String, Spent>,
    /// Arrays whose elements are not all there yet, by the id of the first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub growing: BTreeMap<TaskId, Growing>,
    /// Since when nodes can be heard.
    #[serde(default)]
    pub booted_at: Time,
}

impl Default for Ledger {
    fn default() -> Self {
        Ledger {
            epoch: Epoch(0),
            next_task: TaskId(1),
            next_spec: SpecId(1),
            next_run: 1,
            next_node: NodeId(1),
            next_user: UserId(1),
            settings: Settings::default(),
            projects: BTreeMap::new(),
            growing: BTreeMap::new(),
            booted_at: Time::default(),
        }
    }
}

impl Row {
    pub fn key(&self) -> RowKey {
        match self {
            Row::Ledger(_) => RowKey::Ledger,
            Row::User(user) => RowKey::User(user.id),
            Row::Node(node) => RowKey::Node(node.id),
            Row::Spec { id, .. } => RowKey::Spec(*id),
            Row::Task(task) => RowKey::Task(task.id),
            Row::Run(run) => RowKey::Run(run.id),
            Row::LogRemoval(removal) => RowKey::LogRemoval(removal.run),
            Row::PastWork(past) => RowKey::PastWork(past.user),
        }
    }
}
