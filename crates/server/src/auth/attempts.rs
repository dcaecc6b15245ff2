//! Slows down password guessing: each failure delays the next answer, up to some seconds. Accounts are never locked.
//!
//! The right password is accepted at any time after the same delay, so guessing at an account, or from the same address,
//! cannot lock its owner out.

use super::secret::SecretHash;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// Failures are forgotten after this time without another.
const FORGOTTEN: Duration = Duration::from_secs(30 * 60);
/// Maximum number of entries; then the oldest are dropped.
const MOST: usize = 20_000;
/// Attempts that wait for their pause to end, of one account from one address.
const WAITING_EACH: usize = 16;
/// Of all accounts and addresses.
const WAITING: usize = 1_024;

/// What is counted, by its hash: names in guesses may be of any length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct AttemptKey(SecretHash);

/// The number of free attempts, and the longest delay.
#[derive(Debug, Clone, Copy)]
struct Rule {
    free: u32,
    longest: Duration,
}

/// One account from one address.
const BOTH: Rule = Rule { free: 5, longest: Duration::from_secs(8) };
/// One address at any account; one account from anywhere.
const BROADLY: Rule = Rule { free: 50, longest: Duration::from_secs(2) };

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    waiting: usize,
    last: Instant,
}

#[derive(Debug, Default)]
pub(crate) struct Attempts {
    failed: Mutex<HashMap<AttemptKey, Failures>>,
    waiting: AtomicUsize,
}

/// An attempt in its delay; dropped when the delay is over.
pub(crate) struct DelayedAttempt<'a> {
    attempts: &'a Attempts,
    who: AttemptKey,
    pub(crate) pause: Duration,
}

impl Attempts {
    /// How long to wait before the password is looked at, `None` for no time at all; refused with that time when too many
    /// are waiting.
    pub(crate) fn begin(
        &self,
        account: &str,
        address: Option<IpAddr>,
    ) -> Result<Option<DelayedAttempt<'_>>, Duration> {
        let mut failed = self.failed();
        let pauses = keys(account, address).into_iter().filter_map(|(who, rule)| {
            let failures = failed.get(&who).filter(|it| it.last.elapsed() < FORGOTTEN)?;
            let doublings = failures.count.checked_sub(rule.free)?.min(16);
            Some((FIRST_PAUSE * 2u32.pow(doublings)).min(rule.longest))
        });
        let Some(pause) = pauses.max() else { return Ok(None) };
        let [(who, _), ..] = keys(account, address);
        if self.waiting.load(Ordering::Relaxed) >= WAITING {
            return Err(pause);
        }
        let new = Failures { count: 0, waiting: 0, last: Instant::now() };
        let both = failed.entry(who.clone()).or_insert(new);
        if both.waiting >= WAITING_EACH {
            return Err(pause);
        }
        both.waiting += 1;
        self.waiting.fetch_add(1, Ordering::Relaxed);
        Ok(Some(DelayedAttempt { attempts: self, who, pause }))
    }

    pub(crate) fn failed_at(&self, account: &str, address: Option<IpAddr>) {
        let mut failed = self.failed();
        if failed.len() + 3 > MOST {
            make_room(&mut failed);
        }
        let new = Failures { count: 0, waiting: 0, last: Instant::now() };
        for (who, _) in keys(account, address) {
            let failures = failed.entry(who).or_insert(new);
            if failures.last.elapsed() >= FORGOTTEN {
                failures.count = 0;
            }
            failures.count = failures.count.saturating_add(1);
            failures.last = Instant::now();
        }
    }

    /// Forgets the failures of an account after a success, but not those of the address at other accounts.
    pub(crate) fn succeeded(&self, account: &str, address: Option<IpAddr>) {
        let [(who, _), ..] = keys(account, address);
        self.failed().remove(&who);
    }

    fn failed(&self) -> MutexGuard<'_, HashMap<AttemptKey, Failures>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops the oldest quarter, so that this is done rarely.
