//! The machine the daemon runs on: the same agent as everywhere, in this process.

use super::probe::{self, LiveGpus, ProbeThread};
use super::tenants::Tenants;
use crate::handle::Handle;
use danlu_core::effect::StopOrder;
use danlu_core::node::Capacity;
use danlu_core::{Input, NodeId, NodeMessage, RunId, SessionId, Span};
use danlu_node::gpu::{ProbeConfig, ProbeKind};
use danlu_node::{Agent, AgentError, Inventory, RunRoot, Settings};
use danlu_wire::{FromAgent, Hello, LaunchOrder, ToAgent};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use tracing::{error, warn};

#[derive(Debug, Clone)]
pub struct LocalConfig {
    pub name: String,
    pub root: PathBuf,
    pub cgroups: bool,
    pub gpus: ProbeConfig,
}

#[derive(Debug)]
pub struct Local {
    name: String,
    agent: Agent,
    /// The newest connection.
    connection: Option<(NodeId, SessionId)>,
    mouth: Arc<Mouth>,
}

/// What the agent and the probe say goes to the engine, on the connection it was said on.
#[derive(Debug, Default)]
struct Mouth {
    handle: OnceLock<Handle>,
    connection: Mutex<Option<(NodeId, SessionId)>>,
    node: OnceLock<NodeId>,
    probe: OnceLock<ProbeThread>,
    simulated: bool,
    /// Only where the GPUs are simulated.
    tenants: Tenants,
}

impl Local {
    /// Starts the agent, which adopts what runs already, before the process has other threads.
    pub fn start(config: &LocalConfig) -> Result<(Local, LiveGpus), AgentError> {
        let simulated = config.gpus.kind == Some(ProbeKind::Sim);
        let mouth = Arc::new(Mouth { simulated, ..Mouth::default() });
        let live = LiveGpus::default();
        let inventory_of = live.clone();
        let speaker = Arc::clone(&mouth);
        let agent = Agent::start(Settings {
            root: config.root.clone(),
            cgroups: config.cgroups,
            inventory: Box::new(move || Inventory {
                capacity: capacity(),
                free_memory: inventory_of.free_memory(),
                gpus: inventory_of.reports(),
            }),
            notice: Box::new(move |said| speaker.say_in_order(said)),
        })?;
        let speaker = Arc::clone(&mouth);
        let say = move |said| speaker.say(said);
        let runs = RunRoot::open(&config.root)?;
        let tenants = mouth.tenants.clone();
        let probe = probe::start(&config.gpus, runs, live.clone(), tenants, say);
        let _ = mouth.probe.set(probe);
        let name = config.name.clone();
        Ok((Local { name, agent, connection: None, mouth }, live))
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

    pub(super) fn runs_as_root(&self) -> bool {
        nix::unistd::geteuid().is_root()
    }

    /// A new connection: what the agent says is of the old one until it has heard of the new one.
    pub(super) fn connect(&mut self, node: NodeId, last: SessionId) {
        let before = self.connection.map_or(0, |(_, session)| session.0);
        let session = SessionId(last.0.max(before) + 1);
        self.connection = Some((node, session));
        let _ = self.mouth.node.set(node);
        self.send(ToAgent::Hello(Hello::new(env!("CARGO_PKG_VERSION"), session, None)));
        self.send(ToAgent::AskReport);
    }

    pub(super) fn launch(&mut self, order: LaunchOrder) {
        if self.mouth.simulated {
            self.mouth.tenants.launched(&order);
        }
        self.send(ToAgent::Launch(Box::new(order)));
    }

    pub(super) fn stop(&mut self, run: RunId, why: StopOrder, grace: Span) {
        self.send(ToAgent::Stop { run, why: why.into(), grace });
    }

    pub(super) fn pause(&mut self, run: RunId, on: bool) {
        self.send(if on { ToAgent::Pause { run } } else { ToAgent::Resume { run } });
    }

    pub(super) fn set_limit(&mut self, run: RunId, limit: Span) {
        self.send(ToAgent::SetLimit { run, limit });
    }

    pub(super) fn forget(&mut self, run: RunId) {
        self.send(ToAgent::Forget { run });
    }

    pub(super) fn ask_report(&mut self) {
        self.send(ToAgent::AskReport);
    }

    fn send(&mut self, order: ToAgent) {
        if let Err(cause) = self.agent.send(order) {
            error!(%cause, "the local agent does not take orders; its connection counts as lost");
            if let Some((node, session)) = self.connection.take() {
                self.mouth.tell(node, session, NodeMessage::Lost);
            }
        }
    }
}

impl Mouth {
    /// A run has ended: before its GPUs are given out again, see whether it has given back their memory.
    fn say_in_order(self: &Arc<Mouth>, said: FromAgent) {
        let moved = match &said {
            FromAgent::Started { run, leader, .. } => self.tenants.started(*run, *leader),
            FromAgent::Ended { run, .. } => self.tenants.ended(*run),
            _ => false,
        };
        match (&said, self.probe.get()) {
            (FromAgent::Ended { .. }, Some(probe)) => {
                let mouth = Arc::clone(self);
                probe.look_first(move || mouth.say(said));
            }
            _ => self.say(said),
        }
        if let Some(probe) = self.probe.get().filter(|_| moved) {
            probe.wake();
        }
    }

    fn say(&self, said: FromAgent) {
        let mut connection = match self.connection.lock() {
            Ok(connection) => connection,
            Err(poisoned) => poisoned.into_inner(),
        };
        if let FromAgent::Hello(Hello { session, .. }) = &said {
            let Some(node) = self.node.get() else { return };
            *connection = Some((*node, *session));
            return self.tell(*node, *session, NodeMessage::Connected);
        }
        // Before the first connection nobody listens; its report will tell everything.
        if let (Some((node, session)), Some(message)) = (*connection, said.into_node_message()) {
            self.tell(node, session, message);
        }
    }

    fn tell(&self, node: NodeId, session: SessionId, message: NodeMessage) {
        if let Some(handle) = self.handle.get() {
            handle.tell(Input::Node { node, session, message });
        }
    }
}

/// The cores and the memory of this machine.
pub(super) fn capacity() -> Capacity {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = match nix::sys::sysinfo::sysinfo() {
        Ok(info) => info.ram_total(),
        Err(cause) => {
            warn!(%cause, "the size of the memory is not known");
            0
        }
    };
    Capacity { cpus: u32::try_from(cpus).unwrap_or(u32::MAX), memory }
}
