//! The wall clock, and the conversion of spans.

use danlu_core::{Span, Time};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

pub(crate) fn duration(span: Span) -> Duration {
    Duration::from_millis(span.0)
}
