//! `GET /reports/usage`: what was used, by whom and when; as JSON, as CSV or as a picture.

use super::body::Json;
use super::caller::Caller;
use super::filter::moment;
use super::{Api, ApiError, rfc3339};
use crate::daemon::clock;
use crate::reports::{
    self, Figures, Filters, Grouping, MOST_GROUPINGS, Report, ReportError, ReportQuestion, Unit,
    Waits,
};
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use danlu_core::{Span, Time};
use danlu_messages::errors;
use danlu_wire::api::{
    Document, ErrorCode, UsageFigures, UsageGroup, UsageReport, UsageReportView, WaitFigures,
};
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UsageReportQuery {
    /// `user`, `project`, `node`, `model`, `day`, `week` or `month`; several with commas, such as `user,day`; `user`
    /// unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^(user|project|node|model)(,(day|week|month))?$"))]
    pub(crate) by: Option<String>,
    /// A day, a month, a time, or how long ago, such as `7d`; `30d` unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[1-9][0-9]{0,2}[hd]$"))]
    pub(crate) since: Option<String>,
    /// The same; a day or a month is included. Now, unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[1-9][0-9]{0,2}m$"))]
    pub(crate) until: Option<String>,
    /// Whose days: `Asia/Shanghai` or `+08:00`; the server's unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^(UTC|[+-]0[0-9]:[0-5]0)$"))]
    pub(crate) tz: Option<String>,
    /// Only of this user, and so on. An empty project or model: of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<String>,
}

const USUAL_RANGE: Span = Span::from_secs(30 * 86_400);
/// A name that is longer is nobody's.
const LONGEST_NAME: usize = 256;

pub(super) async fn json(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<UsageReportQuery>, QueryRejection>,
) -> Result<Json<Document<UsageReport>>, ApiError> {
    let report = report(&api, &caller, &query?.0).await?;
    Ok(Json(Document::new(UsageReport { report })))
}

pub(super) async fn csv(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<UsageReportQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let report = report(&api, &caller, &query?.0).await?;
    let name = "attachment; filename=\"danlu-report.csv\"";
    let kind = (header::CONTENT_TYPE, "text/csv; charset=utf-8");
    Ok(([kind, (header::CONTENT_DISPOSITION, name)], super::report_csv::csv(&report))
        .into_response())
}

pub(super) async fn svg(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<UsageReportQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    let report = report(&api, &caller, &query?.0).await?;
    let kind = (header::CONTENT_TYPE, "image/svg+xml; charset=utf-8");
    Ok(([kind], crate::web::report_svg::picture(&report)).into_response())
}

pub(crate) async fn report(
    api: &Api,
    caller: &Caller,
    query: &UsageReportQuery,
) -> Result<UsageReportView, ApiError> {
    let question = question(api, caller, query)?;
    let (zone, own) = (question.zone.clone(), !sees_all(api, caller));
    let report = api.reports.ask(api, question).await.map_err(told)?;
    let given = query.tz.clone().filter(|given| !given.is_empty());
    let time_zone = given.unwrap_or_else(|| zone_name(&zone, report.to));
    Ok(view(report, time_zone, own))
}

/// By user, of a month such as `2026-10`: for administrators.
pub(crate) async fn of_month(
    api: &Api,
    month: &str,
    zone: &TimeZone,
) -> Result<UsageReportView, ReportError> {
    let now = clock::now();
    let (from, to) = reports::written_period(month, zone).unwrap_or((now, now));
    let (by, only) = (vec![Grouping::User], Filters::default());
    let zone = zone.clone();
    let question = ReportQuestion { from, to, open: false, now, zone: zone.clone(), by, only };
    let report = api.reports.ask(api, question).await?;
    Ok(view(report, zone_name(&zone, to), false))
}

fn sees_all(api: &Api, caller: &Caller) -> bool {
    caller.visibility(&api.handle.model()).is_whole()
}

/// Of all that a caller may not see, nothing is counted.
fn question(
    api: &Api,
    caller: &Caller,
    query: &UsageReportQuery,
) -> Result<ReportQuestion, ApiError> {
    let now = clock::now();
    let zone = match query.tz.as_deref() {
        None => TimeZone::system(),
        Some(given) => reports::zone(given).ok_or_else(|| {
            ApiError::bad_request(errors::no_such_time_zone(&given), errors::time_zone_examples())
        })?,
    };
    let from = match query.since.as_deref() {
        None => now - USUAL_RANGE,
        Some(given) => match reports::written_period(given, &zone) {
            Some((begins, _)) => begins,
            None => report_moment(given, now)?,
        },
    };
    let to = match query.until.as_deref() {
        None => now,
        Some(given) => match reports::written_period(given, &zone) {
            Some((_, ends)) => ends,
            None => report_moment(given, now)?,
        },
    };
    let open = to >= now;
    let to = to.min(now);
    if from > to {
        return Err(ApiError::refused(
            errors::range_ends_before_it_begins(&rfc3339(from), &rfc3339(to)),
            errors::range_examples(),
        ));
    }
    let by = groupings(query.by.as_deref().unwrap_or("user"))?;
    let only = filters(api, caller, query)?;
    Ok(ReportQuestion { from, to, open, now, zone, by, only })
}

