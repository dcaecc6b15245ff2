//! A user's own connection to a machine whose agent is not root: it is opened with that user's key, and its agent runs only
//! that user's tasks.
//!
//! Invariant: a user's agent is heard only about that user's runs.
//! Invariant: no order is sent to an agent before it is certain that it is not root, has the login that its user named, and is
//! on the machine that the server's own connection has reached.

use super::Nodes;
use super::node_entry::{NodeRecord, NodeRoute, SshTarget};
use super::reconnect::{LONGEST_TRY, next_try, pause};
use super::remote_log::AgentRequests;
use super::session::{Greeted, NotGreeted, RemoteNode, write_many};
use super::ssh::{self, Account, Channel, Step, Unreachable};
use super::ssh_error::HostKeyPlace;
use super::user_agents::{Link, UserAgents, unreached};
use super::user_ssh::{self, Person, SshRoute};
use crate::daemon::clock;
use crate::daemon::handle::Handle;
use crate::fleet::admitted_samples::admit;
use crate::fleet::logins::SshLogin;
use crate::usage::SampleSource;
use danlu_core::input::NodeReport;
use danlu_core::run::{Ending, Exit, RunReport};
use danlu_core::{Input, NodeId, NodeMessage, RunId, SessionId, UserId};
use danlu_messages::machines::MachineProblem;
use danlu_wire::agent::{Machine, TELLS_SAMPLES};
use danlu_wire::samples::SamplingOrder;
use danlu_wire::{FromAgent, ToAgent};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tracing::{info, warn};

/// Pause after a refusal. A changed machine or key is tried at once.
const REFUSED: Duration = Duration::from_secs(600);
/// Back-pressure: after this many messages the engine must have handled them before more are read.
const AHEAD: usize = 256;

/// What all users' connections to one machine share.
pub(super) struct NodeLinkContext {
    pub(super) nodes: Nodes,
    pub(super) handle: Handle,
    pub(super) node: NodeId,
    pub(super) record: NodeRecord,
    pub(super) session: SessionId,
    pub(super) answered: Answered,
    pub(super) user_agents: UserAgents,
}

/// The machine that answered the server's own connection.
pub(super) struct Answered {
    pub(super) machine: Machine,
    pub(super) boot_id: Option<String>,
}

/// All users' connections of a machine; dropped together.
pub(super) struct UserAgentLinks {
    shared: Arc<NodeLinkContext>,
    tasks: JoinSet<()>,
    kept: BTreeMap<UserId, AbortHandle>,
}

impl UserAgentLinks {
    pub(super) fn start(shared: NodeLinkContext) -> UserAgentLinks {
        let users = shared.nodes.0.logins.with_keys_on(&shared.record.name);
        let (tasks, kept) = (JoinSet::new(), BTreeMap::new());
        let mut links = UserAgentLinks { shared: Arc::new(shared), tasks, kept };
        users.into_iter().for_each(|user| links.open(user));
        links
    }

    fn open(&mut self, user: UserId) {
        self.shared.user_agents.links().insert(user, Link::default());
        let own = UserAgentLink { shared: Arc::clone(&self.shared), user };
        self.kept.insert(user, self.tasks.spawn(own.keep()));
    }

    /// Reconnects users whose key has changed, and drops those without a key.
    pub(super) fn take_over_keys(&mut self) {
        let shared = Arc::clone(&self.shared);
        for user in shared.user_agents.take_changed() {
            if let Some(before) = self.kept.remove(&user) {
                before.abort();
                shared.note_end(user, MachineProblem::UserKeyChanged);
            }
            let is_lost = shared.user_agents.links().get(&user).is_some_and(|link| link.is_lost);
            if is_lost {
                // The whole node reconnects, and reports what runs there.
                return;
            }
            shared.user_agents.links().remove(&user);
            if shared.nodes.0.logins.with_keys_on(&shared.record.name).contains(&user) {
                self.open(user);
            }
        }
        while self.tasks.try_join_next().is_some() {}
    }
}

impl NodeLinkContext {
    fn note_end(&self, user: UserId, problem: MachineProblem) {
        let model = self.handle.model();
        let is_active = |run: &RunId| model.runs.get(run).is_some_and(|run| !run.is_ended());
        let mut links = self.user_agents.links();
        let Some(link) = links.get_mut(&user) else { return };
        (link.orders, link.login) = (None, None);
        let why = unreached(&problem);
        link.problem = Some(problem);
        link.is_lost = link.runs.iter().any(is_active);
        let waiting = std::mem::take(&mut link.waiting);
        drop(links);
        for order in waiting {
            not_started(&self.handle, (self.node, self.session), order.run, why.clone());
        }
        self.user_agents.tell_news();
    }
}

/// Reports a launch that reached no agent as ended.
pub(super) fn not_started(
    handle: &Handle,
    (node, session): (NodeId, SessionId),
    run: RunId,
    why: String,
) {
    let ending = Ending::new(Exit::Launch { message: why }, clock::now());
    handle.tell(Input::Node { node, session, message: NodeMessage::Ended { run, ending } });
}

