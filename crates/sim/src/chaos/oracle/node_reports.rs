//! What nodes have reported to the daemon since it started: the minimum that it must act upon.

use danlu_core::gpu::GpuReport;
use danlu_core::run::Exit;
use danlu_core::{Input, NodeId, NodeMessage, RunId, SessionId, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Default)]
pub(super) struct NodeReports {
    pub(super) nodes: BTreeMap<NodeId, ReportedNode>,
    /// What an earlier one says comes too late, also when the newest is gone.
    newest: BTreeMap<NodeId, SessionId>,
    booted_at: Time,
    lost_at: BTreeMap<NodeId, Time>,
    /// Runs that a machine has said it could not start.
    troubled: BTreeSet<(NodeId, RunId)>,
}

/// What one node has reported over its newest connection.
#[derive(Debug)]
pub(super) struct ReportedNode {
    pub(super) session: SessionId,
    /// `None` before its first report.
    pub(super) gpus: Option<Vec<GpuReport>>,
    /// Its free memory in bytes.
    pub(super) free_memory: Option<u64>,
    /// It has said that it cannot start anything.
    pub(super) unfit: bool,
}

impl ReportedNode {
    fn on(session: SessionId) -> ReportedNode {
        ReportedNode { session, gpus: None, free_memory: None, unfit: false }
    }
}

impl NodeReports {
    pub(super) fn hear(&mut self, input: &Input, now: Time) {
        match input {
            // What was the newest connection is stored: who comes on an older one is too late also after a boot.
            Input::Boot { .. } => {
                let newest = std::mem::take(&mut self.newest);
                let troubled = std::mem::take(&mut self.troubled);
                *self = NodeReports { booted_at: now, newest, troubled, ..NodeReports::default() };
            }
            Input::Node { node, session, message } => {
                self.hear_node(*node, *session, message, now);
            }
            _ => {}
        }
    }

    /// For how long a node could not be asked, as far as the daemon was there to notice.
    pub(super) fn away_for(&self, node: NodeId, now: Time) -> Option<Span> {
        let since = self.lost_at.get(&node).copied().unwrap_or(self.booted_at);
        (!self.nodes.contains_key(&node)).then(|| now.since(since))
    }

    fn hear_node(&mut self, node: NodeId, session: SessionId, message: &NodeMessage, now: Time) {
        let current = self.nodes.get_mut(&node);
        match message {
            NodeMessage::Connected => {
                if self.newest.get(&node).is_none_or(|newest| *newest < session) {
                    self.newest.insert(node, session);
                    self.nodes.insert(node, ReportedNode::on(session));
                }
            }
            NodeMessage::Lost => {
                if current.is_some_and(|told| told.session == session) {
                    self.nodes.remove(&node);
                    self.lost_at.insert(node, now);
                }
            }
            NodeMessage::Report(report) => {
                self.hear_fitness(node, session, report.trouble.is_some());
                self.hear_memory(node, session, report.free_memory);
                self.hear_gpus(node, session, &report.gpus, true);
            }
            NodeMessage::Memory { free } => self.hear_memory(node, session, Some(*free)),
            NodeMessage::Gpus(gpus) => self.hear_gpus(node, session, gpus, false),
            NodeMessage::Fitness { trouble } => {
                self.hear_fitness(node, session, trouble.is_some());
            }
            // Said again it is old news: the machine may have said since that it is well.
            NodeMessage::Ended { run, ending } if matches!(ending.exit, Exit::Trouble(_)) => {
                if self.troubled.insert((node, *run)) {
                    self.hear_fitness(node, session, true);
                }
            }
            NodeMessage::Started { .. }
            | NodeMessage::Ended { .. }
            | NodeMessage::LogDropped { .. } => {}
        }
    }

    fn hear_fitness(&mut self, node: NodeId, session: SessionId, unfit: bool) {
        if let Some(told) = self.nodes.get_mut(&node)
            && told.session == session
        {
            told.unfit = unfit;
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
