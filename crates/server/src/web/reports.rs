//! The page of reports: what was used, by whom and when.

use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use super::report_svg::drawing;
use crate::api::Api;
use crate::api::usage_report::{self, UsageReportQuery};
use crate::reports::{days_between, first_day, zone};
use askama::Template;
use axum::extract::{Query, State};
use danlu_messages::reports as words;
use danlu_messages::web::pages;
use danlu_messages::web::reports as msg;
use danlu_wire::api::{UsageFigures, UsageGroup, UsageReportView};
use jiff::tz::TimeZone;
use serde::Deserialize;

/// Of the two pictures: one is for telephones.
const WIDE: u32 = 1_180;
const NARROW: u32 = 340;
/// Lines in the table; the rest is in the CSV.
const MOST_LINES: usize = 500;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ReportsPageQuery {
    by: String,
    since: String,
    until: String,
    tz: String,
    user: String,
}

/// A choice, where it leads, and whether it is the present one.
struct Choice {
    words: String,
    address: String,
    chosen: bool,
}

#[derive(Template)]
#[template(path = "reports.html")]
struct ReportsPage<'a> {
    context: &'a PageContext,
    report: UsageReportView,
    lines: Vec<ReportRow>,
    /// Lines that are not shown.
    more: usize,
    total: ReportRow,
    ranges: Vec<Choice>,
    groupings: Vec<Choice>,
    by: String,
    since: String,
    until: String,
    user: String,
    /// The time zone, and whether the address has it.
    zone: String,
    zone_given: bool,
    /// Drawn by the server, with names as text.
    wide: String,
    narrow: String,
    /// The same for programs.
    query: String,
}

struct ReportRow {
    name: String,
    /// What it did day by day.
    address: Option<String>,
    /// Percent of the largest.
    share: u32,
    gpu_hours: String,
    cpu_hours: String,
    tasks: u64,
    running: u64,
    failed: u64,
    wait: String,
    used: String,
    idle: String,
    energy: String,
    failures: String,
}

pub(super) async fn reports(
    State(api): State<Api>,
    visit: Visit,
    Query(given): Query<ReportsPageQuery>,
) -> PageResult {
    let known = Some(given.tz.as_str()).filter(|name| !name.is_empty()).and_then(zone);
    let zone_given = known.is_some();
    let zone = known.unwrap_or_else(TimeZone::system);
    let now = visit.context.now;
    let day = |days: i64| first_day(now, &zone, days - 1);
    let by = if given.by.is_empty() { "user".to_owned() } else { given.by.clone() };
    let since = if given.since.is_empty() { day(30) } else { given.since.clone() };
    let told = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let query = UsageReportQuery {
        by: Some(by.clone()),
        since: told(&since),
        until: told(&given.until),
        tz: told(&given.tz).filter(|_| zone_given),
        user: told(&given.user),
        ..UsageReportQuery::default()
    };
    let caller = &visit.caller;
    let report = usage_report::report(&api, caller, &query).await.map_err(visit.no())?;
    let unit = match days_between(&report.since, &report.until) {
        ..=100 => "day",
        101..=400 => "week",
        _ => "month",
    };
    let over_time = match usage_report::is_period(&by) {
        true => by.clone(),
        false => format!("{by},{unit}"),
    };
    let charted = UsageReportQuery { by: Some(over_time), ..query.clone() };
    let chart = usage_report::report(&api, caller, &charted).await;
    // Too many lines for a picture are no reason to show no table.
    let chart = chart.ok().filter(|chart| chart.total.gpu_hours > 0.0);
    let draw = |width| chart.as_ref().map(|chart| drawing(chart, width)).unwrap_or_default();
    let address_of = |by: &str, since: &str, until: &str, user: &str| {
        let parts = [("by", by), ("since", since), ("until", until), ("user", user)];
        let parts = parts.into_iter().chain(zone_given.then_some(("tz", given.tz.as_str())));
        let parts: Vec<String> = parts
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={}", super::form::encode(value)))
            .collect();
        format!("/reports?{}", parts.join("&"))
    };
    let address = |by: &str, since: &str, until: &str| address_of(by, since, until, &given.user);
    let range = |days: i64| Choice {
        words: msg::last_days(&days),
        address: address(&by, &day(days), ""),
        chosen: since == day(days) && given.until.is_empty(),
    };
    let grouping = |name: &str| Choice {
        words: words::heading(name).to_owned(),
        address: address(name, &since, &given.until),
        chosen: by == name,
    };
    let most = report.groups.iter().map(|group| group.figures.gpu_hours).fold(0.0, f64::max);
    let row = |group: &UsageGroup| {
        let names = report.by.iter();
        let names = names.map(|name| words::key(name, group.key.get(name).cloned().flatten()));
        let user = group.key.get("user").cloned().flatten().filter(|_| by == "user");
        let address = user.map(|user| address_of("day", &since, &given.until, &user));
        let name = names.collect::<Vec<String>>().join(", ");
        ReportRow { address, ..row(name, &group.figures, most) }
    };
    let lines: Vec<ReportRow> = report.groups.iter().take(MOST_LINES).map(row).collect();
    Ok(page(&ReportsPage {
        context: &visit.context,
        more: report.groups.len() - lines.len(),
        lines,
        total: self::row(words::total().to_owned(), &report.total, 0.0),
        ranges: [7, 30, 90].map(range).into(),
        groupings: ["user", "project", "node", "model", "day", "month"].map(grouping).into(),
        wide: draw(WIDE),
        narrow: draw(NARROW),
        query: address(&by, &since, &given.until).replacen("/reports?", "", 1),
        zone: report.time_zone.clone(),
        zone_given,
        by,
        since: date_only(since),
        until: date_only(given.until.clone()),
        user: given.user.clone(),
        report,
    }))
}

/// What a field for dates can show.
fn date_only(given: String) -> String {
    if given.parse::<jiff::civil::Date>().is_ok() { given } else { String::new() }
}

fn row(name: String, figures: &UsageFigures, most: f64) -> ReportRow {
    let measured = figures.measured_gpu_hours > 0.0;
    let nothing = || "–".to_owned();
    let mut failures: Vec<(&String, &u64)> = figures.failures.iter().collect();
    failures.sort_by_key(|(class, count)| (std::cmp::Reverse(**count), *class));
    let failures: Vec<String> =
        failures.iter().map(|(class, count)| words::class_and_count(class, count)).collect();
    ReportRow {
        name,
        address: None,
        share: if most > 0.0 { (figures.gpu_hours / most * 100.0).round() as u32 } else { 0 },
        gpu_hours: words::number(figures.gpu_hours),
        cpu_hours: words::number(figures.cpu_hours),
        tasks: figures.tasks,
        running: figures.running,
        failed: figures.failed + figures.timed_out,
        wait: figures.wait.map_or_else(nothing, |wait| {
            let (median, p90) =
                (words::length(wait.median_seconds), words::length(wait.p90_seconds));
            format!("{median} · {p90}")
        }),
        used: figures.gpu_utilization.map_or_else(nothing, |percent| format!("{percent:.0} %")),
        idle: if measured { words::number(figures.idle_gpu_hours) } else { nothing() },
        energy: match measured {
            true => words::kilowatt_hours(&words::number(figures.energy_kwh)),
            false => nothing(),
        },
        failures: failures.join(", "),
    }
}
