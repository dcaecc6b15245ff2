//! Attempts that failed: whoever guesses has to wait, longer each time; whoever makes a slip hardly notices.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// From one address at one account, until waiting begins.
const FREE: u32 = 5;
/// From one address at any account; at one account from anywhere.
const FREE_BROADLY: u32 = 50;
const FIRST_WAIT: Duration = Duration::from_secs(2);
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
/// After so long without a failure, all is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(30 * 60);
/// Kept in mind at most; then the oldest go.
const MOST: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Who {
    Both(String, Option<IpAddr>),
    Account(String),
    Address(Option<IpAddr>),
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Attempts {
    failed: Mutex<BTreeMap<Who, Failures>>,
}

impl Attempts {
    /// How long to wait before the next attempt; `None` when it may be made now.
    pub(crate) fn wait(&self, account: &str, address: Option<IpAddr>) -> Option<Duration> {
        let failed = self.failed.lock().ok()?;
        let waits = keys(account, address).into_iter().filter_map(|(who, free)| {
            let Failures { count, last } = failed.get(&who)?;
            let doublings = count.checked_sub(free)?.min(16);
            let wait = (FIRST_WAIT * 2u32.pow(doublings)).min(LONGEST_WAIT);
            wait.checked_sub(last.elapsed()).filter(|wait| !wait.is_zero())
        });
        waits.max()
    }

    pub(crate) fn failed(&self, account: &str, address: Option<IpAddr>) {
        let Ok(mut failed) = self.failed.lock() else { return };
        failed.retain(|_, failures| failures.last.elapsed() < FORGOTTEN);
        while failed.len() >= MOST {
            let oldest = failed.iter().min_by_key(|(_, it)| it.last).map(|(who, _)| who.clone());
            let Some(oldest) = oldest else { break };
            failed.remove(&oldest);
        }
        for (who, _) in keys(account, address) {
            let failures = failed.entry(who).or_insert(Failures { count: 0, last: Instant::now() });
            failures.count = failures.count.saturating_add(1);
            failures.last = Instant::now();
        }
    }

    /// A success at an account; what the address did elsewhere is not forgotten.
    pub(crate) fn succeeded(&self, account: &str, address: Option<IpAddr>) {
        if let Ok(mut failed) = self.failed.lock() {
            failed.remove(&Who::Both(account.to_owned(), address));
        }
    }
}

fn keys(account: &str, address: Option<IpAddr>) -> [(Who, u32); 3] {
    let account = account.to_owned();
    [
        (Who::Both(account.clone(), address), FREE),
        (Who::Account(account), FREE_BROADLY),
        (Who::Address(address), FREE_BROADLY),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    const THERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED));

    #[test]
    fn guessing_gets_slower_and_slips_are_forgiven() {
        let attempts = Attempts::default();
        (0..FREE - 1).for_each(|_| attempts.failed("ann", HERE));
        assert_eq!(attempts.wait("ann", HERE), None);
        attempts.succeeded("ann", HERE);
        (0..FREE).for_each(|_| attempts.failed("ann", HERE));
        let first = attempts.wait("ann", HERE).expect("it has to wait");
        (0..5).for_each(|_| attempts.failed("ann", HERE));
        assert!(attempts.wait("ann", HERE) > Some(first * 8));
        assert_eq!(attempts.wait("ann", THERE), None, "she can come in from elsewhere");
        assert_eq!(attempts.wait("bo", HERE), None);
    }

    #[test]
    fn one_address_cannot_try_every_account_nor_all_addresses_one() {
        let attempts = Attempts::default();
        (0..FREE_BROADLY).for_each(|n| attempts.failed(&format!("user{n}"), HERE));
        assert!(attempts.wait("ann", HERE).is_some());
        assert_eq!(attempts.wait("ann", THERE), None);
    }
}