fn report_moment(given: &str, now: Time) -> Result<Time, ApiError> {
    moment(given, now)
        .map_err(|_| ApiError::bad_request(errors::not_a_moment(&given), errors::range_examples()))
}

fn groupings(given: &str) -> Result<Vec<Grouping>, ApiError> {
    let wrong = || ApiError::bad_request(errors::bad_grouping(&given), errors::grouping_examples());
    let mut by: Vec<Grouping> = Vec::new();
    for name in given.split(',').map(str::trim) {
        let grouping = Grouping::from_name(name).ok_or_else(wrong)?;
        let is_period = |it: &Grouping| match it {
            Grouping::Period(_) => true,
            Grouping::User | Grouping::Project | Grouping::Node | Grouping::Model => false,
        };
        let twice = by.contains(&grouping) || (is_period(&grouping) && by.iter().any(is_period));
        if twice || by.len() >= MOST_GROUPINGS {
            return Err(wrong());
        }
        by.push(grouping);
    }
    Ok(by)
}

fn filters(api: &Api, caller: &Caller, query: &UsageReportQuery) -> Result<Filters, ApiError> {
    let model = api.handle.model();
    let visible = caller.visibility(&model);
    let named = |given: &Option<String>| given.clone().filter(|name| name.len() <= LONGEST_NAME);
    let user = match query.user.as_deref().filter(|given| !given.is_empty()) {
        None => None,
        Some(name) => {
            let found = model.users.values().find(|user| user.name == name);
            // As one that does not exist.
            let found = found.filter(|user| visible.user(user.id));
            let unknown =
                || ApiError::not_found(errors::user_not_known(&name), errors::names_of_users());
            Some(found.ok_or_else(unknown)?.id)
        }
    };
    let own = (!visible.is_whole()).then_some(caller.id);
    Ok(Filters {
        user: user.or(own),
        project: named(&query.project),
        node: named(&query.node).filter(|name| !name.is_empty()),
        model: named(&query.model),
    })
}

fn told(error: ReportError) -> ApiError {
    match error {
        ReportError::Unavailable => ApiError::new(
            ErrorCode::Unavailable,
            errors::reports_unavailable(),
            errors::see_the_server_log(),
        ),
        ReportError::TooMuch | ReportError::Slow => {
            ApiError::refused(errors::report_too_long(), errors::shorter_report())
        }
    }
}

fn zone_name(zone: &TimeZone, at: Time) -> String {
    let stamp = jiff::Timestamp::from_millisecond(at.0).unwrap_or_default();
    let offset = || stamp.to_zoned(zone.clone()).strftime("%:z").to_string();
    zone.iana_name().map_or_else(offset, str::to_owned)
}

fn view(report: Report, time_zone: String, own: bool) -> UsageReportView {
    let Report { from, to, by, periods, reading_history, total, lines } = report;
    let names: Vec<&str> = by.iter().map(|it| it.as_str()).collect();
    let key = |of: Vec<Option<String>>| names.iter().map(|it| (*it).to_owned()).zip(of).collect();
    UsageReportView {
        since: rfc3339(from),
        until: rfc3339(to),
        time_zone,
        periods,
        own,
        complete: !reading_history,
        total: figures(total),
        groups: lines
            .into_iter()
            .map(|line| UsageGroup { key: key(line.of), figures: figures(line.figures) })
            .collect(),
        by: names.iter().map(|it| (*it).to_owned()).collect(),
    }
}

fn figures(mut figures: Figures) -> UsageFigures {
    let waits = figures.waits();
    let hours = |milliseconds: i64| milliseconds as f64 / 3_600_000.0;
    let seconds = |milliseconds: i64| milliseconds as f64 / 1_000.0;
    let measured = figures.measured;
    UsageFigures {
        gpu_hours: hours(figures.gpu),
        cpu_hours: hours(figures.cpu),
        tasks: figures.tasks(),
        running: figures.running,
        succeeded: figures.succeeded,
        failed: figures.failed,
        cancelled: figures.cancelled,
        timed_out: figures.timed_out,
        wait: waits.map(|Waits { tasks, mean, median, p90 }| WaitFigures {
            tasks,
            mean_seconds: seconds(mean),
            median_seconds: seconds(median),
            p90_seconds: seconds(p90),
        }),
        gpu_utilization: (measured.known > 0).then(|| measured.used as f64 / measured.known as f64),
        measured_gpu_hours: hours(measured.held),
        idle_gpu_hours: hours(measured.idle),
        energy_kwh: measured.energy as f64 / 3_600_000_000.0,
        failures: figures
            .failures
            .iter()
            .map(|(class, count)| (class.as_str().to_owned(), *count))
            .collect(),
    }
}

/// What is asked for by periods, for who does not care which.
pub(crate) fn is_period(name: &str) -> bool {
    let periods = [Unit::Day, Unit::Week, Unit::Month].map(Grouping::Period);
    periods.iter().any(|period| period.as_str() == name)
}
