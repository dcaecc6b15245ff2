//! Formats points in time, in the user's time zone.

use danlu_messages::cli::screen as msg;
use jiff::{Timestamp, tz::TimeZone};

use super::amounts;

/// A time that the server sent; `None` when it makes no sense.
pub(crate) fn read(rfc3339: &str) -> Option<Timestamp> {
    rfc3339.parse().ok()
}

/// Seconds between the two; none when a clock was set back in between.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_second().saturating_sub(from.as_second())).unwrap_or(0)
}

/// `14:20`, or with its date when that is another day.
pub(crate) fn short(time: Timestamp, now: Timestamp) -> String {
    short_in(time, now, &TimeZone::system())
}

/// The same of a moment as the core counts it.
pub(crate) fn of(time: danlu_core::Time, now: Timestamp) -> String {
    let time = Timestamp::from_millisecond(time.0).ok();
    time.map_or_else(|| "?".to_owned(), |time| short(time, now))
}

fn short_in(time: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (time, now) = (time.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let pattern = if time.date() == now.date() {
        "%H:%M"
    } else if time.year() == now.year() {
        "%m-%d %H:%M"
    } else {
        "%Y-%m-%d %H:%M"
    };
    time.strftime(pattern).to_string()
}

/// `2026-11-15 14:20:03 (2h ago)`.
pub(crate) fn long(time: Timestamp, now: Timestamp) -> String {
    let stamp = time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let ago = rough(between(time, now));
    if time > now { stamp } else { msg::stamp_ago_ago(&stamp, &ago) }
}

/// The largest unit only.
pub(crate) fn rough(seconds: u64) -> String {
    let unit = match seconds {
        0..120 => 1,
        120..7_200 => 60,
        7_200..172_800 => 3_600,
        _ => 86_400,
    };
    amounts::length(seconds / unit * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_shown_when_it_is_another_one() {
        let zone = TimeZone::fixed(jiff::tz::offset(8));
        let now = read("2026-11-15T10:00:00Z").expect("it is a time");
        let check = |time, expect: &str| {
            assert_eq!(short_in(read(time).expect("it is a time"), now, &zone), expect);
        };
        check("2026-11-15T06:20:00Z", "14:20");
        check("2026-11-15T16:20:00Z", "11-16 00:20");
        check("2025-11-15T16:20:00.123Z", "2025-11-16 00:20");
        assert_eq!(read("yesterday"), None);
    }

    #[test]
    fn rough_has_one_unit() {
        for (seconds, expect) in
            [(0, "0s"), (75, "1m15s"), (150, "2m"), (7_300, "2h"), (90_000, "25h"), (200_000, "2d")]
        {
            assert_eq!(rough(seconds), expect);
        }
    }
}
