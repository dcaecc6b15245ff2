//! Status of the connection to a machine.

use super::ssh::Unreachable;
use danlu_core::Time;
use danlu_wire::agent::{Facts, Machine};
use std::net::IpAddr;

#[derive(Debug, Clone, Default)]
pub(crate) struct Status {
    pub(crate) link: LinkState,
    /// Why the last attempt failed, while it is not connected.
    pub(crate) problem: Option<Unreachable>,
    pub(crate) version: Option<String>,
    /// What the agent reported about its machine when it was last connected.
    pub(crate) machine: Option<Machine>,
    pub(crate) boot_id: Option<String>,
    pub(crate) facts: Option<Facts>,
    /// Milliseconds by which its clock is ahead of the server's.
    pub(crate) clock_ahead: Option<i64>,
    pub(crate) last_contact_at: Option<Time>,
    /// The address of a dial-in machine.
    pub(crate) seen_at: Option<IpAddr>,
    /// The number of finished attempts, so that callers can wait for the next.
    pub(crate) tries: u64,
}

impl Status {
    pub(crate) fn is_connected(&self) -> bool {
        self.link == LinkState::Connected
    }

    /// The machine of the agent that is connected now.
    pub(crate) fn answering(&self) -> Option<&Machine> {
        self.machine.as_ref().filter(|_| self.is_connected())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum LinkState {
    #[default]
    Connecting,
    Connected,
    /// The next attempt is scheduled.
    Away,
}
