//! The GPU-hours of a report as a picture: stacked columns over time, or a bar for each group. Self-contained SVG.

use danlu_messages::reports as words;
use danlu_messages::reports::number as amount;
use danlu_wire::api::{UsageGroup, UsageReportView};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Seen well on light and on dark ground; the last one is for the rest.
const COLOURS: [&str; 9] = [
    "#3b6fd8", "#e0702f", "#2f9e6e", "#b24fc2", "#c9a227", "#d2445a", "#2aa5b8", "#8a7a68",
    "#9aa3af",
];
const REST: usize = COLOURS.len() - 1;
const MOST_BARS: usize = 20;
const TEXT: &str = "#6b7686";
const GRID: &str = "#9aa3af";
const WIDE: u32 = 920;
const HEIGHT: f64 = 300.0;
const LEGEND_LINE: f64 = 20.0;
/// Of a letter of the usual size, on average; wide ones count double.
const LETTER: f64 = 7.0;

/// As a file of its own.
pub(crate) fn picture(report: &UsageReportView) -> String {
    drawing(report, WIDE)
}

/// So many pixels wide.
pub(crate) fn drawing(report: &UsageReportView, width: u32) -> String {
    match Columns::of(report) {
        Some(columns) => columns.draw(f64::from(width)),
        None => bars(report, f64::from(width)),
    }
}

/// Hours of each series in each period.
#[derive(Debug, PartialEq)]
struct Columns {
    periods: Vec<String>,
    /// Names, the largest first; the last one may be the rest.
    series: Vec<(String, usize)>,
    hours: Vec<Vec<f64>>,
}

impl Columns {
    /// `None` of a report that is not by time.
    fn of(report: &UsageReportView) -> Option<Columns> {
        let unit = report.by.iter().find(|name| crate::api::usage_report::is_period(name))?;
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for group in &report.groups {
            *sums.entry(name_of(group, report, Some(unit))).or_default() += group.figures.gpu_hours;
        }
        let mut names: Vec<(String, f64)> = sums.into_iter().collect();
        names.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        names.retain(|(_, hours)| *hours > 0.0);
        let rest = names.len() > REST;
        let mut series: Vec<(String, usize)> =
            names.iter().take(REST).enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        if rest {
            series.push((words::others().to_owned(), REST));
        }
        let place: BTreeMap<&str, usize> =
            report.periods.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let mut hours = vec![vec![0.0; series.len()]; report.periods.len()];
        for group in &report.groups {
            let name = name_of(group, report, Some(unit));
            let at = group.key.get(unit).cloned().flatten();
            let column = at.and_then(|at| place.get(at.as_str()).copied());
            let of = series.iter().position(|(it, _)| *it == name).or(rest.then_some(REST));
            if let (Some(column), Some(of)) = (column, of) {
                hours[column][of] += group.figures.gpu_hours;
            }
        }
        Some(Columns { periods: report.periods.clone(), series, hours })
    }

