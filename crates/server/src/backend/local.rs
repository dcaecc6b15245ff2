//! The machine the daemon runs on: the same agent as everywhere, in this process.

use super::LiveGpus;
use crate::clock;
use crate::handle::Handle;
use danlu_core::run::{Ending, Exit};
use danlu_core::{Input, NodeId, NodeMessage, RunId, SessionId};
use danlu_node::{AgentError, Host, HostConfig};
use danlu_wire::gpu::GpuDetails;
use danlu_wire::{FromAgent, Hello, ToAgent};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tracing::error;

#[derive(Debug)]
pub struct Local {
    name: String,
    station: Host,
    /// The newest connection.
    connection: Option<(NodeId, SessionId)>,
    mouth: Arc<Mouth>,
}

/// What the station says goes to the engine, on the connection it was said on.
#[derive(Debug, Default)]
struct Mouth {
    handle: OnceLock<Handle>,
    connection: Mutex<Option<(NodeId, SessionId)>>,
    node: OnceLock<NodeId>,
    live: LiveGpus,
    /// Of the GPUs, said before it was known which node this is.
    early: Mutex<Vec<GpuDetails>>,
}

impl Local {
    /// Adopts what runs already, before the process has other threads.
    pub fn start(name: &str, config: &HostConfig, live: LiveGpus) -> Result<Local, AgentError> {
        let mouth = Arc::new(Mouth { live, ..Mouth::default() });
        let speaker = Arc::clone(&mouth);
        let station = Host::start(config, move |said| speaker.say(said))?;
        Ok(Local { name: name.to_owned(), station, connection: None, mouth })
    }

    /// From now on what it says reaches the engine.
    pub fn attach(&self, handle: &Handle) {
        // Attached once, when the engine starts.
        let _ = self.mouth.handle.set(handle.clone());
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn connection(&self) -> Option<(NodeId, SessionId)> {
        self.connection
    }

    /// A new connection: what the agent says is of the old one until it has heard of the new one.
    pub(super) fn connect(&mut self, node: NodeId, last: SessionId) {
        let before = self.connection.map_or(0, |(_, session)| session.0);
        let session = SessionId(last.0.max(before) + 1);
        self.connection = Some((node, session));
        if self.mouth.node.set(node).is_ok() {
            self.mouth.live.note(node, &self.mouth.early());
        }
        self.send(ToAgent::Hello(Hello::new(env!("CARGO_PKG_VERSION"), session, None)));
        self.send(ToAgent::AskReport);
    }

    /// A launch, on this machine or another, of which there is no order.
    pub(super) fn not_started(
        &self,
        (node, session): (NodeId, SessionId),
        run: RunId,
        why: String,
    ) {
        let ending = Ending::new(Exit::Launch { message: why }, clock::now());
        self.mouth.tell(node, session, NodeMessage::Ended { run, ending });
    }

    pub(super) fn send(&mut self, order: ToAgent) {
        if let Err(cause) = self.station.send(order) {
            error!(%cause, "the local agent does not take orders; its connection counts as lost");
            if let Some((node, session)) = self.connection.take() {
                self.mouth.tell(node, session, NodeMessage::Lost);
            }
        }
    }
}

impl Mouth {
    fn say(&self, said: FromAgent) {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        match said {
            FromAgent::Hello(Hello { session, .. }) => {
                let Some(node) = self.node.get() else { return };
                *connection = Some((*node, session));
                self.tell(*node, session, NodeMessage::Connected);
            }
            FromAgent::Details(details) => {
                // Both are looked at by `connect`, the node first.
                let mut early = self.early();
                match self.node.get() {
                    Some(node) => self.live.note(*node, &details),
                    None => *early = details,
                }
            }
            // Before the first connection nobody listens; its report will tell everything.
            said => {
                if let (Some((node, session)), Some(message)) =
                    (*connection, said.into_node_message())
                {
                    self.tell(node, session, message);
                }
            }
        }
    }

    fn early(&self) -> MutexGuard<'_, Vec<GpuDetails>> {
        self.early.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, node: NodeId, session: SessionId, message: NodeMessage) {
        if let Some(handle) = self.handle.get() {
            handle.tell(Input::Node { node, session, message });
        }
    }
}
