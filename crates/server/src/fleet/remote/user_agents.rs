//! Users' own agents on a machine whose main agent is not root.
//!
//! The core sees one node. Invariant: it gets a report only when every agent that may have something running has reported; when
//! one of those is lost, the node is lost.
//! Invariant: no two users share a login there, nor does a user share that of the main agent: agents of one login would end each
//! other.

use super::remote_log::Asks;
use super::ssh::{Step, Unreachable};
use danlu_core::input::NodeReport;
use danlu_core::run::RunReport;
use danlu_core::{RunId, UserId};
use danlu_wire::{LaunchOrder, ToAgent};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc};

/// Copies are the same. Empty for a machine whose agent is root.
#[derive(Debug, Clone, Default)]
pub(super) struct UserAgents {
    links: Arc<Mutex<BTreeMap<UserId, Link>>>,
    /// Whose key has changed since that was last looked at.
    changed: Arc<Mutex<BTreeSet<UserId>>>,
    /// Somebody has reported, is lost, or has another key.
    news: Arc<Notify>,
}

#[derive(Debug, Default)]
pub(super) struct Link {
    /// `None` while it is not connected.
    pub(super) orders: Option<mpsc::UnboundedSender<ToAgent>>,
    pub(super) asks: Asks,
    /// As whom the machine has let it in: said there, not by the person.
    pub(super) login: Option<String>,
    /// What was started there, or was there already.
    pub(super) runs: BTreeSet<RunId>,
    pub(super) reported: Option<Vec<RunReport>>,
    /// Why it is not connected; `None` while that is still being tried.
    pub(super) problem: Option<String>,
    /// To be started as soon as it is.
    pub(super) waiting: Vec<LaunchOrder>,
    /// Logs that it was told to delete.
    pub(super) dropping: BTreeSet<RunId>,
    /// Something ran there when it went.
    pub(super) is_lost: bool,
    /// It has reported for the first time.
    pub(super) is_new: bool,
}

/// An owner's own agent.
pub(super) struct UserAgent {
    pub(super) orders: mpsc::UnboundedSender<ToAgent>,
    pub(super) asks: Asks,
    pub(super) login: String,
}

impl Link {
    fn theirs(&self) -> Option<UserAgent> {
        let (orders, login) = (self.orders.clone()?, self.login.clone()?);
        Some(UserAgent { orders, asks: self.asks.clone(), login })
    }
}

/// What the core hears of a machine with several agents.
pub(super) enum MergedReport {
    Report(NodeReport),
    /// Somebody has not reported yet.
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

    /// Whom to ask about a run, if not the machine's own agent.
    pub(super) fn with(&self, run: RunId) -> Option<UserAgent> {
        self.links().values().find(|link| link.runs.contains(&run))?.theirs()
    }

    /// The same for a log, which lies there long after.
    pub(super) fn of(&self, user: UserId) -> Option<UserAgent> {
        self.links().get(&user)?.theirs()
    }

    /// Why somebody's own connection is not there, if it should be.
    pub(super) fn problem(&self, user: UserId) -> Option<String> {
        self.links().get(&user)?.problem.clone()
    }

    /// To be opened anew, or not at all any more.
    pub(super) fn key_changed(&self, user: UserId) {
        self.changed().insert(user);
        self.tell_news();
    }

    pub(super) fn take_changed(&self) -> BTreeSet<UserId> {
        std::mem::take(&mut *self.changed())
    }

    /// Before anything is said to the agent there. An error where somebody else has this login already.
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

    /// False where it is for the machine's own agent to do. While theirs is away, nothing is confirmed.
    pub(super) fn drop_log(&self, user: UserId, run: RunId) -> bool {
        let mut links = self.links();
        let Some(link) = links.get_mut(&user) else { return false };
        if let Some(orders) = &link.orders {
            link.dropping.insert(run);
            let _ = orders.send(ToAgent::DropLog { run });
        }
        true
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
        let mut links = self.links();
        links.values_mut().filter(|link| link.is_new).map(|link| link.is_new = false).count() > 0
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

pub(super) fn unreached(why: &str) -> String {
    format!("with your own key it cannot be reached: {why}")
}
