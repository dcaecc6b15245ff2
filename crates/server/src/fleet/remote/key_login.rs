//! Whether users' own keys can be used on a machine.
//!
//! Invariant: unknown means no. Keys are accepted only while an agent is connected that has said it is not root.

use super::{NodeRecord, NodeRoute, Nodes};
use danlu_core::{NodeId, UserId};
use danlu_messages::machines::MachineProblem;

/// A machine on which users' own keys can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyLogin {
    /// The server's own login there.
    pub(crate) login: String,
    /// Identifies the machine and the route to it: a key counts for this route only.
    pub(crate) route_id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoKeys {
    NotBySsh,
    Root,
    /// It is not connected, so the server's login there is unknown.
    Unknown,
}

impl NodeRecord {
    /// A different value means another machine, or another login there.
    pub(crate) fn route_id(&self, machine: &str) -> String {
        format!("{} {machine}", self.address())
    }

    /// The address, which an administrator changes to replace the machine.
    pub(crate) fn address(&self) -> String {
        let sudo = if self.sudo { " sudo" } else { "" };
        format!("{}{sudo}", self.route)
    }
}

impl Nodes {
    pub(crate) fn takes_keys(&self, name: &str) -> Result<KeyLogin, NoKeys> {
        let (record, status) = self.status(name).ok_or(NoKeys::NotBySsh)?;
        if !matches!(record.route, NodeRoute::Ssh(_)) {
            return Err(NoKeys::NotBySsh);
        }
        let machine = status.answering().ok_or(NoKeys::Unknown)?;
        if machine.is_root {
            return Err(NoKeys::Root);
        }
        Ok(KeyLogin { login: machine.login.clone(), route_id: record.route_id(&machine.id) })
    }

    /// A user's key has changed: only that user's connection is opened again.
    pub(crate) fn take_over_key(&self, name: &str, user: UserId) {
        if let Some(connection) = self.node_id(name).and_then(|node| self.connection(node)) {
            connection.user_agents.key_changed(user);
        }
    }

    /// Why a user's own connection is not established, if it should be.
    pub(crate) fn user_agent_problem(&self, name: &str, user: UserId) -> Option<MachineProblem> {
        self.connection(self.node_id(name)?)?.user_agents.problem(user)
    }

    fn node_id(&self, name: &str) -> Option<NodeId> {
        let model = self.0.handle.get()?.model();
        model.nodes.values().find(|node| node.name == name).map(|node| node.id)
    }
}
