//! Sends the effects of the core to the nodes, local and remote. Makes no decisions.

mod admitted_samples;
mod gpu_history;
pub(crate) mod launch_order;
mod live_gpus;
mod local;
pub mod logins;
pub mod remote;
pub(crate) mod run_logs;

pub use gpu_history::Sample;
pub use live_gpus::LiveGpus;
pub use local::Local;

use crate::fleet::logins::Logins;
use crate::fleet::remote::Nodes;
use crate::store::Store;
use danlu_core::effect::Launch;
use danlu_core::{Effect, NodeId, RunId, SessionId, State};
use danlu_wire::{LaunchOrder, ToAgent};
use launch_order::StartError;

/// All nodes, local and remote.
#[derive(Debug)]
pub struct Backends {
    local: Option<Local>,
    remote: Option<Nodes>,
    logins: Logins,
}

impl Backends {
    pub fn new(local: Option<Local>, remote: Option<Nodes>, logins: Logins) -> Backends {
        Backends { local, remote, logins }
    }

    /// Invariant: what was decided for a connection that is gone is dropped.
    pub(crate) fn carry_out(&mut self, state: &State, store: &Store, effect: Effect) {
        let (node, session) = (effect.node(), effect.session());
        let is_local =
            self.local.as_ref().is_some_and(|local| local.connection() == Some((node, session)));
        let order = match effect {
            Effect::Launch(launch) => match self.order(state, store, &launch, is_local) {
                Ok(order) => ToAgent::Launch(Box::new(order)),
                Err(why) => return self.not_started((node, session), launch.run, why.to_string()),
            },
            Effect::Stop { run, why, grace, .. } => ToAgent::Stop { run, why: why.into(), grace },
            Effect::Pause { run, on: true, .. } => ToAgent::Pause { run },
            Effect::Pause { run, on: false, .. } => ToAgent::Resume { run },
            Effect::SetLimit { run, limit, .. } => ToAgent::SetLimit { run, limit },
            Effect::Forget { run, .. } => ToAgent::Forget { run },
            Effect::DropLog { run, owner, .. } => match &self.remote {
                Some(remote) if !is_local => return remote.drop_log((node, session), run, owner),
                Some(_) | None => ToAgent::DropLog { run },
            },
            Effect::AskReport { .. } => ToAgent::AskReport,
        };
        match (&mut self.local, &self.remote) {
            (Some(local), _) if is_local => local.send(order),
            (_, Some(remote)) => remote.send(node, session, order),
            (_, None) => {}
        }
    }

    /// On this machine, a server without root runs everything as itself. Elsewhere tasks run as their owners or not at all.
    fn order(
        &self,
        state: &State,
        store: &Store,
        launch: &Launch,
        is_local: bool,
    ) -> Result<LaunchOrder, StartError> {
        let owner = || {
            let owner = &state.users[&state.tasks[&launch.task].owner];
            launch_order::runs_as(&self.logins, owner, &state.nodes[&launch.node].name)
        };
        let as_owner = !is_local || nix::unistd::geteuid().is_root();
        launch_order::order(state, store, launch, as_owner.then(owner), self.remote.as_ref())
    }

    /// Reports to the core that the run has ended, without the node.
    fn not_started(&self, to: (NodeId, SessionId), run: RunId, why: String) {
        match (&self.local, &self.remote) {
            (Some(local), _) => local.not_started(to, run, why),
            (None, Some(remote)) => remote.not_started(to, run, why),
            (None, None) => {}
        }
    }

    /// Reconnects all nodes, as after a start of the daemon.
    pub(crate) fn reconnect(&mut self, state: &State) {
        if let Some(local) = &mut self.local {
            let node = state.nodes.values().find(|node| node.name == local.name());
            if let Some(node) = node {
                local.connect(node.id, node.session);
            }
        }
        if let Some(remote) = &self.remote {
            remote.drop_connections();
        }
    }

    /// Reconnects one node, which then sends a new report.
    pub(crate) fn reconnect_one(&mut self, state: &State, node: NodeId) {
        let Some(node) = state.nodes.get(&node) else { return };
        match (&mut self.local, &self.remote) {
            (Some(local), _) if local.name() == node.name => local.connect(node.id, node.session),
            (_, Some(remote)) => remote.drop_connection(node.id),
            (_, None) => {}
        }
    }
}
