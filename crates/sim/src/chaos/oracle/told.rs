//! What the daemon has been told by nodes since it started: the least it must act upon.

use danlu_core::gpu::GpuReport;
use danlu_core::{Input, NodeId, NodeMessage, SessionId};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) nodes: BTreeMap<NodeId, Heard>,
}

/// What one node has told over its newest connection.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) session: SessionId,
    /// `None` before its first report.
    pub(super) gpus: Option<Vec<GpuReport>>,
    /// Bytes of memory that nobody uses there.
    pub(super) free_memory: Option<u64>,
}

impl Told {
    pub(super) fn hear(&mut self, input: &Input) {
        match input {
            Input::Boot { .. } => self.nodes.clear(),
            Input::Node { node, session, message } => self.hear_node(*node, *session, message),
            _ => {}
        }
    }

    fn hear_node(&mut self, node: NodeId, session: SessionId, message: &NodeMessage) {
        let current = self.nodes.get_mut(&node);
        match message {
            NodeMessage::Connected => {
                if current.is_none_or(|told| told.session < session) {
                    self.nodes.insert(node, Heard { session, gpus: None, free_memory: None });
                }
            }
            NodeMessage::Lost => {
                if current.is_some_and(|told| told.session == session) {
                    self.nodes.remove(&node);
                }
            }
            NodeMessage::Report(report) => {
                self.hear_memory(node, session, report.free_memory);
                self.hear_gpus(node, session, &report.gpus, true);
            }
            NodeMessage::Memory { free } => self.hear_memory(node, session, Some(*free)),
            NodeMessage::Gpus(gpus) => self.hear_gpus(node, session, gpus, false),
            NodeMessage::Started { .. } | NodeMessage::Ended { .. } => {}
        }
    }

    fn hear_memory(&mut self, node: NodeId, session: SessionId, free: Option<u64>) {
        if let Some(told) = self.nodes.get_mut(&node)
            && told.session == session
        {
            told.free_memory = free;
        }
    }

    fn hear_gpus(&mut self, node: NodeId, session: SessionId, gpus: &[GpuReport], whole: bool) {
        if let Some(told) = self.nodes.get_mut(&node)
            && told.session == session
            && (whole || told.gpus.is_some())
        {
            told.gpus = Some(gpus.to_vec());
        }
    }
}
