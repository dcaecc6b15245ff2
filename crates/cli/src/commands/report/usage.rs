//! What was used: a table, bars, CSV, JSON or a picture.

use std::{fs, io, path::Path};

use danlu_messages::{cli::report as msg, reports as words};
use danlu_wire::api::{Document, UsageFigures, UsageGroup, UsageReport, UsageReportView};
use jiff::{Timestamp, tz::TimeZone};

use super::ReportArguments;
use crate::{
    client::{Client, query_value, read},
    failure::{Exit, Failure},
    screen::{
        self, clock,
        colour::{self, Colour},
        table::{Cell, Column, Table},
        width,
    },
};

/// Columns of a terminal from which on there is room for all.
const WIDE: usize = 96;
const BAR: usize = 10;
/// Of bars where the width is not known.
const USUAL_WIDTH: usize = 80;

pub(super) fn run(client: &Client, arguments: &ReportArguments) -> Result<(), Failure> {
    let query = query(arguments);
    match &arguments.plot {
        Some(Some(path)) => return picture(client, &query, path),
        Some(None) | None => {}
    }
    if arguments.csv {
        return screen::print(&client.get_document(&format!("/reports/usage.csv?{query}"))?);
    }
    let document = client.get_document(&format!("/reports/usage?{query}"))?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let report = read::<Document<UsageReport>>(&document)?.content.report;
    let shown = match arguments.plot {
        Some(_) => bars(&report, width::of_stdout().unwrap_or(USUAL_WIDTH)),
        None => table(&report, width::of_stdout(), colour::wanted(&io::stdout())),
    };
    screen::print(&(range(&report) + &shown))?;
    if !report.complete {
        screen::note(words::not_complete_yet());
    }
    if report.own {
        screen::note(words::own_only());
    }
    Ok(())
}

/// Days are those of the person who asks.
fn query(arguments: &ReportArguments) -> String {
    let zone = arguments.tz.clone().unwrap_or_else(own_zone);
    let given = [
        ("by", arguments.by.as_ref()),
        ("since", arguments.since.as_ref()),
        ("until", arguments.until.as_ref()),
        ("user", arguments.user.as_ref()),
        ("project", arguments.project.as_ref()),
        ("node", arguments.node.as_ref()),
        ("model", arguments.model.as_ref()),
        ("tz", Some(&zone)),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given
        .map(|(name, value)| format!("{name}={}", query_value(value)))
        .collect::<Vec<_>>()
        .join("&")
}

fn own_zone() -> String {
    let zone = TimeZone::system();
    let offset = || Timestamp::now().to_zoned(zone.clone()).strftime("%:z").to_string();
    // A name that the server may not know is of no use; its rules are needed for days in other seasons.
    zone.iana_name().map_or_else(offset, str::to_owned)
}

fn picture(client: &Client, query: &str, path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("svg")) {
        return Err(Failure::new(Exit::Usage, msg::not_svg(&shown)).hint(msg::end_in_svg()));
    }
    let svg = client.get_document(&format!("/reports/usage.svg?{query}"))?;
    let failed =
        |cause: io::Error| Failure::new(Exit::Refused, msg::could_not_write(&shown, &cause));
    fs::write(path, svg).map_err(failed)?;
    screen::print(&msg::wrote(&shown))
}

fn range(report: &UsageReportView) -> String {
    let local = |time: &str| {
        let Some(time) = clock::read(time) else { return time.to_owned() };
        time.to_zoned(zone_of(&report.time_zone)).strftime("%Y-%m-%d %H:%M").to_string()
    };
    msg::from_to(&local(&report.since), &local(&report.until), &width::plain(&report.time_zone))
}

/// By its name, or from an offset.
fn zone_of(name: &str) -> TimeZone {
    let fixed = || format!("1970-01-01T00:00:00{name}[{name}]").parse::<jiff::Zoned>().ok();
    let named = TimeZone::get(name).ok();
    let zone = named.or_else(|| Some(fixed()?.time_zone().clone()));
    zone.unwrap_or_else(TimeZone::system)
}

