//! The conversation between server and agent, from the greeting to the end of the connection.

use super::message_limits;
use super::old_agents;
use super::remote_log::AgentRequests;
use super::ssh::{Step, Unreachable};
use super::user_agent_link::{Answered, NodeLinkContext, UserAgentLinks};
use super::user_agents::{MergedReport, UserAgents};
use super::{Connection, KIND, NodeRecord, Nodes};
use crate::daemon::clock;
use crate::daemon::handle::Handle;
use crate::fleet::admitted_samples::admit;
use crate::store::RecordChange;
use crate::usage::SampleSource;
use danlu_core::input::NodeReport;
use danlu_core::{Input, NodeId, NodeMessage, SessionId};
use danlu_messages::machines::MachineProblem;
use danlu_wire::agent::{Machine, PROTOCOL, TELLS_SAMPLES};
use danlu_wire::frame::{Decoder, encode};
use danlu_wire::gpu::GpuDetails;
use danlu_wire::samples::Samples;
use danlu_wire::{FromAgent, Hello, ToAgent};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

/// Timeout of the greeting: an agent first adopts runs and probes its GPUs.
const GREETING: Duration = Duration::from_secs(60);
/// Interval of heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// A connection that is silent for this long counts as lost.
const SILENCE: Duration = Duration::from_secs(25);
/// Back-pressure: after this many messages the engine must have handled them before more are read.
const AHEAD: usize = 256;

/// A machine at the other end of a connection.
pub(super) struct RemoteNode<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) handle: &'a Handle,
    pub(super) node: NodeId,
    pub(super) record: &'a NodeRecord,
}

/// Marks a machine as connected until it is dropped.
pub(super) struct ConnectedNode<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) handle: &'a Handle,
    pub(super) node: NodeId,
    pub(super) session: SessionId,
}

impl Drop for ConnectedNode<'_> {
    fn drop(&mut self) {
        let ConnectedNode { node, session, .. } = *self;
        let mut connections = self.nodes.connections();
        // Another connection may have replaced it.
        if connections.get(&node).is_some_and(|connection| connection.session == session) {
            connections.remove(&node);
            self.nodes.0.live.forget(node);
            self.nodes.0.usage.lost(node);
        }
        drop(connections);
        self.nodes.save_last_lines(self.handle, node);
        self.handle.tell(Input::Node { node, session, message: NodeMessage::Lost });
    }
}

pub(super) struct Greeted {
    pub(super) session: SessionId,
    pub(super) protocol: u32,
    pub(super) version: String,
    pub(super) machine: Machine,
    /// Milliseconds.
    pub(super) clock_ahead: i64,
    pub(super) messages: Messages,
    /// The boot id of its machine.
    pub(super) boot_id: Option<String>,
    /// Readings of its GPUs, which it sends first.
    details: Vec<GpuDetails>,
}

pub(super) enum NotGreeted {
    /// The connection has ended.
    Silent,
    Wrong(Unreachable),
}

fn wrong(problem: MachineProblem) -> NotGreeted {
    NotGreeted::Wrong(Unreachable::new(Step::Greet, problem))
}

