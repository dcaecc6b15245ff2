//! What the daemon has durably recorded and answered. A restored backup rewinds it.

use super::Oracle;
use super::border::{StoredTask, past_work_is_counted};
use super::idle_rule::IdleFact;
use super::retries::Wait;
use super::sharing::GpuFacts;
use crate::chaos::disk::Disk;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::run::Exit;
use danlu_core::task::{DependencyKind, Outcome, TaskSpec};
use danlu_core::{Event, NodeId, Row, RowKey, RunId, Settings, Span, TaskId, UserId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Debug, Clone, Default)]
pub(in crate::chaos) struct Record {
    pub(super) tasks: BTreeMap<TaskId, TaskFact>,
    pub(super) keys: BTreeMap<(UserId, String), TaskId>,
    pub(super) runs: BTreeMap<RunId, RunFact>,
    pub(super) drained: BTreeSet<NodeId>,
    pub(super) admins: BTreeSet<UserId>,
    pub(super) nodes: BTreeMap<NodeId, NodeFact>,
    pub(super) settings: Settings,
    pub(super) gpus: GpuFacts,
    /// Runs of removed tasks, with the nodes that had a part of them.
    pub(super) removed: BTreeSet<(RunId, NodeId)>,
}

#[derive(Debug, Clone)]
pub(super) struct NodeFact {
    pub(super) machine: usize,
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) resources: BTreeMap<String, u32>,
}

#[derive(Debug, Clone)]
pub(super) struct TaskFact {
    pub(super) owner: UserId,
    pub(super) key: Option<String>,
    pub(super) submitted: Arc<TaskSpec>,
    /// As it was last edited.
    pub(super) spec: Arc<TaskSpec>,
    /// The first element of the array it belongs to.
    pub(super) array: Option<TaskId>,
    pub(super) held: bool,
    pub(super) cancelled: bool,
    /// The run that went on when it was.
    pub(super) cancelled_run: Option<RunId>,
    /// A user has requeued it.
    pub(super) put_back: bool,
    pub(super) outcome: Option<Outcome>,
    /// A run of it has exited 0 by itself, and no retry was requested since.
    pub(super) succeeded: bool,
    /// Predecessors that have allowed it to run.
    pub(super) released: BTreeSet<TaskId>,
    pub(super) last_run: Option<RunId>,
    /// How often it was retried after a failure, since it was last submitted or retried by hand.
    pub(super) failures: u32,
    /// Granted beyond its time limit.
    pub(super) extra_time: Span,
    /// It is not to be launched before.
    pub(super) waits: Option<Wait>,
}

#[derive(Debug, Clone)]
pub(super) struct RunFact {
    pub(super) task: TaskId,
    pub(super) ended: Option<Exit>,
    pub(super) abandoned: bool,
    pub(super) paused: bool,
    pub(super) idle: IdleFact,
    /// Where it was told to have started.
    pub(super) began: BTreeSet<NodeId>,
    /// By node: the machine, and whether its end there was recorded.
    pub(super) parts: BTreeMap<NodeId, (usize, bool)>,
}

impl TaskFact {
    pub(super) fn new(
        owner: UserId,
        key: Option<&String>,
        spec: &Arc<TaskSpec>,
        array: Option<TaskId>,
    ) -> TaskFact {
        TaskFact {
            owner,
            key: key.cloned(),
            submitted: Arc::clone(spec),
            spec: Arc::clone(spec),
            array,
            held: spec.hold,
            cancelled: false,
            cancelled_run: None,
            put_back: false,
            outcome: None,
            succeeded: false,
            released: BTreeSet::new(),
            last_run: None,
            failures: 0,
            extra_time: Span::ZERO,
            waits: None,
        }
    }

    pub(super) fn limit(&self) -> Option<Span> {
        self.spec.time_limit.map(|limit| limit + self.extra_time)
    }

    /// A predecessor has ended; it may be named several times, and each has its say.
    pub(super) fn release(&mut self, id: TaskId, outcome: &Outcome) {
        let mut after = self.spec.after.iter().filter(|after| after.task == id).peekable();
        if after.peek().is_some() && after.all(|after| allows(after.kind, outcome)) {
            self.released.insert(id);
        }
    }
}

impl RunFact {
    pub(super) fn part_ended(&self, node: NodeId) -> bool {
        self.parts.get(&node).is_none_or(|(_, ended)| *ended)
    }
}

impl Record {
    pub(in crate::chaos) fn task_count(&self) -> usize {
        self.tasks.len()
    }

    /// An acknowledged task, node or user exists: this is the whole promise.
    pub(super) fn agrees_with<'a>(
        &self,
        disk: &Disk,
        events: impl Iterator<Item = &'a Event>,
    ) -> Verdict {
        for key in events.flat_map(Event::rows) {
            if let RowKey::Task(id) = key {
                self.task_agrees(disk, id)?;
            }
        }
        past_work_is_counted(disk)
    }

    pub(super) fn task_agrees(&self, disk: &Disk, id: TaskId) -> Verdict {
        let stored = StoredTask::find(disk, id);
        match (self.tasks.get(&id), stored) {
            (None, None) => {}
            (Some(_), None) => {
                let to_come = match disk.tables.rows.get(&RowKey::Ledger) {
                    Some(Row::Ledger(ledger)) => ledger.to_come(id).is_some(),
                    _ => false,
                };
                ensure!(to_come, "task {id} was acknowledged and is gone");
            }
            (None, Some(_)) => ensure!(false, "task {id} is on disk and nobody submitted it"),
            (Some(fact), Some(StoredTask { task, spec, runs })) => {
                let same = spec == Some(&fact.spec)
                    && fact.key.as_deref() == task.key.as_deref()
                    && fact.owner == task.owner;
                ensure!(same, "task {id} on disk is not what was submitted");
                let (said, found) = (fact.outcome.as_ref(), task.outcome());
                ensure!(said == found, "task {id} was said to be {said:?}, on disk is {found:?}");
                self.runs_agree(id, &runs)?;
            }
        }
        Ok(())
    }
}

impl Oracle {
    pub(in crate::chaos) fn is_gang(&self, id: TaskId) -> bool {
        self.record.tasks.get(&id).is_some_and(|fact| fact.spec.request.is_gang())
    }

    /// Before the daemon reads its store: all that it ever promised is there.
    pub(in crate::chaos) fn disk_is_complete(&self, disk: &Disk) -> Verdict {
        for id in self.record.tasks.keys() {
            self.record.task_agrees(disk, *id)?;
        }
        let live = disk.tables.rows.keys().filter_map(|key| match key {
            RowKey::Task(id) => Some(*id),
            _ => None,
        });
        for id in live.chain(disk.tables.history.keys().copied()) {
            self.record.task_agrees(disk, id)?;
        }
        past_work_is_counted(disk)
    }
}

pub(super) fn allows(kind: DependencyKind, outcome: &Outcome) -> bool {
    match kind {
        DependencyKind::AfterOk => *outcome == Outcome::Succeeded,
        DependencyKind::AfterAny => true,
        DependencyKind::AfterNotOk => *outcome != Outcome::Succeeded,
    }
}
