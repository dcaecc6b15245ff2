//! Shares out file descriptors: connections never take those that the database, the agent and the ends of tasks need.

use crate::daemon::config::Limits;
use nix::sys::resource::{Resource, getrlimit};

/// What the rest of the daemon has to itself, at least, where the system gives so many at all.
const RESERVE: usize = 256;
/// On the machine's own socket, of all users.
const MOST_LOCAL: usize = 8_192;
/// Of one that follows a log: the file, and what watches it.
const PER_STREAM: usize = 3;

/// How many connections and streams there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shares {
    pub(crate) network: usize,
    pub(crate) per_address: usize,
    pub(crate) local: usize,
    pub(crate) per_user: usize,
    pub(crate) streams: usize,
    pub(crate) streams_per_user: usize,
    /// A connection whose descriptor is not below this one is not kept.
    pub(crate) first_reserved: usize,
}

impl Shares {
    pub(crate) fn now(limits: &Limits) -> Shares {
        let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(1_024, |(soft, _)| soft);
        Shares::of(usize::try_from(limit).unwrap_or(usize::MAX), limits)
    }

    fn of(descriptors: usize, limits: &Limits) -> Shares {
        // A quarter is enough for three descriptors of every sixteenth, and a part of it is left.
        let streams = limits.streams.min(descriptors / (5 * PER_STREAM)).max(2);
        let reserve = (descriptors / 4).max(RESERVE).min(descriptors / 2);
        let connections = descriptors - reserve;
        let network = limits.connections.min(connections / 2).max(1);
        let local = MOST_LOCAL.min(connections - network).max(1);
        // One user cannot have all of them.
        let some = |most: usize, of: usize| most.min(of.div_ceil(2));
        Shares {
            network,
            per_address: some(limits.connections_per_address, network),
            local,
            per_user: some(limits.connections_per_user, local),
            streams,
            streams_per_user: some(limits.streams_per_user, streams),
            first_reserved: connections,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_left_whatever_the_system_allows() {
        for descriptors in [64, 256, 1_024, 4_096, 20_000, 1 << 20] {
            let shares = Shares::of(descriptors, &Limits::default());
            let taken = shares.network + shares.local + PER_STREAM * shares.streams;
            assert!(taken < descriptors, "{descriptors}: {shares:?}");
            assert!(shares.per_user <= shares.local.div_ceil(2), "{descriptors}: {shares:?}");
            assert!(shares.streams_per_user >= 1 && shares.per_address >= 1, "{shares:?}");
        }
        let usual = Shares::of(20_000, &Limits::default());
        assert_eq!((usual.network, usual.per_address, usual.per_user), (4_096, 512, 512));
    }
}