/// The connection of one user.
struct UserAgentLink {
    shared: Arc<NodeLinkContext>,
    user: UserId,
}

/// Why there is no connection.
enum LinkEnd {
    Lost(Unreachable),
    Never(Unreachable),
    /// The login that answered is not the one it was opened for.
    Refused(Unreachable),
}

impl UserAgentLink {
    async fn keep(self) {
        let mut tries = 0;
        loop {
            let began = Instant::now();
            let closed = self.once().await;
            let (reason, was_there) = match &closed {
                LinkEnd::Lost(reason) => (reason, true),
                LinkEnd::Never(reason) | LinkEnd::Refused(reason) => (reason, false),
            };
            let name = &self.shared.record.name;
            warn!(node = name, user = self.user.0, %reason, "own connection");
            self.shared.note_end(self.user, reason.problem.clone());
            tries = next_try(tries, was_there, began);
            match closed {
                LinkEnd::Refused(_) => tokio::time::sleep(REFUSED).await,
                LinkEnd::Lost(_) | LinkEnd::Never(_) => pause(tries).await,
            }
        }
    }

    async fn once(&self) -> LinkEnd {
        let NodeLinkContext { nodes, record, answered, .. } = &*self.shared;
        let name = &record.name;
        let Some((login, key)) = nodes.0.logins.ssh(self.user, name) else {
            let node = name.clone();
            return LinkEnd::Refused(unusable(MachineProblem::UserKeyUnusable { node }));
        };
        if login.route_id.as_ref().is_some_and(|id| *id != record.route_id(&answered.machine.id)) {
            let node = name.clone();
            return LinkEnd::Refused(unusable(MachineProblem::UserKeyOfOtherRoute { node }));
        }
        let NodeRoute::Ssh(target) = &record.route else {
            return LinkEnd::Refused(unusable(MachineProblem::NotReachedBySsh));
        };
        let connecting = self.connect(target, &login, &key);
        let (mut channel, account) = match tokio::time::timeout(LONGEST_TRY, connecting).await {
            Ok(Ok(connected)) => connected,
            Ok(Err(reason)) => return LinkEnd::Never(reason),
            Err(_) => return LinkEnd::Never(unusable(MachineProblem::MachineSilent)),
        };
        if let Err(reason) = self.admit(&account, &login) {
            return LinkEnd::Refused(reason);
        }
        // Their run directories are in their own home.
        let record = NodeRecord { data: None, sudo: false, ..record.clone() };
        let NodeLinkContext { handle, node, session, .. } = &*self.shared;
        let far = RemoteNode { nodes, handle, node: *node, record: &record };
        let greeted = match far.greet(*session, &mut channel.from, &mut channel.to).await {
            Ok(greeted) => greeted,
            Err(NotGreeted::Silent) => return LinkEnd::Never(channel.reason(Step::Start).await),
            Err(NotGreeted::Wrong(reason)) => return LinkEnd::Never(reason),
        };
        if let Err(reason) = self.recognise(&greeted, &login) {
            return LinkEnd::Refused(reason);
        }
        info!(node = name, user = self.user.0, "own connection opened");
        match self.speak(greeted, &mut channel.from, &mut channel.to).await {
            Some(reason) => LinkEnd::Lost(reason),
            None => LinkEnd::Lost(channel.reason(Step::Greet).await),
        }
    }

    async fn connect(
        &self,
        target: &SshTarget,
        login: &SshLogin,
        key: &Path,
    ) -> Result<(Channel, Account), Unreachable> {
        let nodes = &self.shared.nodes;
        let program = nodes.program().await.map_err(|error| {
            let error = error.to_string();
            Unreachable::new(Step::Upload, MachineProblem::ProgramUnreadable { error })
        })?;
        let known_hosts = ssh::known_hosts(&nodes.0.data);
        let route = SshRoute::to(target).await?;
        let person = Person { login: &login.user, key };
        let command = user_ssh::command(target, &route, person, &known_hosts);
        let place = HostKeyPlace::of(target, &known_hosts);
        ssh::connect(command, &place, false, program).await
    }

    /// Checks the login that the machine reports, before anything is sent to the agent.
    fn admit(&self, account: &Account, login: &SshLogin) -> Result<(), Unreachable> {
        self.check(account.uid == 0, &account.name, login)?;
        self.shared
            .user_agents
            .claim(self.user, &account.name)
            .map_err(|()| unusable(MachineProblem::LoginTaken { login: account.name.clone() }))
    }

    /// Checks what the agent reports about itself, before any order is sent.
    fn recognise(&self, greeted: &Greeted, login: &SshLogin) -> Result<(), Unreachable> {
        let Answered { machine, boot_id } = &self.shared.answered;
        let theirs = &greeted.machine;
        self.check(theirs.is_root, &theirs.login, login)?;
        if theirs.id != machine.id || greeted.boot_id != *boot_id {
            let host_name = theirs.host_name.clone();
            return Err(unusable(MachineProblem::KeyOfOtherMachine { host_name }));
        }
        Ok(())
    }

