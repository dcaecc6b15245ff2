//! Which nodes list which GPU. A GPU that several nodes list is one machine under two names, or a card that has moved:
//! no node gives it out until an administrator has decided.

use crate::model::ids::{GpuId, NodeId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct GpuClaims {
    nodes: BTreeMap<GpuId, BTreeSet<NodeId>>,
    gpus: BTreeMap<NodeId, BTreeSet<GpuId>>,
}

impl GpuClaims {
    /// What a node lists now; answers who else lists some of it, or of what it listed before.
    pub(crate) fn list(&mut self, node: NodeId, gpus: BTreeSet<GpuId>) -> BTreeSet<NodeId> {
        let before = self.gpus.get(&node).cloned().unwrap_or_default();
        for gpu in gpus.difference(&before) {
            self.nodes.entry(gpu.clone()).or_default().insert(node);
        }
        let mut others: BTreeSet<NodeId> = BTreeSet::new();
        for gpu in before.union(&gpus) {
            others.extend(self.others(gpu, node));
        }
        for gpu in before.difference(&gpus) {
            if let Some(nodes) = self.nodes.get_mut(gpu) {
                nodes.remove(&node);
                if nodes.is_empty() {
                    self.nodes.remove(gpu);
                }
            }
        }
        match gpus.is_empty() {
            true => drop(self.gpus.remove(&node)),
            false => drop(self.gpus.insert(node, gpus)),
        }
        others
    }

    /// The other nodes that list it.
    pub(crate) fn others(&self, gpu: &GpuId, node: NodeId) -> impl Iterator<Item = NodeId> {
        let nodes = self.nodes.get(gpu).into_iter().flatten().copied();
        nodes.filter(move |other| *other != node)
    }
}
