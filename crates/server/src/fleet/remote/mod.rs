//! Machines other than the server's own: their entries, connections and status.
//!
//! Each machine has a task of its own that connects and reconnects, so that one that hangs does not delay the others.

mod dial_in;
mod duplicate_machines;
mod key_login;
mod last_lines;
mod link_status;
mod message_limits;
mod node_entry;
pub(crate) mod nodes_file;
mod old_agents;
mod path_check;
mod reconnect;
mod remote_log;
mod session;
mod ssh;
mod ssh_error;
mod user_agent_link;
mod user_agents;
mod user_ssh;

pub(crate) use dial_in::connect as dial_in;
pub(crate) use key_login::{KeyLogin, NoKeys};
pub(crate) use last_lines::LastOutput;
pub(crate) use link_status::{LinkState, Status};
pub(crate) use node_entry::{BadNode, NodeRecord, NodeRoute};
pub(crate) use remote_log::RemoteLog;
pub(crate) use session::{put as put_record, remove as remove_record};
pub(crate) use ssh::Step;

use crate::daemon::handle::Handle;
use crate::fleet::LiveGpus;
use crate::fleet::logins::Logins;
use crate::read_model::ReadModel;
use crate::store::{Store, StoreError};
use crate::usage::Usage;
use danlu_core::{Input, NodeId, NodeMessage, RunId, SessionId, UserId};
use danlu_wire::ToAgent;
use danlu_wire::agent::{CONFIRMS_LOGS, ENDS_FOREIGN, EndForeign, LogPlace, TELLS_SAMPLES};
use danlu_wire::samples::SamplingOrder;
use last_lines::LastLines;
use remote_log::AgentRequests;
use ssh::Program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::AbortHandle;
use user_agents::UserAgents;

/// Clones share the same data.
#[derive(Debug, Clone)]
pub struct Nodes(Arc<NodeTable>);

#[derive(Debug)]
struct NodeTable {
    /// By node name.
    known: Mutex<BTreeMap<String, KnownNode>>,
    /// The open connections.
    connections: Mutex<BTreeMap<NodeId, Connection>>,
    /// The highest session number so far.
    sessions: Mutex<BTreeMap<NodeId, u64>>,
    live: LiveGpus,
    usage: Usage,
    handle: OnceLock<Handle>,
    program: OnceLock<Program>,
    last_lines: LastLines,
    logins: Logins,
    data: PathBuf,
}

#[derive(Debug)]
struct KnownNode {
    record: NodeRecord,
    status: Status,
    /// Notified to try again at once.
    poke: Arc<Notify>,
    /// The number of finished attempts, for callers that wait for the next.
    tries: watch::Sender<u64>,
    /// The reconnecting task, or the connection of a dial-in machine.
    task: Option<AbortHandle>,
}

/// A connection to the agent of a node.
#[derive(Debug, Clone)]
struct Connection {
    session: SessionId,
    /// The protocol version that both sides support.
    protocol: u32,
    orders: mpsc::UnboundedSender<ToAgent>,
    asks: AgentRequests,
    user_agents: UserAgents,
}

/// The kind of these records in the store.
pub(crate) const KIND: &str = "node";

impl Nodes {
    pub fn load(
        store: &Store,
        data: &Path,
        (live, usage): (LiveGpus, Usage),
        logins: Logins,
    ) -> Result<Nodes, StoreError> {
        let records = store.records(KIND)?;
        let records: Vec<NodeRecord> =
            records.iter().filter_map(|json| serde_json::from_str(json).ok()).collect();
        let known = records.into_iter().map(|record| (record.name.clone(), KnownNode::new(record)));
        Ok(Nodes(Arc::new(NodeTable {
            known: Mutex::new(known.collect()),
            connections: Mutex::default(),
            sessions: Mutex::default(),
            live,
            usage,
            handle: OnceLock::new(),
            program: OnceLock::new(),
            last_lines: LastLines::below(data),
            logins,
            data: data.to_owned(),
        })))
    }

    /// Starts connecting. Must be called within the runtime.
    pub fn start(&self, handle: &Handle) {
        let _ = self.0.handle.set(handle.clone());
        let names: Vec<String> = self.known().keys().cloned().collect();
        for name in names {
            self.keep_connected(&name);
        }
    }

    /// An order for a connection that is gone is dropped.
    pub(crate) fn send(&self, node: NodeId, session: SessionId, order: ToAgent) {
        let connection = self.connection(node).filter(|it| it.session == session);
        let (Some(connection), Some(handle)) = (connection, self.0.handle.get()) else { return };
        let user_agents = &connection.user_agents;
        let theirs = match &order {
            ToAgent::Launch(launch) => {
                let owner = handle.model().tasks.get(&launch.task).map(|task| task.owner);
                match owner.and_then(|owner| user_agents.launch(owner, launch)) {
                    Some(Ok(())) => return,
                    Some(Err(why)) => {
                        return user_agent_link::not_started(
                            handle,
                            (node, session),
                            launch.run,
                            why,
                        );
                    }
                    None => None,
                }
            }
            ToAgent::AskReport => {
                user_agents.ask_for_reports();
                None
            }
            ToAgent::Stop { run, .. }
            | ToAgent::Pause { run }
            | ToAgent::Resume { run }
            | ToAgent::SetLimit { run, .. }
            | ToAgent::Forget { run }
            | ToAgent::DropLog { run } => user_agents.with(*run),
            ToAgent::Hello(_)
            | ToAgent::AskFacts
            | ToAgent::ReadLog(_)
            | ToAgent::CheckPaths(_)
            | ToAgent::Sampling(_)
            | ToAgent::EndForeign(_) => None,
        };
        // A closed connection is noticed by its own task.
        let _ = theirs.map_or(connection.orders, |theirs| theirs.orders).send(order);
    }

