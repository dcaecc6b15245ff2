//! Users' own agents on a machine whose main agent is not root.
//!
//! The core sees one node. Invariant: it gets a report only when every agent that may have something running has reported; when
//! one of those is lost, the node is lost.
//! Invariant: no two users share a login there, nor does a user share that of the main agent: agents of one login would end each
//! other.

use super::remote_log::AgentRequests;
use super::ssh::{Step, Unreachable};
use danlu_core::input::NodeReport;
use danlu_core::run::RunReport;
use danlu_core::{RunId, UserId};
use danlu_messages::machines::MachineProblem;
use danlu_wire::{LaunchOrder, ToAgent};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};

/// Clones share the same data. Empty for a machine whose agent is root.
#[derive(Debug, Clone, Default)]
pub(super) struct UserAgents {
    links: Arc<Mutex<BTreeMap<UserId, Link>>>,
    /// Whose key has changed since that was last looked at.
    changed: Arc<Mutex<BTreeSet<UserId>>>,
    /// Notified when a user's agent has reported, is lost, or has another key.
    news: Arc<Notify>,
}

#[derive(Debug, Default)]
pub(super) struct Link {
    /// `None` while it is not connected.
    pub(super) orders: Option<mpsc::UnboundedSender<ToAgent>>,
    pub(super) asks: AgentRequests,
    /// The login, as the machine reports it and not as the user names it.
    pub(super) login: Option<String>,
    /// Runs that were started by this agent or that it adopted.
    pub(super) runs: BTreeSet<RunId>,
    pub(super) reported: Option<Vec<RunReport>>,
    /// Why it is not connected; `None` while it is still connecting.
    pub(super) problem: Option<MachineProblem>,
    /// Launches that wait for the connection.
    pub(super) waiting: Vec<LaunchOrder>,
    /// Logs that it was ordered to delete.
    pub(super) dropping: BTreeSet<RunId>,
    /// It had running tasks when its connection was lost.
    pub(super) is_lost: bool,
    /// It has just sent its first report.
    pub(super) is_new: bool,
}

/// A connected agent of a user.
pub(super) struct UserAgent {
    pub(super) orders: mpsc::UnboundedSender<ToAgent>,
    pub(super) asks: AgentRequests,
    pub(super) login: String,
}

impl Link {
    fn theirs(&self) -> Option<UserAgent> {
        let (orders, login) = (self.orders.clone()?, self.login.clone()?);
        Some(UserAgent { orders, asks: self.asks.clone(), login })
    }
}

/// The report of a machine with several agents.
pub(super) enum MergedReport {
    Report(NodeReport),
    /// An agent has not reported yet.
    NotYet(NodeReport),
}

impl UserAgents {
    pub(super) fn links(&self) -> MutexGuard<'_, BTreeMap<UserId, Link>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn changed(&self) -> MutexGuard<'_, BTreeSet<UserId>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    pub(super) fn tell_news(&self) {
        self.news.notify_one();
    }

    /// The user's agent that has a run; `None` for the main agent.
    pub(super) fn with(&self, run: RunId) -> Option<UserAgent> {
        self.links().values().find(|link| link.runs.contains(&run))?.theirs()
    }

    /// The same by user, for logs of ended runs.
    pub(super) fn of(&self, user: UserId) -> Option<UserAgent> {
        self.links().get(&user)?.theirs()
    }

    /// Why a user's own connection is not established, if it should be.
    pub(super) fn problem(&self, user: UserId) -> Option<MachineProblem> {
        self.links().get(&user)?.problem.clone()
    }

    /// The connection is opened again with the new key, or closed.
    pub(super) fn key_changed(&self, user: UserId) {
        self.changed().insert(user);
        self.tell_news();
    }

    pub(super) fn take_changed(&self) -> BTreeSet<UserId> {
        std::mem::take(&mut *self.changed())
    }

    /// Claims a login before any order is sent to its agent. An error if another user has it already.
    pub(super) fn claim(&self, user: UserId, login: &str) -> Result<(), ()> {
        let mut links = self.links();
        let taken = |(other, link): (&UserId, &Link)| {
            *other != user && link.login.as_deref() == Some(login)
        };
        if links.iter().any(taken) {
            return Err(());
        }
        if let Some(link) = links.get_mut(&user) {
            link.login = Some(login.to_owned());
        }
        Ok(())
    }

    /// `None` if the main agent starts it; an error if the user's agent cannot.
    pub(super) fn launch(&self, user: UserId, order: &LaunchOrder) -> Option<Result<(), String>> {
        let mut links = self.links();
        let link = links.get_mut(&user)?;
        // The agent runs as the owner already.
        let order = LaunchOrder { user: None, ..order.clone() };
        match (&link.orders, &link.problem) {
            (Some(orders), _) => {
                link.runs.insert(order.run);
                // A closed connection is noticed by its own task.
                let _ = orders.send(ToAgent::Launch(Box::new(order)));
            }
            (None, None) => link.waiting.push(order),
            (None, Some(problem)) => return Some(Err(unreached(problem))),
        }
        Some(Ok(()))
    }

    /// False if the main agent does it. While the user's agent is away, the deletion stays unconfirmed.
    pub(super) fn drop_log(&self, user: UserId, run: RunId) -> bool {
        let mut links = self.links();
        let Some(link) = links.get_mut(&user) else { return false };
        if let Some(orders) = &link.orders {
            link.dropping.insert(run);
            let _ = orders.send(ToAgent::DropLog { run });
        }
        true
    }

    /// Asks all agents for a report; earlier reports no longer count.
    pub(super) fn ask_for_reports(&self) {
        for link in self.links().values_mut() {
            link.reported = None;
            if let Some(orders) = &link.orders {
                let _ = orders.send(ToAgent::AskReport);
            }
        }
    }

    /// Whether an agent has connected that may have unknown runs.
    pub(super) fn take_newcomers(&self) -> bool {
        let mut links = self.links();
        links.values_mut().filter(|link| link.is_new).map(|link| link.is_new = false).count() > 0
    }

    /// Why the machine counts as lost, if it does.
    pub(super) fn lost(&self) -> Option<Unreachable> {
        let links = self.links();
        let lost = links.values().find(|link| link.is_lost)?;
        let why = lost.problem.clone().map(Box::new);
        Some(Unreachable::new(Step::Greet, MachineProblem::UserConnectionLost { why }))
    }

    /// Merges the reports of all agents. `busy` are the users that may have something running.
    pub(super) fn together(&self, mut report: NodeReport, busy: &BTreeSet<UserId>) -> MergedReport {
        let links = self.links();
        let waits = |(user, link): (&UserId, &Link)| {
            link.reported.is_none() && (link.orders.is_some() || busy.contains(user))
        };
        if links.iter().any(waits) {
            return MergedReport::NotYet(report);
        }
        let theirs = links.values().filter_map(|link| link.reported.as_ref());
        report.runs.extend(theirs.flatten().cloned());
        MergedReport::Report(report)
    }
}

/// Stored with the run, in English.
pub(super) fn unreached(why: &MachineProblem) -> String {
    format!("with your own key it cannot be reached: {}", why.in_english())
}
