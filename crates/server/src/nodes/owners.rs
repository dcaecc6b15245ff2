//! People's own connections to a machine whose agent is not root: each opened by its owner's key, with an agent that runs
//! that owner's tasks and nobody else's.
//!
//! To the core they are one machine. Invariant: it hears a report only when all who may have something running there
//! have reported; and when one of those is lost, so is the machine.
//! Invariant: an owner's agent is heard about its owner's runs alone.

use super::Nodes;
use super::keep::pause;
use super::record::{NodeRecord, Route};
use super::remote_log::Asks;
use super::session::{Far, Greeted, NotGreeted, write_many};
use super::ssh::{self, Step, Unreachable};
use crate::clock;
use crate::handle::Handle;
use danlu_core::input::NodeReport;
use danlu_core::run::{Ending, Exit, RunReport};
use danlu_core::{Input, NodeId, NodeMessage, RunId, SessionId, UserId};
use danlu_wire::{FromAgent, LaunchOrder, ToAgent};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tracing::{info, warn};

/// Copies are the same. Empty for a machine whose agent is root.
#[derive(Debug, Clone, Default)]
pub(super) struct Owners {
    links: Arc<Mutex<BTreeMap<UserId, Link>>>,
    /// Somebody has reported, or is lost.
    news: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Link {
    /// `None` while it is not connected.
    orders: Option<mpsc::UnboundedSender<ToAgent>>,
    asks: Asks,
    /// What was started there, or was there already.
    runs: BTreeSet<RunId>,
    reported: Option<Vec<RunReport>>,
    /// Why it is not connected; `None` while that is still being tried.
    problem: Option<String>,
    /// To be started as soon as it is.
    waiting: Vec<LaunchOrder>,
    /// Something ran there when it went.
    is_lost: bool,
    /// It has reported for the first time.
    is_new: bool,
}

/// What the core hears of a machine with several agents.
pub(super) enum Together {
    Report(NodeReport),
    /// Somebody has not reported yet.
    NotYet(NodeReport),
}

impl Owners {
    fn links(&self) -> MutexGuard<'_, BTreeMap<UserId, Link>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// Whom to ask about a run, if not the machine's own agent.
    pub(super) fn with(&self, run: RunId) -> Option<(mpsc::UnboundedSender<ToAgent>, Asks)> {
        let links = self.links();
        let link = links.values().find(|link| link.runs.contains(&run))?;
        Some((link.orders.clone()?, link.asks.clone()))
    }

    /// The same for a log, which lies there long after.
    pub(super) fn of(&self, user: UserId) -> Option<(mpsc::UnboundedSender<ToAgent>, Asks)> {
        let links = self.links();
        let link = links.get(&user)?;
        Some((link.orders.clone()?, link.asks.clone()))
    }

    /// `None` where it is for the machine's own agent to start; an error where its owner's cannot.
    pub(super) fn launch(&self, user: UserId, order: &LaunchOrder) -> Option<Result<(), String>> {
        let mut links = self.links();
        let link = links.get_mut(&user)?;
        // The agent there is its owner.
        let order = LaunchOrder { user: None, ..order.clone() };
        match (&link.orders, &link.problem) {
            (Some(orders), _) => {
                link.runs.insert(order.run);
                // Who does not listen any more is found out by its own task.
                let _ = orders.send(ToAgent::Launch(Box::new(order)));
            }
            (None, None) => link.waiting.push(order),
            (None, Some(problem)) => return Some(Err(unreached(problem))),
        }
        Some(Ok(()))
    }

    /// All are asked what they have; what they said before does not count any more.
    pub(super) fn ask_for_reports(&self) {
        for link in self.links().values_mut() {
            link.reported = None;
            if let Some(orders) = &link.orders {
                let _ = orders.send(ToAgent::AskReport);
            }
        }
    }

    /// Whether somebody has come who may have something that nobody knows of.
    pub(super) fn take_newcomers(&self) -> bool {
        self.links().values_mut().any(|link| std::mem::take(&mut link.is_new))
    }

