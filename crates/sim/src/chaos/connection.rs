//! One connection: two ordered pipes, and the state that each side assumes.

use danlu_core::{Effect, NodeId, NodeMessage, SessionId, Span, Time};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Daemon,
    Agent,
}

#[derive(Debug)]
pub(super) struct Network {
    pub(super) connections: BTreeMap<SessionId, Connection>,
    /// Session numbers grow for ever, across restarts of either side.
    pub(super) last_session: SessionId,
    /// The longest that a frame takes, in milliseconds.
    pub(super) latency: u64,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) machine: usize,
    pub(super) node: NodeId,
    pub(super) daemon_life: u64,
    pub(super) agent_life: u64,
    pub(super) to_daemon: Pipe<NodeMessage>,
    pub(super) to_agent: Pipe<Effect>,
    pub(super) cut: bool,
    /// A cut that stalls rather than breaks: what is sent from then on comes this much later.
    pub(super) stall: Option<Span>,
    /// Whether each side still believes in it.
    pub(super) daemon_open: bool,
    pub(super) agent_open: bool,
}

#[derive(Debug)]
pub(super) struct Pipe<T> {
    pub(super) flight: VecDeque<(Time, T)>,
}

impl<T> Pipe<T> {
    pub(super) fn new() -> Pipe<T> {
        Pipe { flight: VecDeque::new() }
    }

    /// Nothing overtakes what was sent before it.
    pub(super) fn put(&mut self, at: Time, frame: T) -> Time {
        let at = self.flight.back().map_or(at, |(last, _)| at.max(*last));
        self.flight.push_back((at, frame));
        at
    }

    pub(super) fn take(&mut self, now: Time) -> Option<T> {
        let due = self.flight.front().is_some_and(|(at, _)| *at <= now);
        if due { self.flight.pop_front().map(|(_, frame)| frame) } else { None }
    }

    /// Only the first `kept` frames get through, and those late.
    pub(super) fn cut(&mut self, kept: usize, delay: Span) -> Vec<Time> {
        self.flight.truncate(kept);
        for (at, _) in &mut self.flight {
            *at = *at + delay;
        }
        self.flight.iter().map(|(at, _)| *at).collect()
    }
}

impl Connection {
    /// When something sent now arrives, if it does.
    pub(super) fn arrival(&self, at: Time) -> Option<Time> {
        match self.stall {
            Some(delay) => Some(at + delay),
            None => (!self.cut).then_some(at),
        }
    }
}

impl Network {
    pub(super) fn new(latency: u64) -> Network {
        Network { connections: BTreeMap::new(), last_session: SessionId(0), latency }
    }

    pub(super) fn open_at(&self, end: End) -> Vec<SessionId> {
        let open = self.connections.iter().filter(|(_, connection)| match end {
            End::Daemon => connection.daemon_open,
            End::Agent => connection.agent_open,
        });
        open.map(|(session, _)| *session).collect()
    }

    /// Whether the daemon still counts on it.
    pub(super) fn is_live(&self, session: SessionId) -> bool {
        self.connections.get(&session).is_some_and(|it| !it.cut || it.daemon_open)
    }
}