fn make_room(failed: &mut HashMap<AttemptKey, Failures>) {
    failed.retain(|_, it| it.last.elapsed() < FORGOTTEN);
    if failed.len() * 4 < MOST * 3 {
        return;
    }
    let mut times: Vec<Instant> = failed.values().map(|it| it.last).collect();
    let quarter = times.len() / 4;
    let (_, cut, _) = times.select_nth_unstable(quarter);
    let cut = *cut;
    failed.retain(|_, it| it.last > cut);
}

impl Drop for DelayedAttempt<'_> {
    fn drop(&mut self) {
        self.attempts.waiting.fetch_sub(1, Ordering::Relaxed);
        if let Some(failures) = self.attempts.failed().get_mut(&self.who) {
            failures.waiting = failures.waiting.saturating_sub(1);
        }
    }
}

fn keys(account: &str, address: Option<IpAddr>) -> [(AttemptKey, Rule); 3] {
    let address = address.map_or_else(String::new, |address| address.to_string());
    let who = |words: String| AttemptKey(SecretHash::of(&words));
    [
        (who(format!("both\0{address}\0{account}")), BOTH),
        (who(format!("account\0{account}")), BROADLY),
        (who(format!("address\0{address}")), BROADLY),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const HERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::LOCALHOST));
    const THERE: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED));

    fn pause(attempts: &Attempts, account: &str, address: Option<IpAddr>) -> Option<Duration> {
        attempts.begin(account, address).expect("few wait").map(|turn| turn.pause)
    }

    #[test]
    fn guessing_gets_slower_and_slips_are_forgiven() {
        let attempts = Attempts::default();
        (0..BOTH.free - 1).for_each(|_| attempts.failed_at("ann", HERE));
        assert_eq!(pause(&attempts, "ann", HERE), None);
        attempts.succeeded("ann", HERE);
        (0..BOTH.free).for_each(|_| attempts.failed_at("ann", HERE));
        assert_eq!(pause(&attempts, "ann", HERE), Some(FIRST_PAUSE));
        (0..2).for_each(|_| attempts.failed_at("ann", HERE));
        assert_eq!(pause(&attempts, "ann", HERE), Some(FIRST_PAUSE * 4));
        assert_eq!(pause(&attempts, "ann", THERE), None, "she can come in from elsewhere");
        assert_eq!(pause(&attempts, "bo", HERE), None);
    }

    #[test]
    fn nobody_waits_for_more_than_seconds_however_many_have_guessed() {
        let attempts = Attempts::default();
        (0..1_000).for_each(|_| attempts.failed_at("ann", HERE));
        assert_eq!(pause(&attempts, "ann", HERE), Some(BOTH.longest));
        assert_eq!(pause(&attempts, "ann", THERE), Some(BROADLY.longest));
        assert_eq!(pause(&attempts, "bo", HERE), Some(BROADLY.longest));
        assert_eq!(pause(&attempts, "bo", THERE), None);
    }

    #[test]
    fn few_guesses_wait_at_a_time() {
        let attempts = Attempts::default();
        (0..1_000).for_each(|_| attempts.failed_at("ann", HERE));
        let waiting: Vec<_> = (0..WAITING_EACH).map(|_| attempts.begin("ann", HERE)).collect();
        assert!(waiting.iter().all(|turn| matches!(turn, Ok(Some(_)))));
        assert!(attempts.begin("ann", HERE).is_err());
        assert!(attempts.begin("ann", THERE).is_ok(), "others wait elsewhere");
        drop(waiting);
        assert!(attempts.begin("ann", HERE).is_ok());
    }

    #[test]
    fn the_table_does_not_grow_with_names_and_addresses() {
        let attempts = Attempts::default();
        for number in 0..MOST as u32 {
            let address = Some(IpAddr::V4(Ipv4Addr::from(number)));
            attempts.failed_at(&format!("user{number}"), address);
        }
        assert!(attempts.failed().len() <= MOST);
        assert!(attempts.failed().len() > MOST / 2);
    }
}
