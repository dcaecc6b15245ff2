//! Days, weeks and months of a time zone, and the times that people write.

use danlu_core::Time;
use jiff::civil::Date;
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, ToSpan as _};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Day,
    /// From Monday on.
    Week,
    Month,
}

/// More are no report.
const MOST_PERIODS: usize = 4_000;

/// Periods that follow each other, the first and the last perhaps in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Periods {
    /// When each begins, and when the last one ends, in milliseconds.
    borders: Vec<i64>,
    firsts: Vec<Date>,
    unit: Unit,
}

impl Periods {
    /// `None` where there would be too many.
    pub(crate) fn new(unit: Unit, zone: &TimeZone, from: Time, to: Time) -> Option<Periods> {
        let mut first = unit.first(day_of(from, zone)?)?;
        let mut periods = Periods { borders: Vec::new(), firsts: Vec::new(), unit };
        loop {
            let begins = midnight(first, zone)?;
            if begins >= to && !periods.firsts.is_empty() {
                break;
            }
            if periods.firsts.len() >= MOST_PERIODS {
                return None;
            }
            periods.borders.push(begins.0.max(from.0));
            periods.firsts.push(first);
            first = unit.next(first)?;
        }
        periods.borders.push(to.0.max(from.0));
        Some(periods)
    }

    /// All of it as one.
    pub(crate) fn whole(from: Time, to: Time) -> Periods {
        let borders = vec![from.0, to.0.max(from.0)];
        Periods { borders, firsts: vec![Date::default()], unit: Unit::Month }
    }

    /// The one that this time is in; what is before or after counts as the first or the last.
    pub(crate) fn of(&self, at: i64) -> usize {
        let after = self.borders.partition_point(|border| *border <= at);
        after.saturating_sub(1).min(self.firsts.len().saturating_sub(1))
    }

    /// When it begins and ends.
    pub(crate) fn bounds(&self, place: usize) -> (i64, i64) {
        (self.borders[place], self.borders[place + 1])
    }

    pub(crate) fn len(&self) -> usize {
        self.firsts.len()
    }

    /// `2026-11-18`, `2026-W47`, `2026-11`.
    pub(crate) fn name(&self, place: usize) -> String {
        let Some(first) = self.firsts.get(place) else { return String::new() };
        match self.unit {
            Unit::Day => first.to_string(),
            Unit::Week => {
                let week = first.iso_week_date();
                format!("{}-W{:02}", week.year(), week.week())
            }
            Unit::Month => first.strftime("%Y-%m").to_string(),
        }
    }
}

impl Unit {
    /// Of the period that the day is in.
    fn first(self, day: Date) -> Option<Date> {
        match self {
            Unit::Day => Some(day),
            Unit::Week => {
                let days = i64::from(day.weekday().to_monday_zero_offset());
                day.checked_sub(days.days()).ok()
            }
            Unit::Month => Some(day.first_of_month()),
        }
    }

    fn next(self, first: Date) -> Option<Date> {
        let step = match self {
            Unit::Day => 1.day(),
            Unit::Week => 1.week(),
            Unit::Month => 1.month(),
        };
        first.checked_add(step).ok()
    }
}

fn day_of(at: Time, zone: &TimeZone) -> Option<Date> {
    let stamp = Timestamp::from_millisecond(at.0).ok()?;
    Some(zone.to_datetime(stamp).date())
}

fn midnight(day: Date, zone: &TimeZone) -> Option<Time> {
    let at = day.to_zoned(zone.clone()).ok()?;
    Some(Time(at.timestamp().as_millisecond()))
}

/// So many days before today, as a date.
pub(crate) fn first_day(now: Time, zone: &TimeZone, days: i64) -> String {
    let day = day_of(now, zone).and_then(|day| day.checked_sub(days.days()).ok());
    day.map(|day| day.to_string()).unwrap_or_default()
}

/// Between two times as answers have them.
pub(crate) fn days_between(from: &str, to: &str) -> i64 {
    let read = |text: &str| text.parse::<Timestamp>().map_or(0, Timestamp::as_second);
    (read(to) - read(from)) / 86_400
}