    fn draw(&self, width: f64) -> String {
        let sums = self.hours.iter().map(|column| column.iter().sum::<f64>());
        let (top, step) = scale(sums.fold(0.0, f64::max));
        let (left, right, above, below) = (52.0, 8.0, 26.0, 26.0);
        let (inner, tall) = (width - left - right, HEIGHT - above - below);
        let y = |hours: f64| above + tall - hours / top * tall;
        let mut body = text(4.0, 14.0, "start", words::gpu_hours());
        let mut tick = 0.0;
        while tick <= top * 1.001 {
            let at = y(tick);
            let _ = write!(
                body,
                r#"<line x1="{left}" x2="{:.1}" y1="{at:.1}" y2="{at:.1}" stroke="{GRID}" stroke-opacity=".3"/>"#,
                width - right
            );
            body += &text(left - 6.0, at + 4.0, "end", &amount(tick));
            tick += step;
        }
        let pitch = inner / self.periods.len().max(1) as f64;
        let bar = (pitch * 0.8).clamp(1.0, 48.0);
        // As many dates as there is room for.
        let longest = self.periods.iter().map(String::len).max().unwrap_or(0) as f64;
        let every = ((longest * LETTER + 12.0) / pitch).ceil().max(1.0) as usize;
        for (place, column) in self.hours.iter().enumerate() {
            let middle = left + pitch * (place as f64 + 0.5);
            let mut from = 0.0;
            for ((name, colour), hours) in self.series.iter().zip(column).filter(|it| *it.1 > 0.0) {
                let (upper, lower) = (y(from + hours), y(from));
                let said = said(&[&self.periods[place], name], *hours);
                let _ = write!(
                    body,
                    r#"<rect x="{:.1}" y="{upper:.1}" width="{bar:.1}" height="{:.1}" fill="{}"><title>{said}</title></rect>"#,
                    middle - bar / 2.0,
                    (lower - upper).max(0.0),
                    COLOURS[*colour],
                );
                from += hours;
            }
            if place % every == 0 {
                // Within the picture, also at its end.
                let half = wide(&self.periods[place]) / 2.0;
                let at = middle.clamp(half, (width - half).max(half));
                body += &text(at, HEIGHT - 8.0, "middle", &self.periods[place]);
            }
        }
        let (legend, tall) = self.legend(width);
        whole(width, HEIGHT + tall, &(body + &legend))
    }

    fn legend(&self, width: f64) -> (String, f64) {
        let named: Vec<&(String, usize)> =
            self.series.iter().filter(|(name, _)| !name.is_empty()).collect();
        if named.is_empty() {
            return (String::new(), 0.0);
        }
        let (mut body, mut x, mut line) = (String::new(), 8.0, 1.0);
        for (name, colour) in named {
            let name = short(name, 28);
            let room = 26.0 + wide(&name);
            if x + room > width && x > 8.0 {
                (x, line) = (8.0, line + 1.0);
            }
            let y = HEIGHT + LEGEND_LINE * line - 6.0;
            let _ = write!(
                body,
                r#"<rect x="{x:.1}" y="{:.1}" width="10" height="10" rx="2" fill="{}"/>"#,
                y - 9.0,
                COLOURS[*colour],
            );
            body += &text(x + 15.0, y, "start", &name);
            x += room;
        }
        (body, LEGEND_LINE * line + 4.0)
    }
}

/// The largest groups, each as a bar with its number.
fn bars(report: &UsageReportView, width: f64) -> String {
    let mut groups: Vec<(String, f64)> = report
        .groups
        .iter()
        .map(|group| (name_of(group, report, None), group.figures.gpu_hours))
        .collect();
    groups.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let rest: f64 = groups.iter().skip(MOST_BARS).map(|(_, hours)| hours).sum();
    let more = groups.len() > MOST_BARS;
    groups.truncate(MOST_BARS);
    if more {
        groups.push((words::others().to_owned(), rest));
    }
    let most = groups.iter().map(|(_, hours)| *hours).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let names = groups.iter().map(|(name, _)| wide(&short(name, 28)));
    let left = names.fold(40.0, f64::max).min(width * 0.4) + 14.0;
    let inner = width - left - 76.0;
    let mut body = text(4.0, 14.0, "start", words::gpu_hours());
    for (place, (name, hours)) in groups.iter().enumerate() {
        let y = 28.0 + 24.0 * place as f64;
        let long = (hours / most * inner).max(if *hours > 0.0 { 1.0 } else { 0.0 });
        body += &text(left - 8.0, y + 13.0, "end", &short(name, 28));
        let _ = write!(
            body,
            r#"<rect x="{left:.1}" y="{y:.1}" width="{long:.1}" height="17" rx="2" fill="{}"><title>{}</title></rect>"#,
            COLOURS[0],
            said(&[name], *hours),
        );
        body += &text(left + long + 6.0, y + 13.0, "start", &amount(*hours));
    }
    whole(width, 36.0 + 24.0 * groups.len().max(1) as f64, &body)
}

