//! Limits connections, per listener (local socket or network) and per source, and chooses which one is closed to make room.
//!
//! A connection that waits for its client to send something makes room for a newer one; one that is being answered stays. So
//! idle connections cannot lock other clients out.

use crate::api::ApiError;
use danlu_messages::errors;
use danlu_wire::api::ErrorCode;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, Semaphore};

/// Maximum number of error responses at a time; further connections are closed without one.
const TOLD_AT_ONCE: usize = 32;

/// The source of a connection, by which it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Source {
    /// An OS user on the machine's socket.
    User(u32),
    Address(IpAddr),
}

impl Source {
    /// IPv6 addresses of one /64 network count as one, and so do all IPv4 loopback addresses.
    pub(crate) fn of_address(address: IpAddr) -> Source {
        Source::Address(match address.to_canonical() {
            IpAddr::V4(address) if address.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V4(address) => IpAddr::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                match address.is_loopback() {
                    true => IpAddr::V6(address),
                    false => IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)),
                }
            }
        })
    }
}

#[derive(Debug)]
pub(crate) struct Admission {
    most: AtomicUsize,
    most_each: AtomicUsize,
    inside: Mutex<OpenConnections>,
    telling: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    next: u64,
    all: usize,
    /// The oldest first.
    of: HashMap<Source, BTreeMap<u64, Arc<ConnectionState>>>,
}

/// The state of one connection.
#[derive(Debug, Default)]
pub(crate) struct ConnectionState {
    state: AtomicU8,
    leave: Notify,
}

/// The client has to send something.
const WAITING: u8 = 0;
const ANSWERING: u8 = 1;
const LEAVING: u8 = 2;

/// The slot of an open connection; freed when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    door: Arc<Admission>,
    source: Source,
    number: u64,
    pub(crate) connection_state: Arc<ConnectionState>,
}

/// No connection could be closed to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// The limit of one source.
    Source(Source, usize),
    Everybody(usize),
}

impl Admission {
    pub(crate) fn new(most: usize, most_each: usize) -> Admission {
        Admission {
            most: most.into(),
            most_each: most_each.into(),
            inside: Mutex::default(),
            telling: Arc::new(Semaphore::new(TOLD_AT_ONCE)),
        }
    }

    /// Changes the limits for new connections.
    pub(crate) fn set(&self, most: usize, most_each: usize) {
        self.most.store(most, Ordering::Relaxed);
        self.most_each.store(most_each, Ordering::Relaxed);
    }

    /// `shared`: a proxy of many users, so only the total limit applies.
    pub(crate) fn enter(
        self: &Arc<Admission>,
        source: Source,
        shared: bool,
    ) -> Result<ConnectionSlot, Full> {
        let most_each = self.most_each.load(Ordering::Relaxed);
        let most = self.most.load(Ordering::Relaxed);
        let mut inside = self.inside();
        if !shared && inside.count(source) >= most_each && !inside.send_away_one_of(source) {
            return Err(Full::Source(source, most_each));
        }
        if inside.all >= most && !inside.send_away_one() {
            return Err(Full::Everybody(most));
        }
        let (number, connection_state) = (inside.next, Arc::new(ConnectionState::default()));
        inside.next += 1;
        inside.all += 1;
        inside.of.entry(source).or_default().insert(number, Arc::clone(&connection_state));
        Ok(ConnectionSlot { door: Arc::clone(self), source, number, connection_state })
    }

    /// Closes one waiting connection, regardless of limits. Returns whether there was one.
    pub(crate) fn make_room(&self) -> bool {
        self.inside().send_away_one()
    }

    /// A permit to send the error response that the limit is reached; `None`: too many are being sent already.
    pub(crate) fn telling(&self) -> Option<tokio::sync::OwnedSemaphorePermit> {
        Arc::clone(&self.telling).try_acquire_owned().ok()
    }

