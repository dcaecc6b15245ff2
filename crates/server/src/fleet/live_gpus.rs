//! The latest readings of all GPUs, for display.

use super::gpu_history::{GpuHistory, Sample};
use arc_swap::ArcSwap;
use danlu_core::{GpuId, NodeId};
use danlu_wire::gpu::GpuDetails;
use imbl::OrdMap;
use std::sync::Arc;

/// Clones share the same data.
#[derive(Debug, Clone, Default)]
pub struct LiveGpus {
    nodes: Arc<ArcSwap<OrdMap<NodeId, GpuReadings>>>,
}

#[derive(Debug, Clone, Default)]
struct GpuReadings {
    details: OrdMap<GpuId, GpuDetails>,
    history: GpuHistory,
}

impl LiveGpus {
    pub(crate) fn note(&self, node: NodeId, details: &[GpuDetails]) {
        let now = crate::daemon::clock::now();
        self.nodes.rcu(|nodes| {
            let mut nodes = OrdMap::clone(nodes);
            let seen = nodes.entry(node).or_default();
            details.iter().for_each(|gpu| seen.history.note(gpu, now));
            seen.details = details.iter().map(|gpu| (gpu.uuid.clone(), gpu.clone())).collect();
            nodes
        });
    }

    /// The node is not connected: the readings of its GPUs are unknown.
    pub(crate) fn forget(&self, node: NodeId) {
        self.nodes.rcu(|nodes| {
            let mut nodes = OrdMap::clone(nodes);
            if let Some(seen) = nodes.get_mut(&node) {
                seen.details = OrdMap::new();
            }
            nodes
        });
    }

    /// All that are known of a node.
    pub fn all(&self, node: NodeId) -> Vec<GpuDetails> {
        let nodes = self.nodes.load();
        nodes.get(&node).map_or_else(Vec::new, |seen| seen.details.values().cloned().collect())
    }

    pub fn details(&self, node: NodeId, gpu: &GpuId) -> Option<GpuDetails> {
        self.nodes.load().get(&node)?.details.get(gpu).cloned()
    }

    pub fn history(&self, node: NodeId, gpu: &GpuId) -> Vec<Sample> {
        self.nodes.load().get(&node).map_or_else(Vec::new, |seen| seen.history.of(gpu))
    }
}
