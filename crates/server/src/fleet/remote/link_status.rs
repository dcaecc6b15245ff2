//! Status of the connection to a machine.

use super::ssh::Unreachable;
use danlu_core::Time;
use danlu_wire::agent::{Facts, Machine};
use std::net::IpAddr;

#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    pub(crate) link: LinkState,
    /// Why it could not be reached last, as long as it is not.
    pub(crate) problem: Option<Unreachable>,
    pub(crate) version: Option<String>,
    /// What the agent has said of itself when it was last connected.
    pub(crate) machine: Option<Machine>,
    pub(crate) boot_id: Option<String>,
    pub(crate) facts: Option<Facts>,
    /// How far its clock is ahead of ours, in milliseconds.
    pub(crate) clock_ahead: Option<i64>,
    pub(crate) last_contact_at: Option<Time>,
    /// Where a machine that has dialled in came from.
    pub(crate) seen_at: Option<IpAddr>,
    /// How many ended tries there have been, so that one can wait for the next.
    pub(crate) tries: u64,
}

impl Status {
    pub(crate) fn is_connected(&self) -> bool {
        self.link == LinkState::Connected
    }

    /// The agent that is connected now. What one that has gone said counts for nothing.
    pub(crate) fn answering(&self) -> Option<&Machine> {
        self.machine.as_ref().filter(|_| self.is_connected())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LinkState {
    #[default]
    Connecting,
    Connected,
    /// The next try comes by itself.
    Away,
}
