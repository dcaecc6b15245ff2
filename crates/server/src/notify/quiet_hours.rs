//! Hours in which a person wants to hear nothing: until when a message waits. Pure.

use danlu_core::Time;
use danlu_wire::api::QuietHours;
use jiff::civil::Time as TimeOfDay;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

/// What was typed is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BadQuietHours {
    Hours,
    Zone,
}

pub(crate) fn check(quiet: &QuietHours) -> Result<(), BadQuietHours> {
    let (from, to) = (hour(&quiet.from), hour(&quiet.to));
    if from.is_none() || to.is_none() || from == to {
        return Err(BadQuietHours::Hours);
    }
    zone(quiet).map(|_| ()).ok_or(BadQuietHours::Zone)
}

/// `None` where it need not wait. What cannot be read any more keeps nobody waiting.
pub(crate) fn until(quiet: &QuietHours, now: Time) -> Option<Time> {
    let (from, to) = (hour(&quiet.from)?, hour(&quiet.to)?);
    let here = Timestamp::from_millisecond(now.0).ok()?.to_zoned(zone(quiet)?);
    let time = here.time();
    let inside = if from < to { from <= time && time < to } else { time >= from || time < to };
    if !inside {
        return None;
    }
    let day = if time < to { here.date() } else { here.date().checked_add(1.day()).ok()? };
    let end = day.to_datetime(to).to_zoned(here.time_zone().clone()).ok()?;
    Some(Time(end.timestamp().as_millisecond()))
}

fn zone(quiet: &QuietHours) -> Option<TimeZone> {
    match quiet.zone.as_deref() {
        None | Some("") => Some(TimeZone::system()),
        Some("UTC") => Some(TimeZone::UTC),
        Some(name) => TimeZone::get(name).ok(),
    }
}

fn hour(text: &str) -> Option<TimeOfDay> {
    let (hour, minute) = text.trim().split_once(':')?;
    TimeOfDay::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time(text.parse::<Timestamp>().expect("a time").as_millisecond())
    }

    fn quiet(from: &str, to: &str, zone: &str) -> QuietHours {
        QuietHours { from: from.into(), to: to.into(), zone: Some(zone.into()) }
    }

    #[test]
    fn messages_wait_until_the_morning() {
        let night = quiet("22:00", "07:00", "UTC");
        let morning = Some(at("2026-11-19T07:00:00Z"));
        assert_eq!(until(&night, at("2026-11-18T22:00:00Z")), morning);
        assert_eq!(until(&night, at("2026-11-19T06:59:59Z")), morning);
        assert_eq!(until(&night, at("2026-11-19T07:00:00Z")), None);
        assert_eq!(until(&night, at("2026-11-18T21:59:59Z")), None);
        let noon = quiet("12:00", "14:00", "UTC");
        assert_eq!(until(&noon, at("2026-11-18T13:00:00Z")), Some(at("2026-11-18T14:00:00Z")));
        assert_eq!(until(&noon, at("2026-11-18T23:00:00Z")), None);
    }

    #[test]
    fn hours_are_those_of_the_persons_zone() {
        if TimeZone::get("Asia/Shanghai").is_err() {
            return; // No table of time zones here.
        }
        let night = quiet("22:00", "07:00", "Asia/Shanghai");
        assert_eq!(until(&night, at("2026-11-18T15:00:00Z")), Some(at("2026-11-18T23:00:00Z")));
        assert_eq!(until(&night, at("2026-11-18T10:00:00Z")), None);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        assert_eq!(check(&quiet("22:00", "22:00", "UTC")), Err(BadQuietHours::Hours));
        assert_eq!(check(&quiet("24:30", "07:00", "UTC")), Err(BadQuietHours::Hours));
        assert_eq!(check(&quiet("night", "07:00", "UTC")), Err(BadQuietHours::Hours));
        assert_eq!(check(&quiet("22:00", "07:00", "Moon/Sea")), Err(BadQuietHours::Zone));
        assert_eq!(check(&quiet("22:00", "07:00", "UTC")), Ok(()));
    }
}