impl RemoteNode<'_> {
    pub(super) async fn greet(
        &self,
        session: SessionId,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<Greeted, NotGreeted> {
        let mut hello = Hello::new(env!("CARGO_PKG_VERSION"), session, None);
        hello.station = Some(self.record.station());
        let said_at = clock::now();
        write(to, &ToAgent::Hello(hello)).await.map_err(|_| NotGreeted::Silent)?;
        let mut messages = Messages::default();
        let mut details = Vec::new();
        let answer = timeout(GREETING, async {
            let none: Result<_, String> = Ok(None);
            loop {
                match messages.next(from).await? {
                    Some(FromAgent::Hello(hello)) => return Ok(Some(hello)),
                    Some(FromAgent::Details(seen)) => details = seen,
                    Some(_) => {}
                    None => return none,
                }
            }
        });
        let hello = match answer.await {
            Ok(Ok(Some(hello))) => hello,
            Ok(Ok(None)) => return Err(NotGreeted::Silent),
            Ok(Err(said)) => return Err(wrong(MachineProblem::AgentInvalid { said })),
            Err(_) => return Err(wrong(MachineProblem::AgentSilent)),
        };
        if !hello.is_compatible() {
            let (version, theirs) = (hello.version, hello.protocol);
            return Err(wrong(MachineProblem::OtherProtocol { version, theirs, ours: PROTOCOL }));
        }
        let (Some(machine), true) = (hello.machine, hello.session == session) else {
            return Err(wrong(MachineProblem::AgentAnonymous));
        };
        let now = clock::now();
        // Its clock was read some time in between.
        let clock_ahead = machine.now.0 - (said_at.0 + (now.0 - said_at.0) / 2);
        let (version, boot_id) = (hello.version, hello.boot_id);
        let protocol = hello.protocol.min(PROTOCOL);
        Ok(Greeted { session, protocol, version, machine, clock_ahead, messages, boot_id, details })
    }

    /// Higher than any before, including numbers that are not committed yet.
    pub(super) fn next_session(&self) -> SessionId {
        let model = self.handle.model();
        let stored = model.nodes.get(&self.node).map_or(0, |node| node.session.0);
        let mut last =
            self.nodes.0.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let last = last.entry(self.node).or_default();
        *last = stored.max(*last) + 1;
        SessionId(*last)
    }

    /// The machine that answers first is the one; another with its address has not got its runs.
    pub(super) async fn recognise(&self, machine: &Machine) -> Result<(), NotGreeted> {
        match &self.record.machine {
            Some(id) if *id == machine.id => Ok(()),
            Some(_) => {
                let (host_name, node) = (machine.host_name.clone(), self.record.name.clone());
                Err(wrong(MachineProblem::OtherMachine { host_name, node }))
            }
            None => {
                let record =
                    NodeRecord { machine: Some(machine.id.clone()), ..self.record.clone() };
                let not_kept = |_| wrong(MachineProblem::IdentityNotStored);
                self.handle.keep(vec![put(&record)], None).await.map_err(not_kept)?;
                if let Some(known) = self.nodes.known().get_mut(&record.name) {
                    known.record.machine = record.machine;
                }
                Ok(())
            }
        }
    }

    /// Until the connection is gone. `None` where `ssh` knows why.
    pub(super) async fn speak(
        &self,
        greeted: Greeted,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Option<Unreachable> {
        let Greeted { session, protocol, mut messages, details, machine, boot_id, .. } = greeted;
        let (orders, mut ordered) = mpsc::unbounded_channel();
        let asks = AgentRequests::default();
        let user_agents = UserAgents::default();
        let (kept_asks, kept_owners) = (asks.clone(), user_agents.clone());
        let connection =
            Connection { session, protocol, orders, asks: kept_asks, user_agents: kept_owners };
        self.nodes.connections().insert(self.node, connection);
        self.tell(session, NodeMessage::Connected);
        let measures = protocol >= TELLS_SAMPLES;
        let sampling = measures.then(|| ToAgent::Sampling(self.nodes.0.usage.settings().order()));
        for first in [ToAgent::AskReport, ToAgent::AskFacts].into_iter().chain(sampling) {
            write(to, &first).await.ok()?;
        }
        self.hear(session, FromAgent::Details(details), &asks, measures);
        // Root runs tasks as any OS user; any other login only as itself.
        let mut own = (!machine.is_root).then(|| {
            let all = NodeLinkContext {
                nodes: self.nodes.clone(),
                handle: self.handle.clone(),
                node: self.node,
                record: self.record.clone(),
                session,
                answered: Answered { machine, boot_id },
                user_agents: user_agents.clone(),
            };
            UserAgentLinks::start(all)
        });
        let mut held = None;
        let mut heartbeat = interval(HEARTBEAT);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut heard_at = Instant::now();
        let mut ahead = 0;
        loop {
            tokio::select! {
                order = ordered.recv() => {
                    // The engine begins anew, and wants all connections to.
                    let Some(order) = order else {
                        return Some(Unreachable::new(Step::Greet, MachineProblem::Reconnecting));
                    };
                    write_many(to, order, &mut ordered).await.ok()?;
                }
                said = messages.next(from) => {
                    let said = match said {
                        Ok(Some(said)) => said,
                        Ok(None) => return None,
                        Err(said) => {
                            let problem = MachineProblem::AgentInvalid { said };
                            return Some(Unreachable::new(Step::Greet, problem));
                        }
                    };
                    heard_at = Instant::now();
                    match said {
                        FromAgent::Report(report) => {
                            held = self.report(session, report, &user_agents);
                            continue;
                        }
                        said @ (FromAgent::Hello(_) | FromAgent::Started { .. } | FromAgent::Ended { .. } | FromAgent::LogDropped { .. } | FromAgent::Gpus(_) | FromAgent::Details(_) | FromAgent::Memory { .. } | FromAgent::Fitness { .. } | FromAgent::Facts(_) | FromAgent::Log(_) | FromAgent::Paths(_) | FromAgent::Samples(_)) => self.hear(session, said, &asks, measures),
                    }
                    ahead += 1;
                    if ahead >= AHEAD {
                        ahead = 0;
                        self.handle.read(|_| ()).await.ok()?;
                    }
                }
                () = user_agents.news() => {
                    if let Some(own) = &mut own {
                        own.take_over_keys();
                    }
                    if let Some(lost) = user_agents.lost() {
                        return Some(lost);
                    }
                    if let Some(report) = held.take() {
                        held = self.report(session, report, &user_agents);
                    } else if user_agents.take_newcomers() {
                        user_agents.ask_for_reports();
                        write(to, &ToAgent::AskReport).await.ok()?;
                    }
                }
                _ = heartbeat.tick() => {
                    write(to, &ToAgent::AskFacts).await.ok()?;
                    self.nodes.ask_for_last_lines(self.handle, self.node);
                }
                () = sleep_until(heard_at + SILENCE) => {
                    return Some(Unreachable::new(Step::Greet, MachineProblem::ConnectionSilent));
                }
            }
        }
    }

    /// Reports to the core once all agents have reported. Returns the report if it has to wait.
    fn report(
        &self,
        session: SessionId,
        report: NodeReport,
        user_agents: &UserAgents,
    ) -> Option<NodeReport> {
        let model = self.handle.model();
        let there =
            |run: &&danlu_core::Run| run.part_on(self.node).is_some_and(|it| !it.is_ended());
        let tasks = model.active_runs().filter(there).filter_map(|run| model.tasks.get(&run.task));
        match user_agents.together(report, &tasks.map(|task| task.owner).collect()) {
            MergedReport::Report(report) => {
                self.tell(session, NodeMessage::Report(report));
                None
            }
            MergedReport::NotYet(report) => Some(report),
        }
    }

    /// `measures`: it tells samples by itself.
    fn hear(&self, session: SessionId, said: FromAgent, asks: &AgentRequests, measures: bool) {
        match said {
            FromAgent::Details(details) => self.nodes.0.live.note(self.node, &details),
            FromAgent::Facts(facts) => {
                let now = clock::now();
                if !measures {
                    let before = self.nodes.status(&self.record.name);
                    let before = before.and_then(|(_, status)| status.facts);
                    let gpus = self.nodes.0.live.all(self.node);
                    self.measured(old_agents::samples(before.as_ref(), &facts, &gpus));
                }
                self.nodes.note(&self.record.name, |status| {
                    status.last_contact_at = Some(now);
                    status.clock_ahead = Some(facts.now.0 - now.0);
                    status.facts = Some(facts);
                });
            }
            FromAgent::Log(piece) => asks.answer(piece),
            FromAgent::Paths(checked) => asks.answer_check(checked),
            FromAgent::Samples(samples) => self.measured(*samples),
            said @ (FromAgent::Hello(_)
            | FromAgent::Report(_)
            | FromAgent::Started { .. }
            | FromAgent::Ended { .. }
            | FromAgent::LogDropped { .. }
            | FromAgent::Gpus(_)
            | FromAgent::Memory { .. }
            | FromAgent::Fitness { .. }) => {
                if let Some(message) = said.into_node_message() {
                    self.tell(session, message);
                }
            }
        }
    }

    fn measured(&self, samples: Samples) {
        let usage = &self.nodes.0.usage;
        let samples = admit(samples, &self.handle.model(), &usage.settings(), self.node, None);
        usage.note(SampleSource { node: self.node, user: None }, samples);
    }

    fn tell(&self, session: SessionId, message: NodeMessage) {
        self.handle.tell(Input::Node { node: self.node, session, message });
    }
}

pub(crate) fn put(record: &NodeRecord) -> RecordChange {
    let json = serde_json::to_string(record).expect("names and numbers can be written as JSON");
    RecordChange::Put { kind: KIND, id: record.name.clone(), json }
}

pub(crate) fn remove(name: &str) -> RecordChange {
    RecordChange::Delete { kind: KIND, id: name.to_owned() }
}

async fn write(to: &mut (impl AsyncWrite + Unpin), message: &ToAgent) -> io::Result<()> {
    to.write_all(&encode(message).map_err(io::Error::other)?).await?;
    to.flush().await
}

pub(super) async fn write_many(
    to: &mut (impl AsyncWrite + Unpin),
    first: ToAgent,
    more: &mut mpsc::UnboundedReceiver<ToAgent>,
) -> io::Result<()> {
    let mut lines = encode(&first).map_err(io::Error::other)?;
    while lines.len() < 256 << 10
        && let Ok(next) = more.try_recv()
    {
        lines.extend(encode(&next).map_err(io::Error::other)?);
    }
    to.write_all(&lines).await?;
    to.flush().await
}

/// What comes, whole messages at a time, each held to what can be. It can be left and taken up again at any point.
#[derive(Default)]
pub(super) struct Messages {
    decoder: Decoder,
}

impl Messages {
    /// `None` at the end of the connection.
    pub(super) async fn next(
        &mut self,
        from: &mut (impl AsyncRead + Unpin),
    ) -> Result<Option<FromAgent>, String> {
        let mut piece = [0; 16 << 10];
        loop {
            let message = self
                .decoder
                .next_message()
                .map_err(|error| message_limits::line(&error.to_string()))?;
            if let Some(message) = message {
                return message_limits::clean(message).map(Some);
            }
            match from.read(&mut piece).await {
                Ok(count @ 1..) => self.decoder.feed(&piece[..count]),
                Ok(0) | Err(_) => return Ok(None),
            }
        }
    }
}