    fn check(&self, is_root: bool, name: &str, login: &SshLogin) -> Result<(), Unreachable> {
        if is_root {
            return Err(unusable(MachineProblem::KeyOfRoot));
        }
        if name == self.shared.answered.machine.login {
            return Err(unusable(MachineProblem::KeyOfServer { login: name.to_owned() }));
        }
        if name != login.user {
            let (login, wanted) = (name.to_owned(), login.user.clone());
            return Err(unusable(MachineProblem::KeyOfOtherLogin { login, wanted }));
        }
        Ok(())
    }

    async fn speak(
        &self,
        greeted: Greeted,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Option<Unreachable> {
        let mut messages = greeted.messages;
        let (orders, mut ordered) = mpsc::unbounded_channel();
        let asks = AgentRequests::default();
        if let Some(link) = self.shared.user_agents.links().get_mut(&self.user) {
            // Waiting launches are sent first, so that its report contains them.
            for order in std::mem::take(&mut link.waiting) {
                link.runs.insert(order.run);
                let _ = orders.send(ToAgent::Launch(Box::new(order)));
            }
            let _ = orders.send(ToAgent::AskReport);
            if greeted.protocol >= TELLS_SAMPLES {
                let interval = self.shared.nodes.0.usage.settings().interval;
                let order = SamplingOrder { interval, only_runs: true, probes: Vec::new() };
                let _ = orders.send(ToAgent::Sampling(order));
            }
            let (runs, login) = (std::mem::take(&mut link.runs), link.login.take());
            let (orders, asks) = (Some(orders), asks.clone());
            *link = Link { orders, asks, login, runs, is_new: true, ..Link::default() };
        }
        let mut ahead = 0;
        loop {
            tokio::select! {
                order = ordered.recv() => write_many(to, order?, &mut ordered).await.ok()?,
                said = messages.next(from) => match said {
                    Ok(Some(said)) => {
                        self.hear(said, &asks);
                        ahead += 1;
                        if ahead >= AHEAD {
                            ahead = 0;
                            self.shared.handle.read(|_| ()).await.ok()?;
                        }
                    }
                    Ok(None) => return None,
                    Err(said) => {
                        let problem = MachineProblem::AgentInvalid { said };
                        return Some(Unreachable::new(Step::Greet, problem));
                    }
                },
            }
        }
    }

    /// Only the main agent reports GPUs and memory.
    fn hear(&self, said: FromAgent, asks: &AgentRequests) {
        match said {
            FromAgent::Log(piece) => asks.answer(piece),
            FromAgent::Paths(checked) => asks.answer_check(checked),
            FromAgent::Samples(samples) => {
                let NodeLinkContext { nodes, node, handle, .. } = &*self.shared;
                let (usage, user) = (&nodes.0.usage, Some(self.user));
                let samples = admit(*samples, &handle.model(), &usage.settings(), *node, user);
                usage.note(SampleSource { node: *node, user }, samples);
            }
            FromAgent::Report(NodeReport { runs, .. }) => {
                let runs: Vec<RunReport> =
                    runs.into_iter().filter(|report| self.is_theirs(report.run)).collect();
                let model = self.shared.handle.model();
                let is_active = |run: &RunId| model.runs.get(run).is_some_and(|it| !it.is_ended());
                let mut links = self.shared.user_agents.links();
                if let Some(link) = links.get_mut(&self.user) {
                    link.runs.retain(is_active);
                    link.runs.extend(runs.iter().map(|report| report.run));
                    link.reported = Some(runs);
                }
                drop(links);
                self.shared.user_agents.tell_news();
            }
            FromAgent::Started { run, .. } | FromAgent::Ended { run, .. }
                if !self.is_theirs(run) => {}
            FromAgent::Started { run, at, .. } => self.tell(NodeMessage::Started { run, at }),
            FromAgent::Ended { run, ending, .. } => self.tell(NodeMessage::Ended { run, ending }),
            FromAgent::LogDropped { run } => {
                let mut links = self.shared.user_agents.links();
                let asked =
                    links.get_mut(&self.user).is_some_and(|link| link.dropping.remove(&run));
                drop(links);
                if asked {
                    self.tell(NodeMessage::LogDropped { run });
                }
            }
            FromAgent::Hello(_)
            | FromAgent::Gpus(_)
            | FromAgent::Details(_)
            | FromAgent::Memory { .. }
            | FromAgent::Fitness { .. }
            | FromAgent::Facts(_) => {}
        }
    }

    /// Unknown runs are reported too: they must not run there.
    fn is_theirs(&self, run: RunId) -> bool {
        let model = self.shared.handle.model();
        let Some(run) = model.runs.get(&run) else { return true };
        model.tasks.get(&run.task).is_none_or(|task| task.owner == self.user)
    }

    fn tell(&self, message: NodeMessage) {
        let NodeLinkContext { node, session, handle, .. } = &*self.shared;
        handle.tell(Input::Node { node: *node, session: *session, message });
    }
}

fn unusable(problem: MachineProblem) -> Unreachable {
    Unreachable::new(Step::LogIn, problem)
}