/// What it is called beside the period.
fn name_of(group: &UsageGroup, report: &UsageReportView, period: Option<&str>) -> String {
    let parts = report.by.iter().filter(|name| Some(name.as_str()) != period);
    let parts = parts.map(|name| words::key(name, group.key.get(name).cloned().flatten()));
    parts.collect::<Vec<String>>().join(", ")
}

fn whole(width: f64, height: f64, body: &str) -> String {
    format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{}" font-family="system-ui, sans-serif" font-size="12">{body}</svg>"#,
        escaped(words::gpu_hours()),
    )
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    format!(
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="{TEXT}">{}</text>"#,
        escaped(words)
    )
}

fn said(of: &[&str], hours: f64) -> String {
    let of: Vec<&str> = of.iter().copied().filter(|name| !name.is_empty()).collect();
    escaped(&words::hours_of(&of.join(", "), &amount(hours)))
}

fn escaped(text: &str) -> String {
    let clean = text.chars().filter(|it| !it.is_control());
    clean.fold(String::new(), |mut done, it| {
        match it {
            '&' => done += "&amp;",
            '<' => done += "&lt;",
            '>' => done += "&gt;",
            '"' => done += "&quot;",
            '\'' => done += "&#39;",
            other => done.push(other),
        }
        done
    })
}

fn short(name: &str, most: usize) -> String {
    match name.chars().count() > most {
        true => name.chars().take(most - 1).chain(['…']).collect(),
        false => name.to_owned(),
    }
}

fn wide(text: &str) -> f64 {
    text.chars().map(|it| if it.is_ascii() { LETTER } else { LETTER * 1.8 }).sum()
}

/// Where the axis ends and how far its lines are apart, in round numbers.
fn scale(most: f64) -> (f64, f64) {
    let most = if most > 0.0 { most } else { 1.0 };
    let rough = most / 4.0;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0].into_iter().find(|it| it * power >= rough);
    let step = factor.unwrap_or(10.0) * power;
    ((most / step).ceil() * step, step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_wire::api::UsageFigures;

    fn group(user: &str, day: &str, gpu_hours: f64) -> UsageGroup {
        let key = [("user", user), ("day", day)].map(|(it, of)| (it.to_owned(), Some(of.into())));
        let figures = UsageFigures { gpu_hours, ..UsageFigures::default() };
        UsageGroup { key: key.into(), figures }
    }

    fn report(groups: Vec<UsageGroup>) -> UsageReportView {
        UsageReportView {
            since: String::new(),
            until: String::new(),
            time_zone: String::new(),
            by: vec!["user".to_owned(), "day".to_owned()],
            periods: vec!["2026-11-17".to_owned(), "2026-11-18".to_owned()],
            own: false,
            complete: true,
            total: UsageFigures::default(),
            groups,
        }
    }

    #[test]
    fn days_without_use_are_columns_and_the_smallest_users_are_the_rest() {
        let users: Vec<UsageGroup> =
            (1..=10).map(|at| group(&format!("u{at}"), "2026-11-18", f64::from(at))).collect();
        let columns = Columns::of(&report(users)).unwrap();
        assert_eq!(columns.hours[0].iter().sum::<f64>(), 0.0);
        assert_eq!(columns.series[0].0, "u10");
        assert_eq!(columns.series.len(), 9);
        assert_eq!(columns.hours[1][REST], 3.0, "u1 and u2");
        assert_eq!(columns.hours[1].iter().sum::<f64>(), 55.0);
    }

    #[test]
    fn names_are_text() {
        let svg = picture(&report(vec![group("<script>'&\"", "2026-11-18", 2.0)]));
        assert!(svg.contains("&lt;script&gt;&#39;&amp;&quot;"), "{svg}");
        assert!(!svg.contains("<script"));
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
    }

    #[test]
    fn the_axis_has_round_numbers() {
        assert_eq!(scale(7.3), (8.0, 2.0));
        assert_eq!(scale(100.0), (100.0, 50.0));
        assert_eq!(scale(0.0).0, 1.0);
        assert_eq!(
            [0.0, 0.02, 0.5, 12.34, 1234.5].map(amount),
            ["0", "0.020", "0.50", "12.3", "1234"]
        );
    }
}
