//! Rate limit of unauthenticated requests, by address.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Requests per interval and address.
const MOST: u32 = 300;
const STRETCH: Duration = Duration::from_secs(10);
/// Maximum number of addresses that are counted.
const MOST_ADDRESSES: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct UnknownCallers {
    counts: Mutex<BTreeMap<IpAddr, (Instant, u32)>>,
}

impl UnknownCallers {
    /// The seconds to wait, if the limit was exceeded. Callers on the local socket are always known.
    pub(crate) fn count(&self, address: Option<IpAddr>) -> Result<(), u64> {
        let (Some(address), Ok(mut counts)) = (address, self.counts.lock()) else { return Ok(()) };
        if counts.len() >= MOST_ADDRESSES {
            counts.retain(|_, (since, _)| since.elapsed() < STRETCH);
        }
        if counts.len() >= MOST_ADDRESSES {
            counts.clear();
        }
        let (since, count) = counts.entry(address).or_insert((Instant::now(), 0));
        if since.elapsed() >= STRETCH {
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        let wait = STRETCH.saturating_sub(since.elapsed()).as_secs() + 1;
        if *count > MOST { Err(wait) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn one_address_that_asks_too_often_waits_and_others_do_not() {
        let unknown_callers = UnknownCallers::default();
        let (here, there) = (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        (0..MOST).for_each(|_| assert_eq!(unknown_callers.count(Some(here)), Ok(())));
        assert!(unknown_callers.count(Some(here)).is_err());
        assert_eq!(unknown_callers.count(Some(there)), Ok(()));
        assert_eq!(unknown_callers.count(None), Ok(()));
    }
}
