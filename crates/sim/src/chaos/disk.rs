//! The simulated store, which survives crashes of the daemon. Written only from the rows that events name.

use super::oracle::Record;
use danlu_core::{Row, RowKey};
use std::collections::BTreeMap;

const BACKUPS_KEPT: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) rows: BTreeMap<RowKey, Row>,
    backups: Vec<Backup>,
    /// As it was when the work began.
    beginning: Option<Backup>,
}

/// A copy of the store, and what the oracle held to be recorded at that moment.
#[derive(Debug, Clone)]
pub(super) struct Backup {
    pub(super) rows: BTreeMap<RowKey, Row>,
    pub(super) record: Record,
}

impl Disk {
    /// All or nothing: a commit that fails does not come here.
    pub(super) fn commit(&mut self, rows: BTreeMap<RowKey, Option<Row>>) {
        apply(&mut self.rows, rows);
    }

    pub(super) fn back_up(&mut self, record: Record) {
        if self.backups.len() == BACKUPS_KEPT {
            self.backups.remove(0);
        }
        self.backups.push(Backup { rows: self.rows.clone(), record });
    }

    /// The store as set up again after a loss.
    pub(super) fn keep_beginning(&mut self, record: Record) {
        self.beginning = Some(Backup { rows: self.rows.clone(), record });
    }

    pub(super) fn beginning(&self) -> Option<Backup> {
        self.beginning.clone()
    }

    pub(super) fn backups(&self) -> &[Backup] {
        &self.backups
    }

    pub(super) fn restore(&mut self, backup: &Backup) {
        self.rows = backup.rows.clone();
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
