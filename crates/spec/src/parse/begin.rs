//! Parses `--begin`: `22:00`, `2026-11-20 08:00`, `now+2h`, `tomorrow`, or RFC 3339.

use danlu_messages::spec as msg;
use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp, ToSpan as _, Zoned};

use super::time_limit::{TimeLimit, parse_time_limit};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begin(pub Timestamp);

pub fn parse_begin(given: &str) -> Result<Begin, String> {
    read(given.trim(), &Zoned::now()).map(Begin).ok_or_else(|| msg::expected_time().to_owned())
}

fn read(given: &str, now: &Zoned) -> Option<Timestamp> {
    let lower = given.to_ascii_lowercase();
    if let Some(wait) = lower.strip_prefix("now").or_else(|| lower.strip_prefix('+')) {
        return later(wait.trim_start_matches('+').trim(), now);
    }
    let (day, clock) = match lower.strip_prefix("tomorrow") {
        Some(clock) => (Some(now.date().checked_add(1.day()).ok()?), clock.trim()),
        None => (None, lower.as_str()),
    };
    if day.is_some() && clock.is_empty() {
        return at(day?, Time::midnight(), now);
    }
    if let Some(time) = time_of_day(clock) {
        return match day {
            Some(day) => at(day, time, now),
            None => next(time, now),
        };
    }
    if day.is_some() {
        return None;
    }
    // With a zone it is one time everywhere; without, it is the person's own.
    given.parse::<Timestamp>().ok().or_else(|| {
        let local = given.replacen(' ', "T", 1);
        let whole = local.parse::<DateTime>().ok();
        let whole = whole.or_else(|| given.parse::<Date>().ok().map(DateTime::from));
        whole.and_then(|it| at(it.date(), it.time(), now))
    })
}

/// A bare number is seconds here, as Slurm has it.
fn later(wait: &str, now: &Zoned) -> Option<Timestamp> {
    let seconds = match wait.parse::<u32>() {
        _ if wait.is_empty() => 0,
        Ok(seconds) => u64::from(seconds),
        Err(_) => match parse_time_limit(wait).ok()? {
            TimeLimit::Seconds { seconds, .. } => seconds,
            TimeLimit::None => return None,
        },
    };
    let wait = SignedDuration::from_secs(i64::try_from(seconds).ok()?);
    now.timestamp().checked_add(wait).ok()
}

fn time_of_day(clock: &str) -> Option<Time> {
    match clock {
        "midnight" => Some(Time::midnight()),
        "noon" => Some(Time::constant(12, 0, 0, 0)),
        _ => {
            let parts: Vec<i8> = clock.split(':').map(super::whole).collect::<Option<Vec<_>>>()?;
            match parts.as_slice() {
                [hour, minute] => Time::new(*hour, *minute, 0, 0).ok(),
                [hour, minute, second] => Time::new(*hour, *minute, *second, 0).ok(),
                _ => None,
            }
        }
    }
}

/// Today, or tomorrow if it has passed.
fn next(time: Time, now: &Zoned) -> Option<Timestamp> {
    let today = at(now.date(), time, now)?;
    if today > now.timestamp() { Some(today) } else { at(now.date().tomorrow().ok()?, time, now) }
}

pub(super) fn at(date: Date, time: Time, now: &Zoned) -> Option<Timestamp> {
    let zoned = date.to_datetime(time).to_zoned(now.time_zone().clone());
    zoned.ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_say_when() {
        let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(8));
        let now: Timestamp = "2026-11-15T10:00:00Z".parse().expect("it is a time");
        let now = now.to_zoned(zone);
        for (given, expect) in [
            ("22:00", "2026-11-15T14:00:00Z"),
            ("08:30", "2026-11-16T00:30:00Z"),
            ("18:00:01", "2026-11-15T10:00:01Z"),
            ("midnight", "2026-11-15T16:00:00Z"),
            ("noon", "2026-11-16T04:00:00Z"),
            ("tomorrow", "2026-11-15T16:00:00Z"),
            ("tomorrow 08:00", "2026-11-16T00:00:00Z"),
            ("2026-11-20", "2026-11-19T16:00:00Z"),
            ("2026-11-20 08:00", "2026-11-20T00:00:00Z"),
            ("2026-11-20T08:00:05", "2026-11-20T00:00:05Z"),
            ("2026-11-20T08:00:05Z", "2026-11-20T08:00:05Z"),
            ("2026-11-20T08:00:05+01:00", "2026-11-20T07:00:05Z"),
            ("now", "2026-11-15T10:00:00Z"),
            ("now+2h", "2026-11-15T12:00:00Z"),
            ("now+1hour", "2026-11-15T11:00:00Z"),
            ("now+90", "2026-11-15T10:01:30Z"),
            ("+3d", "2026-11-18T10:00:00Z"),
        ] {
            let expect: Timestamp = expect.parse().expect("it is a time");
            assert_eq!(read(given, &now), Some(expect), "{given}");
        }
        for wrong in
            ["", "25:00", "22:60", "yesterday", "22", "now+", "now+x", "tomorrow x", "2026-13-01"]
        {
            let read = read(wrong, &now);
            assert!(read.is_none() || wrong == "now+", "{wrong}: {read:?}");
        }
    }
}
