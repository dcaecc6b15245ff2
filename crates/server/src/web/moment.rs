//! Points in time and durations. A script shows them in the reader's time zone; without it they are in the server's.

use crate::api::rfc3339;
use askama::filters::HtmlSafe;
use danlu_core::Time;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::fmt;

/// Shown as `14:20` today, with the date on other days.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment {
    at: Time,
    now: Time,
}

impl Moment {
    pub(super) fn new(at: Time, now: Time) -> Moment {
        Moment { at, now }
    }

    /// From the API's words for it.
    pub(super) fn read(text: &str, now: Time) -> Option<Moment> {
        let at = text.parse::<Timestamp>().ok()?;
        Some(Moment { at: Time(at.as_millisecond()), now })
    }

    pub(super) fn at(self) -> Time {
        self.at
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zoned = |time: Time| {
            let stamp = Timestamp::from_millisecond(time.0).unwrap_or_default();
            stamp.to_zoned(TimeZone::system())
        };
        let (at, now) = (zoned(self.at), zoned(self.now));
        let text = match (at.date() == now.date(), at.year() == now.year()) {
            (true, _) => at.strftime("%H:%M"),
            (false, true) => at.strftime("%m-%d %H:%M"),
            (false, false) => at.strftime("%Y-%m-%d %H:%M"),
        };
        write!(out, r#"<time datetime="{}">{text}</time>"#, rfc3339(self.at))
    }
}

/// Digits, and what this file writes around them.
impl HtmlSafe for Moment {}

/// How long something has taken; while it goes on, a script counts on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elapsed {
    pub(super) since: Time,
    pub(super) until: Option<Time>,
    pub(super) now: Time,
}

impl fmt::Display for Elapsed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.until.unwrap_or(self.now).0.saturating_sub(self.since.0).max(0);
        let length = super::amounts::clock(millis.unsigned_abs() / 1000);
        match self.until {
            Some(_) => write!(out, r#"<span class="elapsed">{length}</span>"#),
            None => {
                let since = rfc3339(self.since);
                write!(out, r#"<span class="elapsed" data-since="{since}">{length}</span>"#)
            }
        }
    }
}

impl HtmlSafe for Elapsed {}