    /// Why the machine counts as lost, if it does.
    pub(super) fn lost(&self) -> Option<Unreachable> {
        let links = self.links();
        let lost = links.values().find(|link| link.is_lost)?;
        let why = lost.problem.as_deref().unwrap_or_default();
        let message = format!("somebody's own connection was lost: {why}");
        Some(Unreachable::new(Step::Greet, message, "it is opened again by itself"))
    }

    /// With what everybody has. `busy` are those who may have something running.
    pub(super) fn together(&self, mut report: NodeReport, busy: &BTreeSet<UserId>) -> Together {
        let links = self.links();
        let waits = |(user, link): (&UserId, &Link)| {
            link.reported.is_none() && (link.orders.is_some() || busy.contains(user))
        };
        if links.iter().any(waits) {
            return Together::NotYet(report);
        }
        let theirs = links.values().filter_map(|link| link.reported.as_ref());
        report.runs.extend(theirs.flatten().cloned());
        Together::Report(report)
    }

    /// Ends with what is returned.
    pub(super) fn start(&self, far: &Far<'_>, session: SessionId) -> JoinSet<()> {
        let mut tasks = JoinSet::new();
        for user in far.nodes.0.logins.with_keys_on(&far.record.name) {
            self.links().insert(user, Link::default());
            let own = Own {
                nodes: far.nodes.clone(),
                handle: far.handle.clone(),
                node: far.node,
                record: far.record.clone(),
                session,
                user,
                owners: self.clone(),
            };
            tasks.spawn(own.keep());
        }
        tasks
    }
}

fn unreached(why: &str) -> String {
    format!("with your own key it cannot be reached: {why}")
}

/// A launch that reached nobody has ended.
pub(super) fn not_started(
    handle: &Handle,
    (node, session): (NodeId, SessionId),
    run: RunId,
    why: String,
) {
    let ending = Ending {
        exit: Exit::Launch { message: why },
        stopped: false,
        failure: None,
        started_at: None,
        ended_at: clock::now(),
    };
    handle.tell(Input::Node { node, session, message: NodeMessage::Ended { run, ending } });
}

/// One person's connection, from the server's side.
struct Own {
    nodes: Nodes,
    handle: Handle,
    node: NodeId,
    record: NodeRecord,
    session: SessionId,
    user: UserId,
    owners: Owners,
}

impl Own {
    async fn keep(self) {
        let mut tries = 0;
        loop {
            let (was_there, reason) = self.once().await;
            warn!(node = self.record.name, user = self.user.0, %reason, "own connection");
            self.note_end(&reason);
            tries = if was_there { 0 } else { tries + 1 };
            pause(tries).await;
        }
    }

    fn note_end(&self, reason: &Unreachable) {
        let model = self.handle.model();
        let is_active = |run: &RunId| model.runs.get(run).is_some_and(|run| !run.is_ended());
        let mut links = self.owners.links();
        let Some(link) = links.get_mut(&self.user) else { return };
        link.orders = None;
        link.problem = Some(reason.message.clone());
        link.is_lost = link.runs.iter().any(is_active);
        let waiting = std::mem::take(&mut link.waiting);
        drop(links);
        for order in waiting {
            let why = unreached(&reason.message);
            not_started(&self.handle, (self.node, self.session), order.run, why);
        }
        self.owners.news.notify_one();
    }

