//! No ended task is lost, doubled or changed on its way into the history and back.

use super::Oracle;
use super::record::Record;
use crate::chaos::disk::Disk;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::run::RunState;
use danlu_core::task::TaskSpec;
use danlu_core::{Row, RowKey, Run, RunId, Task, TaskId, UserId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A task as whoever reads the store finds it: its rows count, and the history if it has none.
pub(super) struct StoredTask<'a> {
    pub(super) task: &'a Task,
    pub(super) spec: Option<&'a Arc<TaskSpec>>,
    pub(super) runs: Vec<&'a Arc<Run>>,
}

impl StoredTask<'_> {
    pub(super) fn find(disk: &Disk, id: TaskId) -> Option<StoredTask<'_>> {
        let tables = &disk.tables;
        let Some(Row::Task(task)) = tables.rows.get(&RowKey::Task(id)) else {
            let retired = tables.history.get(&id)?;
            let (task, runs) = (&retired.task, retired.runs.iter().collect());
            return Some(StoredTask { task, spec: Some(&task.spec), runs });
        };
        let spec = match tables.rows.get(&RowKey::Spec(task.spec_id)) {
            Some(Row::Spec { spec, .. }) => Some(spec),
            _ => None,
        };
        let runs = tables.rows.range(RowKey::Run(RunId::FIRST)..);
        let runs = runs.filter_map(|(_, row)| match row {
            Row::Run(run) if run.task == id => Some(run),
            _ => None,
        });
        Some(StoredTask { task, spec, runs: runs.collect() })
    }
}

impl Record {
    /// All its runs are there, and those that have ended did so as recorded.
    pub(super) fn runs_agree(&self, task: TaskId, stored: &[&Arc<Run>]) -> Verdict {
        let found: BTreeSet<RunId> = stored.iter().map(|run| run.id).collect();
        ensure!(found.len() == stored.len(), "task {task} has a run twice");
        let expected = self.runs.iter().filter(|(_, fact)| fact.task == task);
        let expected: BTreeSet<RunId> = expected.map(|(run, _)| *run).collect();
        ensure!(found == expected, "task {task} has runs {found:?} on disk, and had {expected:?}");
        for run in stored {
            let said = self.runs.get(&run.id).and_then(|fact| fact.ended.as_ref());
            let found = match &run.state {
                RunState::Ended { exit, .. } => Some(exit),
                _ => None,
            };
            ensure!(
                said == found,
                "run {} was said to end as {said:?}, on disk is {found:?}",
                run.id
            );
        }
        Ok(())
    }
}

impl Oracle {
    /// A reader who takes what was published, and then looks into the history, finds every task.
    pub(in crate::chaos) fn readers_find_all(
        &self,
        published: &BTreeMap<RowKey, Row>,
        disk: &Disk,
    ) -> Verdict {
        for (id, fact) in &self.record.tasks {
            let found = match published.get(&RowKey::Task(*id)) {
                Some(Row::Task(task)) => Some(task),
                _ => disk.tables.history.get(id).map(|retired| &retired.task),
            };
            let Some(found) = found else {
                // Elements of a large array come later, and readers know that.
                let to_come = match published.get(&RowKey::Ledger) {
                    Some(Row::Ledger(ledger)) => ledger.to_come(*id).is_some(),
                    _ => false,
                };
                ensure!(to_come, "readers do not find task {id}");
                continue;
            };
            ensure!(
                found.outcome() == fact.outcome.as_ref(),
                "readers see task {id} as {:?}, it is {:?}",
                found.outcome(),
                fact.outcome
            );
        }
        Ok(())
    }
}

/// What is remembered of tasks in the history is what is there.
pub(super) fn past_work_is_counted(disk: &Disk) -> Verdict {
    let mut bytes: BTreeMap<UserId, u128> = BTreeMap::new();
    for retired in disk.tables.all_retired() {
        let logs = retired.runs.iter().map(|run| u128::from(run.used.log_bytes));
        *bytes.entry(retired.task.owner).or_default() += logs.sum::<u128>();
    }
    bytes.retain(|_, bytes| *bytes > 0);
    let remembered = disk.tables.rows.values().filter_map(|row| match row {
        Row::PastWork(past) if past.log_bytes > 0 => Some((past.user, past.log_bytes)),
        _ => None,
    });
    let remembered: BTreeMap<UserId, u128> = remembered.collect();
    ensure!(remembered == bytes, "logs of {bytes:?} bytes are in the history, not {remembered:?}");
    Ok(())
}
