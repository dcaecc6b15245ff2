//! Limits the number of long-lived responses (events, followed logs, waits) per account.

use super::ApiError;
use super::caller::Caller;
use crate::api::network::Shares;
use crate::daemon::config::Limits;
use danlu_core::UserId;
use danlu_messages::errors;
use danlu_wire::api::ErrorCode;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Up to this many streams get events without delay.
const FEW: u32 = 16;
/// The delay that each further stream adds for all.
const EACH: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
pub struct Streams(Arc<StreamTable>);

#[derive(Debug)]
struct StreamTable {
    most: AtomicUsize,
    most_each: AtomicUsize,
    open: Mutex<OpenStreams>,
}

#[derive(Debug, Default)]
struct OpenStreams {
    all: usize,
    of: HashMap<UserId, usize>,
}

/// The permit for one stream, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    streams: Streams,
    user: UserId,
}

impl Streams {
    pub(crate) fn new(limits: &Limits) -> Streams {
        let Shares { streams, streams_per_user, .. } = Shares::now(limits);
        Streams::with(streams, streams_per_user)
    }

    fn with(most: usize, most_each: usize) -> Streams {
        Streams(Arc::new(StreamTable {
            most: most.into(),
            most_each: most_each.into(),
            open: Mutex::default(),
        }))
    }

    pub(crate) fn set(&self, limits: &Limits) {
        let Shares { streams, streams_per_user, .. } = Shares::now(limits);
        self.0.most.store(streams, Ordering::Relaxed);
        self.0.most_each.store(streams_per_user, Ordering::Relaxed);
    }

    pub(crate) fn open(&self, caller: &Caller) -> Result<StreamPermit, ApiError> {
        self.open_for(caller.id)
    }

    fn open_for(&self, user: UserId) -> Result<StreamPermit, ApiError> {
        let most = self.0.most.load(Ordering::Relaxed);
        let most_each = self.0.most_each.load(Ordering::Relaxed);
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.all >= most {
            return Err(ApiError::new(
                ErrorCode::Unavailable,
                errors::too_many_streams(&most),
                errors::retry_or_raise_streams(),
            ));
        }
        let own = open.of.entry(user).or_default();
        if *own >= most_each {
            return Err(ApiError::new(
                ErrorCode::TooOften,
                errors::too_many_streams_of_user(&most_each),
                errors::close_streams(),
            ));
        }
        *own += 1;
        open.all += 1;
        drop(open);
        Ok(StreamPermit { streams: self.clone(), user })
    }
}

impl StreamPermit {
    /// The delay between two rounds with many streams, so that they leave time for other requests.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let all = self.streams.0.open.lock().unwrap_or_else(PoisonError::into_inner).all;
        let all = u32::try_from(all).unwrap_or(u32::MAX);
        (all > FEW).then(|| (EACH * all).min(LONGEST_PAUSE))
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut open = self.streams.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.all -= 1;
        if let Some(own) = open.of.get_mut(&self.user) {
            *own -= 1;
            if *own == 0 {
                open.of.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_account_has_its_share_and_everybody_theirs() {
        let streams = Streams::with(3, 2);
        let ann: Vec<StreamPermit> =
            (0..2).map(|_| streams.open_for(UserId(1)).expect("room")).collect();
        let refused = streams.open_for(UserId(1)).expect_err("two are all");
        assert!(refused.0.message.contains("at most 2"), "{refused:?}");
        let bo = streams.open_for(UserId(2)).expect("room");
        assert!(streams.open_for(UserId(3)).expect_err("three are all").0.message.contains('3'));
        drop((ann, bo));
        assert!(streams.open_for(UserId(1)).is_ok());
        assert_eq!(streams.0.open.lock().expect("whole").all, 0);
    }
}
