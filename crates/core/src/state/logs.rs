//! Logs of removed tasks that nodes have not deleted yet.

use super::State;
use crate::model::ids::{NodeId, RunId};
use crate::model::run::LogRemoval;

impl State {
    /// Nothing is kept where there is no node to wait for.
    pub(crate) fn insert_log_removal(&mut self, removal: LogRemoval) {
        if removal.nodes.is_empty() {
            return;
        }
        for node in &removal.nodes {
            self.index.logs_to_drop.entry(*node).or_default().insert(removal.run);
        }
        self.log_removals.insert(removal.run, removal);
    }

    /// Returns whether its deletion was pending.
    pub(crate) fn log_is_dropped(&mut self, node: NodeId, run: RunId) -> bool {
        let Some(removal) = self.log_removals.get_mut(&run) else { return false };
        if !removal.nodes.remove(&node) {
            return false;
        }
        if removal.nodes.is_empty() {
            self.log_removals.remove(&run);
        }
        if let Some(runs) = self.index.logs_to_drop.get_mut(&node) {
            runs.remove(&run);
            if runs.is_empty() {
                self.index.logs_to_drop.remove(&node);
            }
        }
        true
    }

    pub(crate) fn logs_to_drop(&self, node: NodeId) -> impl ExactSizeIterator<Item = RunId> {
        let runs = self.index.logs_to_drop.get(&node);
        runs.map(std::collections::BTreeSet::iter).unwrap_or_default().copied()
    }
}
