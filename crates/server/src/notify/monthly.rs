//! The monthly message: which month is told of, when to look again, and what it says. Pure.

use danlu_core::{Span, Time};
use danlu_wire::api::{UsageFigures, UsageReportView};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

/// What was used in a month, in whole units.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MonthlyFacts {
    /// `2026-10`.
    pub(crate) month: String,
    pub(crate) users: u64,
    pub(crate) total: MonthlySums,
    /// Who used most, the most first.
    pub(crate) top: Vec<(String, MonthlySums)>,
    /// Who left GPUs idle for longest, with at least an hour.
    pub(crate) idle: Vec<(String, u64)>,
    pub(crate) failures: Vec<(String, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct MonthlySums {
    pub(crate) gpu_seconds: u64,
    pub(crate) idle_seconds: u64,
    pub(crate) tasks: u64,
    pub(crate) failed: u64,
    /// Percent.
    pub(crate) utilization: Option<u32>,
    pub(crate) energy_wh: u64,
    pub(crate) median_wait: Option<u64>,
    pub(crate) p90_wait: Option<u64>,
}

const TOP: usize = 10;
const IDLE: usize = 5;
const WORTH_A_WORD: u64 = 3_600;
/// After the month: what ended at midnight is booked by then.
const LATER: Span = Span::from_secs(300);

/// The month before this moment, and when to look for the next one.
pub(crate) fn month_before(now: Time, zone: &TimeZone) -> Option<(String, Time)> {
    let today = zone.to_datetime(Timestamp::from_millisecond((now - LATER).0).ok()?).date();
    let first = today.first_of_month();
    let before = first.checked_sub(1.month()).ok()?;
    let next = first.checked_add(1.month()).ok()?.to_zoned(zone.clone()).ok()?;
    let next = Time(next.timestamp().as_millisecond()) + LATER;
    Some((before.strftime("%Y-%m").to_string(), next))
}

/// From a report by user; `None` where nothing happened.
pub(crate) fn facts(month: &str, report: &UsageReportView) -> Option<MonthlyFacts> {
    let total = sums(&report.total);
    if total.tasks == 0 && total.gpu_seconds == 0 {
        return None;
    }
    let name = |key: &std::collections::BTreeMap<String, Option<String>>| {
        key.get("user").cloned().flatten().unwrap_or_default()
    };
    let users: Vec<(String, MonthlySums)> =
        report.groups.iter().map(|group| (name(&group.key), sums(&group.figures))).collect();
    let mut idle: Vec<(String, u64)> = users
        .iter()
        .filter(|(_, sums)| sums.idle_seconds >= WORTH_A_WORD)
        .map(|(name, sums)| (name.clone(), sums.idle_seconds))
        .collect();
    idle.sort_by_key(|(_, seconds)| std::cmp::Reverse(*seconds));
    idle.truncate(IDLE);
    let mut failures: Vec<(String, u64)> =
        report.total.failures.iter().map(|(class, count)| (class.clone(), *count)).collect();
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Some(MonthlyFacts {
        month: month.to_owned(),
        users: users.len() as u64,
        total,
        top: users.into_iter().take(TOP).collect(),
        idle,
        failures,
    })
}

fn sums(figures: &UsageFigures) -> MonthlySums {
    let seconds = |hours: f64| (hours * 3_600.0).round().max(0.0) as u64;
    let whole = |number: f64| number.round().max(0.0) as u64;
    MonthlySums {
        gpu_seconds: seconds(figures.gpu_hours),
        idle_seconds: seconds(figures.idle_gpu_hours),
        tasks: figures.tasks,
        failed: figures.failed + figures.timed_out,
        utilization: figures.gpu_utilization.map(|percent| percent.round().max(0.0) as u32),
        energy_wh: whole(figures.energy_kwh * 1_000.0),
        median_wait: figures.wait.map(|wait| whole(wait.median_seconds)),
        p90_wait: figures.wait.map(|wait| whole(wait.p90_seconds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_wire::api::UsageGroup;

    fn at(text: &str) -> Time {
        Time(text.parse::<Timestamp>().unwrap().as_millisecond())
    }

    #[test]
    fn a_month_is_told_of_a_little_after_it() {
        let utc = TimeZone::UTC;
        let check = |now: &str, month: &str, next: &str| {
            let found = month_before(at(now), &utc);
            assert_eq!(found, Some((month.to_owned(), at(next))), "{now}");
        };
        check("2026-11-18T00:00:00Z", "2026-10", "2026-12-01T00:05:00Z");
        check("2026-12-01T00:04:59Z", "2026-10", "2026-12-01T00:05:00Z");
        check("2026-12-01T00:05:00Z", "2026-11", "2027-01-01T00:05:00Z");
        check("2027-01-15T00:00:00Z", "2026-12", "2027-02-01T00:05:00Z");
        let east = TimeZone::fixed(jiff::tz::offset(8));
        let found = month_before(at("2026-11-30T16:05:00Z"), &east);
        assert_eq!(
            found.map(|(month, _)| month).as_deref(),
            Some("2026-11"),
            "it is December there"
        );
    }

    #[test]
    fn who_used_most_and_who_wasted_most() {
        let group = |user: &str, gpu_hours: f64, idle_gpu_hours: f64| UsageGroup {
            key: [("user".to_owned(), Some(user.to_owned()))].into(),
            figures: UsageFigures { gpu_hours, idle_gpu_hours, ..UsageFigures::default() },
        };
        let mut report = UsageReportView {
            since: String::new(),
            until: String::new(),
            time_zone: String::new(),
            by: vec!["user".to_owned()],
            periods: Vec::new(),
            own: false,
            complete: true,
            total: UsageFigures { gpu_hours: 30.0, tasks: 3, ..UsageFigures::default() },
            groups: vec![group("ann", 20.0, 1.0), group("bob", 9.0, 8.0), group("eve", 1.0, 0.5)],
        };
        let facts = super::facts("2026-10", &report).unwrap();
        assert_eq!((facts.users, facts.total.gpu_seconds), (3, 108_000));
        assert_eq!(facts.top[0].0, "ann");
        assert_eq!(facts.idle, [("bob".to_owned(), 28_800), ("ann".to_owned(), 3_600)]);
        report.total = UsageFigures::default();
        assert_eq!(super::facts("2026-10", &report), None);
    }
}
