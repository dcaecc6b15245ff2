//! Reads a log on another machine, a part at a time.

use super::Nodes;
use super::user_agents::UserAgent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use danlu_core::{NodeId, UserId};
use danlu_wire::ToAgent;
use danlu_wire::agent::{
    LogContent, LogPiece, LogPlace, LogProblem, LogStart, PathsChecked, PathsSeen, ReadLog,
};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// Timeout for a part of a log; waiting for more takes longer.
const PATIENCE: Duration = Duration::from_secs(20);
const LONG_PATIENCE: Duration = Duration::from_secs(90);
/// Pause before asking a machine again that is away.
const AWAY: Duration = Duration::from_secs(1);

type LogReply = Result<LogContent, LogProblem>;

/// Requests without an answer yet. Dropped with the connection.
#[derive(Debug, Clone, Default)]
pub(super) struct AgentRequests(Arc<Mutex<PendingRequests>>);

#[derive(Debug, Default)]
struct PendingRequests {
    last: u64,
    waiting: BTreeMap<u64, oneshot::Sender<LogReply>>,
    checks: BTreeMap<u64, oneshot::Sender<PathsSeen>>,
}

impl AgentRequests {
    fn open(&self) -> (u64, oneshot::Receiver<LogReply>) {
        let (answer, answered) = oneshot::channel();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Forget callers that have gone.
        open.waiting.retain(|_, waiting| !waiting.is_closed());
        open.last += 1;
        let ask = open.last;
        open.waiting.insert(ask, answer);
        (ask, answered)
    }

    /// The same for a check of paths.
    pub(super) fn open_check(&self) -> (u64, oneshot::Receiver<PathsSeen>) {
        let (answer, answered) = oneshot::channel();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.checks.retain(|_, waiting| !waiting.is_closed());
        open.last += 1;
        let ask = open.last;
        open.checks.insert(ask, answer);
        (ask, answered)
    }

    pub(super) fn answer_check(&self, PathsChecked { ask, seen }: PathsChecked) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = open.checks.remove(&ask) {
            let _ = waiting.send(seen);
        }
    }

    pub(super) fn answer(&self, LogPiece { ask, content }: LogPiece) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(waiting) = open.waiting.remove(&ask) {
            let _ = waiting.send(content);
        }
    }
}

#[derive(Debug)]
pub(crate) struct RemoteLog {
    nodes: Nodes,
    node: NodeId,
    place: LogPlace,
    owner: UserId,
}

pub(crate) struct LogSlice {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) bytes: Vec<u8>,
}

impl RemoteLog {
    pub(super) fn new(nodes: Nodes, node: NodeId, place: LogPlace, owner: UserId) -> RemoteLog {
        RemoteLog { nodes, node, place, owner }
    }

    pub(crate) async fn read(&self, from: LogStart, limit: u64) -> io::Result<LogSlice> {
        self.ask(from, limit, false, PATIENCE).await
    }

    /// Returns when there may be more after this offset.
    pub(crate) async fn changed(&self, offset: u64) {
        let waited = self.ask(LogStart::Offset(offset), 1, true, LONG_PATIENCE).await;
        if waited.is_err() {
            tokio::time::sleep(AWAY).await;
        }
    }

    async fn ask(
        &self,
        from: LogStart,
        limit: u64,
        wait: bool,
        patience: Duration,
    ) -> io::Result<LogSlice> {
        let away = || io::Error::from(io::ErrorKind::NotConnected);
        let connection = self.nodes.connection(self.node).ok_or_else(away)?;
        let theirs = connection.user_agents.of(self.owner);
        let mut log = self.place.clone();
        let (orders, asks) = match theirs {
            Some(UserAgent { orders, asks, login }) => {
                // The user's agent reads with the user's rights, as the login that it reported.
                log.owner = login;
                (orders, asks)
            }
            None => (connection.orders, connection.asks),
        };
        let (ask, answered) = asks.open();
        // Held by the connection alone, so that its end is heard here.
        drop((asks, connection.user_agents));
        let wanted = ReadLog { ask, log, from, limit, wait };
        orders.send(ToAgent::ReadLog(wanted)).map_err(|_| away())?;
        drop(orders);
        let answer = tokio::time::timeout(patience, answered).await.map_err(|_| away())?;
        let LogContent { offset, size, base64 } = match answer.map_err(|_| away())? {
            Ok(content) => content,
            Err(LogProblem::NotThere) => return Err(io::ErrorKind::NotFound.into()),
            Err(LogProblem::NotTheirs) => return Err(io::ErrorKind::PermissionDenied.into()),
            Err(LogProblem::Other(what)) => return Err(io::Error::other(what)),
        };
        let bytes = STANDARD.decode(base64).map_err(io::Error::other)?;
        Ok(LogSlice { offset, size, bytes })
    }
}