fn table(report: &UsageReportView, width: Option<usize>, colour: bool) -> String {
    if report.groups.is_empty() {
        return format!("{}\n", words::nothing_used());
    }
    // Shares are for eyes; files have all columns.
    let bars = width.is_some_and(|width| width >= WIDE);
    let whole = width.is_none_or(|width| width >= WIDE);
    let key = |name: &String| Column::left(heading(name)).shrinks(24, 8);
    let mut columns: Vec<Column> = report.by.iter().map(key).collect();
    columns.push(Column::right(msg::gpu_hours()));
    columns.extend(bars.then(|| Column::left(msg::share())));
    columns.extend([
        Column::right(msg::tasks()),
        Column::right(msg::failed()),
        Column::right(msg::median_wait()),
        Column::right(msg::p90_wait()),
        Column::right(msg::used()),
        Column::right(msg::idle()),
        Column::right(msg::energy()),
    ]);
    columns.extend(whole.then(|| Column::right(msg::cpu_hours())));
    let mut table = Table::new(columns);
    let most = report.groups.iter().map(|group| group.figures.gpu_hours).fold(0.0, f64::max);
    let mut line = |names: Vec<Cell>, figures: &UsageFigures, share: Cell| {
        let mut cells = names;
        cells.push(fixed(figures.gpu_hours).into());
        cells.extend(bars.then_some(share));
        cells.extend(rest(figures));
        cells.extend(whole.then(|| fixed(figures.cpu_hours).into()));
        table.row(cells);
    };
    for group in &report.groups {
        let names = names(report, group).into_iter().map(Cell::from).collect();
        let share = bar(group.figures.gpu_hours, most, BAR);
        line(names, &group.figures, Cell::coloured(share, Some(Colour::Green)));
    }
    if report.groups.len() > 1 {
        let rest = std::iter::repeat_n(Cell::default(), report.by.len().saturating_sub(1));
        let names = std::iter::once(Cell::from(msg::total())).chain(rest).collect();
        line(names, &report.total, Cell::default());
    }
    table.render(width, colour) + &failures(&report.total)
}

fn rest(figures: &UsageFigures) -> Vec<Cell> {
    let wait = |of: fn(&danlu_wire::api::WaitFigures) -> f64| {
        figures.wait.as_ref().map_or_else(nothing, |wait| words::length(of(wait)))
    };
    let failed = figures.failed + figures.timed_out;
    let measured = figures.measured_gpu_hours > 0.0;
    let of_measured = |text: String| if measured { text } else { nothing() };
    vec![
        figures.tasks.to_string().into(),
        Cell::coloured(failed.to_string(), (failed > 0).then_some(Colour::Red)),
        wait(|wait| wait.median_seconds).into(),
        wait(|wait| wait.p90_seconds).into(),
        figures.gpu_utilization.map_or_else(nothing, |it| format!("{it:.0} %")).into(),
        of_measured(fixed(figures.idle_gpu_hours)).into(),
        of_measured(fixed(figures.energy_kwh)).into(),
    ]
}

/// Numbers in a column have their points below each other.
fn fixed(amount: f64) -> String {
    format!("{amount:.1}")
}

fn nothing() -> String {
    "–".to_owned()
}

/// The most frequent first.
fn failures(total: &UsageFigures) -> String {
    let mut classes: Vec<(&String, &u64)> = total.failures.iter().collect();
    classes.sort_by_key(|(class, count)| (std::cmp::Reverse(**count), *class));
    if classes.is_empty() {
        return String::new();
    }
    let list: Vec<String> =
        classes.iter().map(|(class, count)| words::class_and_count(class, count)).collect();
    msg::failures(&list.join(", "))
}

fn names(report: &UsageReportView, group: &UsageGroup) -> Vec<String> {
    let name = |name: &String| words::key(name, group.key.get(name).cloned().flatten());
    report.by.iter().map(name).collect()
}

