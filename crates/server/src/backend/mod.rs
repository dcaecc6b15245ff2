//! Carries decisions to nodes and brings back what they say. Knows no store and decides nothing.

mod history;
mod local;
mod memory;
mod probe;
mod tenants;

pub use history::Sample;
pub use local::{Local, LocalConfig};
pub use probe::LiveGpus;

use crate::launch;
use crate::store::Store;
use danlu_core::{Effect, State};

/// The nodes that can be reached from here.
#[derive(Debug, Default)]
pub struct Backends {
    local: Option<Local>,
}

impl Backends {
    pub fn with_local(local: Local) -> Backends {
        Backends { local: Some(local) }
    }

    /// Invariant: what was decided for a connection that is gone is dropped.
    pub(crate) fn carry_out(&mut self, state: &State, store: &Store, effect: Effect) {
        let Some(local) = &mut self.local else { return };
        if local.connection() != Some((effect.node(), effect.session())) {
            return;
        }
        match effect {
            Effect::Launch(launch) => {
                local.launch(launch::order(state, store, &launch, local.runs_as_root()));
            }
            Effect::Stop { run, why, grace, .. } => local.stop(run, why, grace),
            Effect::Pause { run, on, .. } => local.pause(run, on),
            Effect::SetLimit { run, limit, .. } => local.set_limit(run, limit),
            Effect::Forget { run, .. } => local.forget(run),
            Effect::AskReport { .. } => local.ask_report(),
        }
    }

    /// New connections to all nodes, as after a start of the daemon.
    pub(crate) fn reconnect(&mut self, state: &State) {
        if let Some(local) = &mut self.local {
            let node = state.nodes.values().find(|node| node.name == local.name());
            if let Some(node) = node {
                local.connect(node.id, node.session);
            }
        }
    }
}