    /// A launch for which no order could be made.
    pub(crate) fn not_started(&self, to: (NodeId, SessionId), run: RunId, why: String) {
        if let Some(handle) = self.0.handle.get() {
            user_agent_link::not_started(handle, to, run, why);
        }
    }

    /// Where users have their own agents, the log is with the owner's agent.
    pub(crate) fn drop_log(&self, (node, session): (NodeId, SessionId), run: RunId, owner: UserId) {
        let connection = self.connection(node).filter(|it| it.session == session);
        let (Some(connection), Some(handle)) = (connection, self.0.handle.get()) else { return };
        if connection.user_agents.drop_log(owner, run) {
            return;
        }
        let _ = connection.orders.send(ToAgent::DropLog { run });
        if connection.protocol < CONFIRMS_LOGS {
            let message = NodeMessage::LogDropped { run };
            handle.tell(Input::Node { node, session, message });
        }
    }

    /// What to measure has changed.
    pub(crate) fn order_sampling(&self, order: &SamplingOrder) {
        let connections = self.connections();
        for connection in connections.values().filter(|it| it.protocol >= TELLS_SAMPLES) {
            let _ = connection.orders.send(ToAgent::Sampling(order.clone()));
        }
    }

    /// Answers whether the agent there knows how.
    pub(crate) fn end_foreign(&self, node: NodeId, order: EndForeign) -> bool {
        let connection = self.connection(node).filter(|it| it.protocol >= ENDS_FOREIGN);
        connection.is_some_and(|it| it.orders.send(ToAgent::EndForeign(order)).is_ok())
    }

    /// All nodes reconnect, as after a start of the daemon.
    pub(crate) fn drop_connections(&self) {
        self.connections().clear();
    }

    pub(crate) fn drop_connection(&self, node: NodeId) {
        self.connections().remove(&node);
    }

    pub(crate) fn is_remote(&self, model: &ReadModel, node: NodeId) -> bool {
        let known = self.known();
        model.nodes.get(&node).is_some_and(|node| known.contains_key(&node.name))
    }

    /// The address at which other machines reach it.
    pub(crate) fn address(&self, name: &str) -> Option<String> {
        let known = self.known();
        let KnownNode { record, status, .. } = known.get(name)?;
        match &record.route {
            NodeRoute::Ssh(target) => Some(target.host.clone()),
            NodeRoute::DialIn(_) => status.seen_at.map(|address| address.to_string()),
        }
    }

    /// The directory for logs that the machine shares with the server.
    pub(crate) fn shared_logs(&self, name: &str) -> Option<PathBuf> {
        self.known().get(name)?.record.logs.as_ref().map(PathBuf::from)
    }

    /// `owner` is the one of its task.
    pub(crate) fn log(&self, node: NodeId, place: LogPlace, owner: UserId) -> RemoteLog {
        RemoteLog::new(self.clone(), node, place, owner)
    }

    pub(crate) fn status(&self, name: &str) -> Option<(NodeRecord, Status)> {
        let known = self.known();
        known.get(name).map(|known| (known.record.clone(), known.status.clone()))
    }

    /// Its entry is in the store already.
    pub(crate) fn add(&self, record: NodeRecord) {
        let name = record.name.clone();
        let before = self.known().insert(name.clone(), KnownNode::new(record));
        if let Some(KnownNode { task: Some(task), .. }) = before {
            task.abort();
        }
        self.keep_connected(&name);
    }

    pub(crate) fn remove(&self, name: &str) {
        if let Some(KnownNode { task: Some(task), .. }) = self.known().remove(name) {
            task.abort();
        }
    }

    /// Try again at once.
    pub(crate) fn poke(&self, name: &str) {
        if let Some(known) = self.known().get(name) {
            known.poke.notify_one();
        }
    }

    /// Returns when an attempt after the first `before` has finished, or the node is gone.
    pub(crate) async fn tried(&self, name: &str, before: u64) {
        let tries = self.known().get(name).map(|known| known.tries.subscribe());
        if let Some(mut tries) = tries {
            let _ = tries.wait_for(|now| *now != before).await;
        }
    }

    fn note(&self, name: &str, change: impl FnOnce(&mut Status)) {
        if let Some(known) = self.known().get_mut(name) {
            change(&mut known.status);
            let tries = known.status.tries;
            known.tries.send_if_modified(|before| std::mem::replace(before, tries) != tries);
        }
    }

    fn connection(&self, node: NodeId) -> Option<Connection> {
        self.connections().get(&node).cloned()
    }

    /// Read once and kept: it is a large file.
    async fn program(&self) -> std::io::Result<&Program> {
        if self.0.program.get().is_none() {
            let read = tokio::task::spawn_blocking(Program::this);
            let program = read.await.map_err(std::io::Error::other)??;
            // Another task may have read it first.
            let _ = self.0.program.set(program);
        }
        self.0.program.get().ok_or_else(|| std::io::ErrorKind::Other.into())
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, KnownNode>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn connections(&self) -> MutexGuard<'_, BTreeMap<NodeId, Connection>> {
        self.0.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownNode {
    fn new(record: NodeRecord) -> KnownNode {
        KnownNode {
            record,
            status: Status::default(),
            poke: Arc::default(),
            tries: watch::Sender::default(),
            task: None,
        }
    }
}