fn heading(name: &str) -> &str {
    match name {
        "user" => msg::user_heading(),
        "project" => msg::project_heading(),
        "node" => msg::node_heading(),
        "model" => msg::model_heading(),
        "day" => msg::day_heading(),
        "week" => msg::week_heading(),
        "month" => msg::month_heading(),
        other => other,
    }
}

/// A line with a bar for each group.
fn bars(report: &UsageReportView, width: usize) -> String {
    if report.groups.is_empty() {
        return format!("{}\n", words::nothing_used());
    }
    let labels: Vec<String> = report
        .groups
        .iter()
        .map(|group| width::cut(&width::plain(&names(report, group).join("  ")), width / 3))
        .collect();
    let numbers: Vec<String> =
        report.groups.iter().map(|group| fixed(group.figures.gpu_hours)).collect();
    let widest = |all: &[String]| all.iter().map(|text| width::of(text)).max().unwrap_or(0);
    let (label, number) = (widest(&labels), widest(&numbers));
    let room = width.saturating_sub(label + number + 4).max(BAR);
    let most = report.groups.iter().map(|group| group.figures.gpu_hours).fold(0.0, f64::max);
    let lines = report.groups.iter().zip(labels.iter().zip(&numbers));
    let line = |(group, (text, hours)): (&UsageGroup, (&String, &String))| {
        let space = " ".repeat(label - width::of(text));
        let bar = bar(group.figures.gpu_hours, most, room);
        format!("{text}{space}  {hours:>number$}  {bar}").trim_end().to_owned() + "\n"
    };
    let lines: String = lines.map(line).collect();
    format!("{}\n{lines}", words::gpu_hours())
}

/// In eighths of a character; what is more than nothing is seen.
fn bar(amount: f64, most: f64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if amount <= 0.0 || most <= 0.0 {
        return String::new();
    }
    let eighths = ((amount / most * room as f64 * 8.0).round() as usize).clamp(1, room * 8);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> UsageReportView {
        let group = |user: &str, gpu_hours: f64| UsageGroup {
            key: [("user".to_owned(), Some(user.to_owned()))].into(),
            figures: UsageFigures { gpu_hours, tasks: 3, failed: 1, ..UsageFigures::default() },
        };
        let failures = [("cuda_oom".to_owned(), 1), ("timeout".to_owned(), 2)].into();
        UsageReportView {
            since: "2026-11-01T00:00:00Z".to_owned(),
            until: "2026-11-02T00:00:00Z".to_owned(),
            time_zone: "UTC".to_owned(),
            by: vec!["user".to_owned()],
            periods: Vec::new(),
            own: false,
            complete: true,
            total: UsageFigures { gpu_hours: 12.0, tasks: 6, failures, ..UsageFigures::default() },
            groups: vec![group("alice", 10.0), group("bob", 2.0)],
        }
    }

    #[test]
    fn bars_are_as_long_as_the_numbers() {
        assert_eq!(bar(10.0, 10.0, 4), "████");
        assert_eq!(bar(5.0, 10.0, 5), "██▌");
        assert_eq!(bar(0.001, 10.0, 5), "▏");
        assert_eq!(bar(0.0, 10.0, 5), "");
        assert_eq!(bar(0.0, 0.0, 5), "");
        let text = bars(&report(), 30);
        assert!(text.contains("alice  10.0  █████████████████\n"), "{text}");
        assert!(text.lines().all(|line| width::of(line) <= 30), "{text}");
    }

    #[test]
    fn a_table_fits_a_terminal_of_80_columns() {
        for (wide, bars) in [(80, false), (120, true)] {
            let text = table(&report(), Some(wide), false);
            assert!(text.lines().all(|line| width::of(line) <= wide), "{text}");
            assert_eq!(text.contains('█'), bars, "{text}");
        }
        let text = table(&report(), None, false);
        assert!(text.ends_with("Failed attempts: timeout 2, cuda_oom 1\n"), "{text}");
        assert!(text.contains("CPU-HOURS"), "{text}");
    }
}
