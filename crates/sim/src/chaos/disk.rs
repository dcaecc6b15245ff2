//! The simulated store, which survives crashes of the daemon. Written only from the rows that events name, and from the
//! ended tasks that leave them.

use super::oracle::Record;
use danlu_core::state::Retired;
use danlu_core::{Row, RowKey, TaskId, UserId};
use std::collections::BTreeMap;

const BACKUPS_KEPT: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) tables: Tables,
    backups: Vec<Backup>,
    /// As it was when the work began.
    beginning: Option<Backup>,
}

/// What is stored. A task that has a row may be in the history too; then its row counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    pub(super) rows: BTreeMap<RowKey, Row>,
    pub(super) history: BTreeMap<TaskId, Retired>,
}

/// What one commit writes.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) rows: BTreeMap<RowKey, Option<Row>>,
    pub(super) retired: Vec<Retired>,
}

/// A copy of the store, and what the oracle held to be recorded at that moment.
#[derive(Debug, Clone)]
pub(super) struct Backup {
    pub(super) tables: Tables,
    pub(super) record: Record,
}

impl Disk {
    /// All or nothing: a commit that fails does not come here.
    pub(super) fn commit(&mut self, written: Written) {
        self.tables.write(written);
    }

    pub(super) fn back_up(&mut self, record: Record) {
        if self.backups.len() == BACKUPS_KEPT {
            self.backups.remove(0);
        }
        self.backups.push(Backup { tables: self.tables.clone(), record });
    }

    /// The store as set up again after a loss.
    pub(super) fn keep_beginning(&mut self, record: Record) {
        self.beginning = Some(Backup { tables: self.tables.clone(), record });
    }

    pub(super) fn beginning(&self) -> Option<Backup> {
        self.beginning.clone()
    }

    pub(super) fn backups(&self) -> &[Backup] {
        &self.backups
    }

    pub(super) fn restore(&mut self, backup: &Backup) {
        self.tables = backup.tables.clone();
    }
}

impl Tables {
    /// A task without a row is in the history if it left with this commit, and nowhere if it did not.
    pub(super) fn write(&mut self, Written { rows, retired }: Written) {
        for (key, row) in &rows {
            if let (RowKey::Task(id), None) = (key, row) {
                self.history.remove(id);
            }
        }
        apply(&mut self.rows, rows);
        self.history.extend(retired.into_iter().map(|it| (it.task.id, it)));
    }

    /// An ended task that has no row any more.
    pub(super) fn retired(&self, task: TaskId) -> Option<&Retired> {
        self.history.get(&task).filter(|_| !self.rows.contains_key(&RowKey::Task(task)))
    }

    pub(super) fn all_retired(&self) -> impl Iterator<Item = &Retired> {
        self.history.keys().filter_map(|task| self.retired(*task))
    }

    pub(super) fn retired_with_key(&self, user: UserId, key: &str) -> Option<TaskId> {
        let it = |it: &&Retired| it.task.owner == user && it.task.key.as_deref() == Some(key);
        self.all_retired().find(it).map(|it| it.task.id)
    }
}

pub(super) fn apply(to: &mut BTreeMap<RowKey, Row>, rows: BTreeMap<RowKey, Option<Row>>) {
    for (key, row) in rows {
        match row {
            Some(row) => to.insert(key, row),
            None => to.remove(&key),
        };
    }
}
