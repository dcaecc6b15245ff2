//! The store: what survives the daemon. Written only from the rows that events name.

use super::oracle::Record;
use danlu_core::{Event, Row, RowKey, State};
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
    pub(super) fn commit<'a>(&mut self, state: &State, events: impl Iterator<Item = &'a Event>) {
        for key in events.flat_map(Event::rows) {
            match state.row(key) {
                Some(row) => self.rows.insert(key, row),
                None => self.rows.remove(&key),
            };
        }
    }

    pub(super) fn back_up(&mut self, record: Record) {
        if self.backups.len() == BACKUPS_KEPT {
            self.backups.remove(0);
        }
        self.backups.push(Backup { rows: self.rows.clone(), record });
    }

    /// What whoever sets everything up again after a loss comes to.
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