    async fn once(&self) -> (bool, Unreachable) {
        let logins = &self.nodes.0.logins;
        let Some((login, key)) = logins.ssh(self.user, &self.record.name) else {
            let hint = "give it again: danlu user ssh NAME --user USER --key FILE";
            return (false, Unreachable::new(Step::LogIn, "the key cannot be used", hint));
        };
        let Route::Ssh(target) = &self.record.route else {
            return (false, Unreachable::new(Step::LogIn, "it is not reached by SSH", ""));
        };
        let mut target = target.clone();
        (target.user, target.identity) = (Some(login.user), Some(key));
        // Their runs are in their own home.
        let record = NodeRecord { data: None, sudo: false, ..self.record.clone() };
        let program = match self.nodes.program().await {
            Ok(program) => program,
            Err(error) => {
                return (false, Unreachable::new(Step::Upload, error.to_string(), "see /proc"));
            }
        };
        let known_hosts = ssh::known_hosts(&self.nodes.0.data);
        let mut channel = match ssh::connect(&target, false, &known_hosts, program).await {
            Ok(channel) => channel,
            Err(reason) => return (false, reason),
        };
        let far =
            Far { nodes: &self.nodes, handle: &self.handle, node: self.node, record: &record };
        let greeted = match far.greet(self.session, &mut channel.from, &mut channel.to).await {
            Ok(greeted) => greeted,
            Err(NotGreeted::Silent) => return (false, channel.reason(Step::Start).await),
            Err(NotGreeted::Wrong(reason)) => return (false, reason),
        };
        info!(node = self.record.name, user = self.user.0, "own connection opened");
        match self.speak(greeted, &mut channel.from, &mut channel.to).await {
            Some(reason) => (true, reason),
            None => (true, channel.reason(Step::Greet).await),
        }
    }

    async fn speak(
        &self,
        greeted: Greeted,
        from: &mut (impl AsyncRead + Unpin),
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Option<Unreachable> {
        let mut messages = greeted.messages;
        let (orders, mut ordered) = mpsc::unbounded_channel();
        let asks = Asks::default();
        if let Some(link) = self.owners.links().get_mut(&self.user) {
            // What was to be started is there when it reports.
            for order in std::mem::take(&mut link.waiting) {
                link.runs.insert(order.run);
                let _ = orders.send(ToAgent::Launch(Box::new(order)));
            }
            let _ = orders.send(ToAgent::AskReport);
            let (runs, asks) = (std::mem::take(&mut link.runs), asks.clone());
            *link = Link { orders: Some(orders), asks, runs, is_new: true, ..Link::default() };
        }
        loop {
            tokio::select! {
                order = ordered.recv() => write_many(to, order?, &mut ordered).await.ok()?,
                said = messages.next(from) => match said {
                    Ok(Some(said)) => self.hear(said, &asks),
                    Ok(None) => return None,
                    Err(error) => {
                        let message = format!("their agent makes no sense: {error}");
                        return Some(Unreachable::new(Step::Greet, message, ""));
                    }
                },
            }
        }
    }

    /// GPUs and memory are the machine's own agent's to tell.
    fn hear(&self, said: FromAgent, asks: &Asks) {
        match said {
            FromAgent::Log(piece) => asks.answer(piece),
            FromAgent::Report(NodeReport { runs, .. }) => {
                let runs: Vec<RunReport> =
                    runs.into_iter().filter(|report| self.is_theirs(report.run)).collect();
                let model = self.handle.model();
                let is_active = |run: &RunId| model.runs.get(run).is_some_and(|it| !it.is_ended());
                let mut links = self.owners.links();
                if let Some(link) = links.get_mut(&self.user) {
                    link.runs.retain(is_active);
                    link.runs.extend(runs.iter().map(|report| report.run));
                    link.reported = Some(runs);
                }
                drop(links);
                self.owners.news.notify_one();
            }
            FromAgent::Started { run, .. } | FromAgent::Ended { run, .. }
                if !self.is_theirs(run) => {}
            FromAgent::Started { run, at, .. } => self.tell(NodeMessage::Started { run, at }),
            FromAgent::Ended { run, ending, .. } => self.tell(NodeMessage::Ended { run, ending }),
            _ => {}
        }
    }

    /// What nobody knows is reported too: it must not run there.
    fn is_theirs(&self, run: RunId) -> bool {
        let model = self.handle.model();
        let Some(run) = model.runs.get(&run) else { return true };
        model.tasks.get(&run.task).is_none_or(|task| task.owner == self.user)
    }

    fn tell(&self, message: NodeMessage) {
        self.handle.tell(Input::Node { node: self.node, session: self.session, message });
    }
}
