//! Parses times in the past, for `--since` and `--until`: `7d` (so long ago), `2026-11-18`, `2026-11-18 08:00`, `08:00`
//! (today), or RFC 3339.

use super::begin::at;
use super::duration::parse_span;
use danlu_messages::spec as msg;
use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp, Zoned};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past(pub Timestamp);

pub fn parse_past(given: &str) -> Result<Past, String> {
    read(given.trim(), &Zoned::now()).map(Past).ok_or_else(|| msg::expected_past().to_owned())
}

fn read(given: &str, now: &Zoned) -> Option<Timestamp> {
    // A bare number could be anything.
    if given.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    if let Some(span) = parse_span(given) {
        let ago = SignedDuration::from_millis(i64::try_from(span.0).ok()?);
        return now.timestamp().checked_sub(ago).ok();
    }
    if let Ok(time) = given.parse::<Timestamp>() {
        return Some(time);
    }
    let local = given.replacen(' ', "T", 1);
    let whole = local.parse::<DateTime>().ok();
    let whole = whole.or_else(|| given.parse::<Date>().ok().map(DateTime::from));
    let whole = whole.or_else(|| Some(now.date().to_datetime(given.parse::<Time>().ok()?)));
    whole.and_then(|it| at(it.date(), it.time(), now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_day_days_and_lengths() {
        let now: Zoned = "2026-11-18T12:00:00+08:00[Asia/Shanghai]".parse().expect("a time");
        let check = |given: &str, expect: &str| {
            let expect = (!expect.is_empty()).then(|| expect.parse().expect("a time"));
            assert_eq!(read(given, &now), expect, "{given}");
        };
        check("7d", "2026-11-11T04:00:00Z");
        check("1h30m", "2026-11-18T02:30:00Z");
        check("2026-11-01", "2026-10-31T16:00:00Z");
        check("2026-11-01 08:30", "2026-11-01T00:30:00Z");
        check("08:00", "2026-11-18T00:00:00Z");
        check("2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z");
        for wrong in ["", "7", "2026", "yesterday", "-3d", "2026-13-01"] {
            check(wrong, "");
        }
    }
}