/// `Asia/Shanghai`, `+08:00` or `UTC`. `None` if it is not known here.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    if name == "UTC" || name == "Z" {
        return Some(TimeZone::UTC);
    }
    if name.starts_with(['+', '-']) {
        let (hours, minutes) = name.split_once(':').unwrap_or((name, "0"));
        let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
        if !(0..60).contains(&minutes) || !(-18..=18).contains(&hours) {
            return None;
        }
        let sign = if name.starts_with('-') { -1 } else { 1 };
        let seconds = hours * 3_600 + sign * minutes * 60;
        return Offset::from_seconds(seconds).ok().map(TimeZone::fixed);
    }
    // Not as a path: these become file names.
    let sound = name.len() <= 64
        && name.chars().all(|it| it.is_ascii_alphanumeric() || "/_-+".contains(it));
    sound.then(|| TimeZone::get(name).ok()).flatten()
}

/// A day or a month: when it begins and when the next one does.
pub(crate) fn written_period(given: &str, zone: &TimeZone) -> Option<(Time, Time)> {
    let (first, unit) = match given.parse::<Date>() {
        Ok(day) if given.len() == 10 => (day, Unit::Day),
        _ if given.len() == 7 => (format!("{given}-01").parse().ok()?, Unit::Month),
        _ => return None,
    };
    Some((midnight(first, zone)?, midnight(unit.next(first)?, zone)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Time {
        Time(text.parse::<Timestamp>().unwrap().as_millisecond())
    }

    fn names(unit: Unit, zone: &TimeZone, from: &str, to: &str) -> Vec<String> {
        let periods = Periods::new(unit, zone, at(from), at(to)).unwrap();
        (0..periods.len()).map(|place| periods.name(place)).collect()
    }

    #[test]
    fn days_are_those_of_the_zone() {
        let (from, to) = ("2026-11-17T15:30:00Z", "2026-11-18T17:00:00Z");
        assert_eq!(names(Unit::Day, &TimeZone::UTC, from, to), ["2026-11-17", "2026-11-18"]);
        let east = zone("+08:00").unwrap();
        let days = ["2026-11-17", "2026-11-18", "2026-11-19"];
        assert_eq!(names(Unit::Day, &east, from, to), days);
        let periods = Periods::new(Unit::Day, &east, at(from), at(to)).unwrap();
        assert_eq!(periods.bounds(0), (at(from).0, at("2026-11-17T16:00:00Z").0));
        assert_eq!(periods.of(at("2026-11-17T15:59:59Z").0), 0);
        assert_eq!(periods.of(at("2026-11-17T16:00:00Z").0), 1);
        assert_eq!(periods.of(i64::MIN), 0);
        assert_eq!(periods.of(i64::MAX), 2);
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        let (from, to) = ("2026-12-30T00:00:00Z", "2027-01-05T00:00:00Z");
        assert_eq!(names(Unit::Week, &TimeZone::UTC, from, to), ["2026-W53", "2027-W01"]);
        assert_eq!(names(Unit::Month, &TimeZone::UTC, from, to), ["2026-12", "2027-01"]);
    }

    #[test]
    fn a_day_may_have_23_hours() {
        let Some(zone) = zone("Europe/Berlin") else { return };
        let (from, to) = written_period("2026-03-29", &zone).unwrap();
        assert_eq!(to.0 - from.0, 23 * 3_600_000);
    }

    #[test]
    fn no_time_at_all_is_one_period() {
        let now = at("2026-11-18T00:00:00Z");
        let periods = Periods::new(Unit::Day, &TimeZone::UTC, now, now).unwrap();
        assert_eq!((periods.len(), periods.of(now.0)), (1, 0));
        assert!(Periods::new(Unit::Day, &TimeZone::UTC, Time(0), now).is_none(), "too many days");
    }

    #[test]
    fn zones_are_names_and_offsets_but_no_paths() {
        assert!(zone("-03:30").is_some());
        for bad in ["", "../../etc/passwd", "+99:00", "+1:99", "/etc/localtime", "Nowhere/At_All"] {
            assert!(zone(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn days_and_months_are_read() {
        let utc = TimeZone::UTC;
        let day = (at("2026-11-18T00:00:00Z"), at("2026-11-19T00:00:00Z"));
        assert_eq!(written_period("2026-11-18", &utc), Some(day));
        let month = (at("2026-11-01T00:00:00Z"), at("2026-12-01T00:00:00Z"));
        assert_eq!(written_period("2026-11", &utc), Some(month));
        for bad in ["2026", "2026-13", "20261118", "2026-11-18T00:00", "7d"] {
            assert_eq!(written_period(bad, &utc), None, "{bad}");
        }
    }
}
