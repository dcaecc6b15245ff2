//! The changes that one transaction commits.

use danlu_core::state::Retired;
use danlu_core::{Event, Row, RowKey, Time};
use std::collections::BTreeMap;

/// What one batch of inputs has changed.
#[derive(Debug, Default)]
pub struct Batch<X> {
    /// `None` where the row is gone.
    pub rows: BTreeMap<RowKey, Option<Row>>,
    pub events: Vec<(Time, Event)>,
    /// Ended tasks that have left the rows: kept as history, in place of an older entry of the same id.
    pub retired: Vec<Retired>,
    pub extras: X,
}

/// Data of the shell, stored in the same transaction: accounts, notices, the audit log.
pub trait Extras: Default {
    fn append(&mut self, other: Self);
    fn is_empty(&self) -> bool;
}

impl<X: Extras> Batch<X> {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
            && self.events.is_empty()
            && self.retired.is_empty()
            && self.extras.is_empty()
    }
}
