//! Whether users' own keys can be used on a machine.
//!
//! Invariant: unknown means no. Keys are accepted only while an agent is connected that has said it is not root.

use super::{NodeRecord, NodeRoute, Nodes};
use danlu_core::{NodeId, UserId};

/// A machine that takes keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyLogin {
    /// The server's own login there.
    pub(crate) login: String,
    /// Which machine it is and how it is reached: a key is for this way alone.
    pub(crate) way: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoKeys {
    NotBySsh,
    Root,
    /// It is not connected, so that nobody knows as whom the server would be there.
    Unknown,
}

impl NodeRecord {
    /// Another one of these is another machine, or another login there.
    pub(crate) fn way(&self, machine: &str) -> String {
        format!("{} {machine}", self.address())
    }

    /// What an administrator changes when the machine is to be another one.
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
        Ok(KeyLogin { login: machine.login.clone(), way: record.way(&machine.id) })
    }

    /// Somebody's own key has changed: their connection is opened anew, and nobody else's.
    pub(crate) fn take_over_key(&self, name: &str, user: UserId) {
        if let Some(connection) = self.node_id(name).and_then(|node| self.connection(node)) {
            connection.owners.key_changed(user);
        }
    }

    /// Why somebody's own connection is not there, if it should be.
    pub(crate) fn own_problem(&self, name: &str, user: UserId) -> Option<String> {
        self.connection(self.node_id(name)?)?.owners.problem(user)
    }

    fn node_id(&self, name: &str) -> Option<NodeId> {
        let model = self.0.handle.get()?.model();
        model.nodes.values().find(|node| node.name == name).map(|node| node.id)
    }
}
