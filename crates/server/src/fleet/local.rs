//! The node that the daemon runs on: the same agent as on other machines, within this process.

use super::LiveGpus;
use super::admitted_samples::admit;
use crate::daemon::clock;
use crate::daemon::handle::Handle;
use crate::usage::{SampleSource, Usage};
use danlu_core::run::{Ending, Exit};
use danlu_core::{Input, NodeId, NodeMessage, RunId, SessionId};
use danlu_node::{AgentError, Evictions, Host, HostConfig};
use danlu_wire::gpu::GpuDetails;
use danlu_wire::samples::Samples;
use danlu_wire::{FromAgent, Hello, ToAgent};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tracing::error;

#[derive(Debug)]
pub struct Local {
    name: String,
    host: Host,
    /// The newest connection.
    connection: Option<(NodeId, SessionId)>,
    sink: Arc<EngineSink>,
}

/// Forwards messages of the local agent to the engine, with the connection they belong to.
#[derive(Debug, Default)]
struct EngineSink {
    handle: OnceLock<Handle>,
    connection: Mutex<Option<(NodeId, SessionId)>>,
    node: OnceLock<NodeId>,
    live: LiveGpus,
    usage: Usage,
    /// Readings of the GPUs from before the node id was known.
    early: Mutex<Vec<GpuDetails>>,
}

impl Local {
    /// Adopts running tasks. Must be called before the process has other threads.
    pub fn start(
        name: &str,
        config: &HostConfig,
        live: LiveGpus,
        usage: Usage,
    ) -> Result<Local, AgentError> {
        let measured = usage.clone();
        let sink = Arc::new(EngineSink { live, usage, ..EngineSink::default() });
        let speaker = Arc::clone(&sink);
        let host = Host::start(config, move |said| speaker.say(said))?;
        measured.measure(host.sampling());
        Ok(Local { name: name.to_owned(), host, connection: None, sink })
    }

    /// From now on its messages reach the engine.
    pub fn attach(&self, handle: &Handle) {
        // Attached once, when the engine starts.
        let _ = self.sink.handle.set(handle.clone());
    }

    /// To end foreign processes on this machine.
    pub fn evictions(&self) -> Evictions {
        self.host.evictions()
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn connection(&self) -> Option<(NodeId, SessionId)> {
        self.connection
    }

    /// Opens a new connection: messages of the agent belong to the old one until it has received the new greeting.
    pub(super) fn connect(&mut self, node: NodeId, last: SessionId) {
        let before = self.connection.map_or(0, |(_, session)| session.0);
        let session = SessionId(last.0.max(before) + 1);
        self.connection = Some((node, session));
        if self.sink.node.set(node).is_ok() {
            self.sink.live.note(node, &self.sink.early());
        }
        self.send(ToAgent::Hello(Hello::new(env!("CARGO_PKG_VERSION"), session, None)));
        self.send(ToAgent::AskReport);
    }

    /// A launch, on this machine or another, for which no order could be made.
    pub(super) fn not_started(
        &self,
        (node, session): (NodeId, SessionId),
        run: RunId,
        why: String,
    ) {
        let ending = Ending::new(Exit::Launch { message: why }, clock::now());
        self.sink.tell(node, session, NodeMessage::Ended { run, ending });
    }

    pub(super) fn send(&mut self, order: ToAgent) {
        if let Err(cause) = self.host.send(order) {
            error!(%cause, "the local agent does not take orders; its connection counts as lost");
            if let Some((node, session)) = self.connection.take() {
                self.sink.tell(node, session, NodeMessage::Lost);
            }
        }
    }
}

impl EngineSink {
    fn say(&self, said: FromAgent) {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        match said {
            FromAgent::Hello(Hello { session, .. }) => {
                let Some(node) = self.node.get() else { return };
                *connection = Some((*node, session));
                self.tell(*node, session, NodeMessage::Connected);
            }
            FromAgent::Details(details) => {
                // `connect` reads both, the node first.
                let mut early = self.early();
                match self.node.get() {
                    Some(node) => self.live.note(*node, &details),
                    None => *early = details,
                }
            }
            FromAgent::Samples(samples) => {
                drop(connection);
                self.note(*samples);
            }
            // Before the first connection there is no receiver; the report after it contains everything.
            said @ (FromAgent::Report(_)
            | FromAgent::Started { .. }
            | FromAgent::Ended { .. }
            | FromAgent::LogDropped { .. }
            | FromAgent::Gpus(_)
            | FromAgent::Memory { .. }
            | FromAgent::Fitness { .. }
            | FromAgent::Facts(_)
            | FromAgent::Log(_)
            | FromAgent::Paths(_)) => {
                if let (Some((node, session)), Some(message)) =
                    (*connection, said.into_node_message())
                {
                    self.tell(node, session, message);
                }
            }
        }
    }

    fn note(&self, samples: Samples) {
        let (Some(node), Some(handle)) = (self.node.get(), self.handle.get()) else { return };
        let (model, settings) = (handle.model(), self.usage.settings());
        let samples = admit(samples, &model, &settings, *node, None);
        self.usage.note(SampleSource { node: *node, user: None }, samples);
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
