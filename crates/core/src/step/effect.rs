//! Actions to carry out after a step is committed. Each can be repeated or lost without harm.

use crate::model::ids::{GpuId, NodeId, RunId, SessionId, TaskId, UserId};
use crate::model::run::StopReason;
use crate::model::task::TaskSpec;
use crate::model::time::Span;
use std::sync::Arc;

/// Every effect names the connection it was decided for; the backend drops it when that one is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    Launch(Box<Launch>),
    /// Signal the leader, wait for `grace`, end the whole tree.
    Stop {
        node: NodeId,
        session: SessionId,
        run: RunId,
        why: StopOrder,
        grace: Span,
    },
    /// Freeze or thaw every process of the run.
    Pause {
        node: NodeId,
        session: SessionId,
        run: RunId,
        on: bool,
    },
    /// Its time limit is another one now, counted from its start.
    SetLimit {
        node: NodeId,
        session: SessionId,
        run: RunId,
        limit: Span,
    },
    /// Its end is recorded: the run directory may go.
    Forget {
        node: NodeId,
        session: SessionId,
        run: RunId,
    },
    /// The task of this user was removed: its log may go.
    DropLog {
        node: NodeId,
        session: SessionId,
        run: RunId,
        owner: UserId,
    },
    AskReport {
        node: NodeId,
        session: SessionId,
    },
}

/// Start a run, or one part of it, unless its run directory exists already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub node: NodeId,
    pub session: SessionId,
    pub run: RunId,
    pub task: TaskId,
    pub attempt: u32,
    pub gpus: Vec<GpuId>,
    pub spec: Arc<TaskSpec>,
    /// With what was added to it.
    pub time_limit: Option<Span>,
    /// Which part this is, of how many.
    pub rank: u32,
    pub nodes: Vec<NodeId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOrder {
    Because(StopReason),
    /// The node runs something that the state does not know.
    Stray,
}

impl Effect {
    pub fn node(&self) -> NodeId {
        match self {
            Effect::Launch(launch) => launch.node,
            Effect::Stop { node, .. }
            | Effect::Pause { node, .. }
            | Effect::SetLimit { node, .. }
            | Effect::Forget { node, .. }
            | Effect::DropLog { node, .. }
            | Effect::AskReport { node, .. } => *node,
        }
    }

    pub fn session(&self) -> SessionId {
        match self {
            Effect::Launch(launch) => launch.session,
            Effect::Stop { session, .. }
            | Effect::Pause { session, .. }
            | Effect::SetLimit { session, .. }
            | Effect::Forget { session, .. }
            | Effect::DropLog { session, .. }
            | Effect::AskReport { session, .. } => *session,
        }
    }
}
