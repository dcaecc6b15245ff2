//! Limits for request and response bodies: bytes in memory at a time, and the minimum speed of requests.

use super::admission::{ConnectionState, Source};
use crate::api::ApiError;
use axum::body::{Bytes, HttpBody};
use danlu_messages::errors;
use danlu_wire::api::ErrorCode;
use hyper::body::{Frame, Incoming, SizeHint};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// For a body of any length, and in addition …
const PATIENCE: Duration = Duration::from_secs(30);
/// … the time that it takes at this many bytes per second.
const SLOWEST: u64 = 8 << 10;

/// The bytes of all request bodies, or of all responses.
#[derive(Debug)]
pub(crate) struct Bodies {
    what: BodyDirection,
    most: AtomicU64,
    most_each: AtomicU64,
    held: Mutex<BytesHeld>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyDirection {
    In,
    Out,
}

#[derive(Debug, Default)]
struct BytesHeld {
    all: u64,
    of: HashMap<Source, u64>,
}

/// The bytes that one request holds.
#[derive(Debug)]
pub(crate) struct Share {
    bodies: Arc<Bodies>,
    source: Source,
    bytes: AtomicU64,
}

/// Why a body is not read to its end.
#[derive(Debug)]
pub(crate) enum Refused {
    TooMuch { what: BodyDirection, most: u64, setting: &'static str },
    TooSlow,
    Broken(hyper::Error),
}

impl Bodies {
    pub(crate) fn new(what: BodyDirection, most: u64, most_each: u64) -> Bodies {
        Bodies { what, most: most.into(), most_each: most_each.into(), held: Mutex::default() }
    }

    pub(crate) fn set(&self, most: u64, most_each: u64) {
        self.most.store(most, Ordering::Relaxed);
        self.most_each.store(most_each, Ordering::Relaxed);
    }

    /// A share without any bytes yet.
    pub(crate) fn share(self: &Arc<Bodies>, source: Source) -> Arc<Share> {
        Arc::new(Share { bodies: Arc::clone(self), source, bytes: AtomicU64::new(0) })
    }
}

impl Share {
    pub(crate) fn take(&self, bytes: u64) -> Result<(), Refused> {
        let what = self.bodies.what;
        let (most, most_each) = (&self.bodies.most, &self.bodies.most_each);
        let (most, most_each) = (most.load(Ordering::Relaxed), most_each.load(Ordering::Relaxed));
        let mut held = self.bodies.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.all + bytes > most {
            let setting = match what {
                BodyDirection::In => "limits.request_bytes",
                BodyDirection::Out => "limits.answer_bytes",
            };
            return Err(Refused::TooMuch { what, most, setting });
        }
        let own = held.of.entry(self.source).or_default();
        if *own + bytes > most_each {
            let setting = match what {
                BodyDirection::In => "limits.request_bytes_per_user",
                BodyDirection::Out => "limits.answer_bytes_per_user",
            };
            return Err(Refused::TooMuch { what, most: most_each, setting });
        }
        *own += bytes;
        held.all += bytes;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        let mut held = self.bodies.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= bytes;
        if let Some(own) = held.of.get_mut(&self.source) {
            *own -= bytes;
            if *own == 0 {
                held.of.remove(&self.source);
            }
        }
    }
}

/// A request body, counted while it is read.
pub(crate) struct CountedBody {
    pub(crate) body: Incoming,
    pub(crate) share: Arc<Share>,
    pub(crate) connection_state: Arc<ConnectionState>,
    /// Since when it is waited for, once it is.
    pub(crate) late: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Refused;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Refused>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) else {
            // A client that is slow to send makes room for others.
            self.connection_state.end_answer();
            return self.poll_lateness(context).map(|()| Some(Err(Refused::TooSlow)));
        };
        self.connection_state.begin_answer();
        let frame = match frame {
            None => return Poll::Ready(None),
            Some(Err(error)) => return Poll::Ready(Some(Err(Refused::Broken(error)))),
            Some(Ok(frame)) => frame,
        };
        let bytes = frame.data_ref().map_or(0, |data| data.len() as u64);
        Poll::Ready(Some(self.share.take(bytes).map(|()| frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl CountedBody {
    fn poll_lateness(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let received = self.share.bytes.load(Ordering::Relaxed);
        let (since, sleep) = self
            .late
            .get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(PATIENCE))));
        let deadline = *since + PATIENCE + Duration::from_secs(received / SLOWEST);
        if sleep.deadline() != deadline {
            sleep.as_mut().reset(deadline);
        }
        ready!(sleep.as_mut().poll(context));
        Poll::Ready(())
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::TooMuch { what: BodyDirection::In, most, .. } => {
                f.write_str(&errors::too_many_bytes_of_requests(most))
            }
            Refused::TooMuch { what: BodyDirection::Out, most, .. } => {
                f.write_str(&errors::too_many_bytes_of_answers(most))
            }
            Refused::TooSlow => f.write_str(errors::too_slow()),
            Refused::Broken(error) => error.fmt(f),
        }
    }
}

impl Error for Refused {}

impl Refused {
    /// Finds the cause within the error of the body's reader.
    pub(crate) fn behind<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Refused> {
        let mut next = Some(error);
        while let Some(error) = next {
            if let Some(refused) = error.downcast_ref() {
                return Some(refused);
            }
            next = error.source();
        }
        None
    }
}

impl From<&Refused> for ApiError {
    fn from(refused: &Refused) -> ApiError {
        let message = refused.to_string();
        match refused {
            Refused::TooMuch { setting, .. } => {
                let hint = errors::send_less_or_raise(&setting);
                ApiError::new(ErrorCode::TooOften, message, hint)
            }
            Refused::TooSlow | Refused::Broken(_) => {
                ApiError::bad_request(message, errors::send_the_request_again())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_by_source_and_given_back() {
        let bodies = Arc::new(Bodies::new(BodyDirection::In, 100, 60));
        let (ann, bo) = (bodies.share(Source::User(1)), bodies.share(Source::User(2)));
        ann.take(60).expect("room");
        assert!(matches!(ann.take(1), Err(Refused::TooMuch { most: 60, .. })));
        bo.take(40).expect("room");
        assert!(matches!(bo.take(1), Err(Refused::TooMuch { most: 100, .. })));
        drop(ann);
        bo.take(20).expect("room again");
        drop(bo);
        assert!(bodies.held.lock().expect("whole").of.is_empty());
    }
}