    fn inside(&self) -> MutexGuard<'_, OpenConnections> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn count(&self, source: Source) -> usize {
        self.of.get(&source).map_or(0, BTreeMap::len)
    }

    /// Closes the oldest waiting connection of a source.
    fn send_away_one_of(&mut self, source: Source) -> bool {
        let lines = self.of.get(&source).into_iter().flatten();
        let mut waiting = lines
            .filter(|(_, connection_state)| connection_state.send_away())
            .map(|(number, _)| *number);
        let Some(number) = waiting.next() else { return false };
        self.remove(source, number);
        true
    }

    /// Closes one of the source with the most connections.
    fn send_away_one(&mut self) -> bool {
        let largest = self.of.iter().max_by_key(|(_, lines)| lines.len()).map(|(it, _)| *it);
        if largest.is_some_and(|source| self.send_away_one_of(source)) {
            return true;
        }
        let all: Vec<Source> = self.of.keys().copied().collect();
        all.into_iter().any(|source| self.send_away_one_of(source))
    }

    fn remove(&mut self, source: Source, number: u64) {
        let Some(lines) = self.of.get_mut(&source) else { return };
        if lines.remove(&number).is_some() {
            self.all -= 1;
        }
        if lines.is_empty() {
            self.of.remove(&source);
        }
    }
}

impl ConnectionState {
    /// A request has begun. False if the connection has to be closed.
    pub(crate) fn begin_answer(&self) -> bool {
        self.change(WAITING, ANSWERING) || self.state.load(Ordering::Acquire) == ANSWERING
    }

    /// The response is complete; the client may send the next request.
    pub(crate) fn end_answer(&self) {
        self.change(ANSWERING, WAITING);
    }

    /// Returns when the connection has to be closed.
    pub(crate) async fn sent_away(&self) {
        self.leave.notified().await;
    }

    fn send_away(&self) -> bool {
        let goes = self.change(WAITING, LEAVING);
        if goes {
            self.leave.notify_one();
        }
        goes
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.door.inside().remove(self.source, self.number);
    }
}

impl From<Full> for ApiError {
    fn from(full: Full) -> ApiError {
        match full {
            Full::Source(Source::User(uid), most) => ApiError::new(
                ErrorCode::TooOften,
                errors::too_many_connections_of_user(&uid, &most),
                errors::close_clients_user(),
            ),
            Full::Source(Source::Address(address), most) => ApiError::new(
                ErrorCode::TooOften,
                errors::too_many_connections_from(&address, &most),
                errors::close_clients_address(),
            ),
            Full::Everybody(most) => ApiError::new(
                ErrorCode::Unavailable,
                errors::too_many_connections_at_most_most(&most),
                errors::retry_or_raise_connections(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(last: u8) -> Source {
        Source::of_address(IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)))
    }

    #[test]
    fn the_oldest_that_waits_makes_room_and_who_is_answered_stays() {
        let door = Arc::new(Admission::new(100, 2));
        let answered = door.enter(from(1), false).expect("room");
        assert!(answered.connection_state.begin_answer());
        let idle = door.enter(from(1), false).expect("room");
        let newer = door.enter(from(1), false).expect("the idle one leaves");
        assert!(!idle.connection_state.begin_answer());
        assert!(newer.connection_state.begin_answer());
        let full = door.enter(from(1), false).err();
        assert_eq!(full, Some(Full::Source(from(1), 2)));
        assert!(door.enter(from(2), false).is_ok(), "others have their own");
        drop(newer);
        assert!(door.enter(from(1), false).is_ok());
        assert!(door.enter(from(1), true).is_ok(), "a proxy may have more");
    }

    #[test]
    fn with_all_places_taken_who_has_most_gives_one_up() {
        let door = Arc::new(Admission::new(4, 4));
        let many: Vec<ConnectionSlot> =
            (0..3).filter_map(|_| door.enter(from(1), false).ok()).collect();
        let alone = door.enter(from(2), false).expect("room");
        let newcomer = door.enter(from(3), false).expect("one of the three leaves");
        assert!(alone.connection_state.begin_answer() && newcomer.connection_state.begin_answer());
        assert!(!many[0].connection_state.begin_answer());
        assert!(many[1..].iter().all(|place| place.connection_state.begin_answer()));
        assert_eq!(door.enter(from(4), false).err(), Some(Full::Everybody(4)));
    }

    #[test]
    fn addresses_that_one_machine_has_plenty_of_are_one() {
        let of = |text: &str| Source::of_address(text.parse().expect("an address"));
        assert_eq!(of("127.0.0.1"), of("127.8.9.1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:2"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
    }
}
