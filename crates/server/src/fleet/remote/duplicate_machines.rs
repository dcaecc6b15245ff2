//! Detects one machine under two names before its GPUs show it.

use super::{LinkState, NodeRecord, NodeRoute, Nodes};

impl Nodes {
    /// Other nodes that are, or may be, the same machine. Containers and cloned disks look the same.
    pub(crate) fn same_as(&self, name: &str, server: &str) -> Vec<String> {
        let known = self.known();
        let here = Some(danlu_node::boot_id().to_owned());
        let this = known.get(name);
        let boot_id = this.map_or(here.as_ref(), |this| this.status.boot_id.as_ref());
        let machine = this.and_then(|this| this.status.machine.as_ref());
        let place = this.and_then(|this| address(&this.record));
        let is_same = |other: &super::KnownNode| {
            let theirs = other.status.machine.as_ref();
            (boot_id.is_some() && boot_id == other.status.boot_id.as_ref())
                || machine.is_some_and(|it| theirs.is_some_and(|theirs| theirs.id == it.id))
                || place.is_some() && place == address(&other.record)
        };
        let others = known.iter().filter(|(other, it)| *other != name && is_same(it));
        let mut same: Vec<String> = others.map(|(other, _)| other.clone()).collect();
        if this.is_some() && boot_id == here.as_ref() {
            same.push(server.to_owned());
        }
        same
    }

    /// The node that has taken over its runs: two agents with one directory would end each other for ever.
    pub(super) fn in_its_place(&self, record: &NodeRecord) -> Option<String> {
        let (machine, data) = (record.machine.as_ref()?, record.data.as_ref()?);
        let known = self.known();
        let has_both = |other: &super::KnownNode| {
            other.record.name != record.name
                && other.status.link == LinkState::Connected
                && other.record.data.as_ref() == Some(data)
                && other.status.machine.as_ref().is_some_and(|it| it.id == *machine)
        };
        known.values().find(|other| has_both(other)).map(|other| other.record.name.clone())
    }
}

fn address(record: &NodeRecord) -> Option<(&str, u16)> {
    match &record.route {
        NodeRoute::Ssh(target) => Some((target.host.as_str(), target.port.unwrap_or(22))),
        NodeRoute::DialIn(_) => None,
    }
}
