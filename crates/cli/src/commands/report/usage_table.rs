//! The table of a report: as many columns of numbers as there is room for.

use danlu_messages::{cli::report as msg, reports as words};
use danlu_wire::api::{UsageFigures, UsageGroup, UsageReportView, WaitFigures};

use super::bars::bar;
use crate::screen::{
    colour::Colour,
    table::{Cell, Column, Table},
    width,
};

const BAR: usize = 10;
/// Between columns, as tables have it.
const GAP: usize = 2;
const LONGEST_NAME: usize = 24;

/// A column of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Number {
    GpuHours,
    Share,
    Tasks,
    Failed,
    MedianWait,
    P90Wait,
    Used,
    Idle,
    Energy,
    CpuHours,
}

impl Number {
    /// What is of most interest first: a narrow terminal has no room for the last ones.
    const RANKED: [Number; 10] = [
        Number::GpuHours,
        Number::Tasks,
        Number::Failed,
        Number::Used,
        Number::MedianWait,
        Number::Energy,
        Number::Idle,
        Number::P90Wait,
        Number::CpuHours,
        Number::Share,
    ];

    fn heading(self) -> &'static str {
        match self {
            Number::GpuHours => msg::gpu_hours(),
            Number::Share => msg::share(),
            Number::Tasks => msg::tasks(),
            Number::Failed => msg::failed(),
            Number::MedianWait => msg::median_wait(),
            Number::P90Wait => msg::p90_wait(),
            Number::Used => msg::used(),
            Number::Idle => msg::idle(),
            Number::Energy => msg::energy(),
            Number::CpuHours => msg::cpu_hours(),
        }
    }

    fn column(self) -> Column {
        match self {
            Number::Share => Column::left(self.heading()),
            Number::GpuHours
            | Number::Tasks
            | Number::Failed
            | Number::MedianWait
            | Number::P90Wait
            | Number::Used
            | Number::Idle
            | Number::Energy
            | Number::CpuHours => Column::right(self.heading()),
        }
    }

    /// In a report with this total and this largest line.
    fn cell(self, of: &UsageFigures, total: &UsageFigures, most: f64) -> Cell {
        let wait = |pick: fn(&WaitFigures) -> f64| {
            of.wait.as_ref().map_or_else(nothing, |wait| words::length(pick(wait)))
        };
        let of_measured = |text: String| match of.measured_gpu_hours > 0.0 {
            true => text,
            false => nothing(),
        };
        let failed = of.failed + of.timed_out;
        match self {
            Number::GpuHours => fixed(of.gpu_hours, total.gpu_hours).into(),
            Number::Share => Cell::coloured(bar(of.gpu_hours, most, BAR), Some(Colour::Green)),
            Number::Tasks => of.tasks.to_string().into(),
            Number::Failed => {
                Cell::coloured(failed.to_string(), (failed > 0).then_some(Colour::Red))
            }
            Number::MedianWait => wait(|wait| wait.median_seconds).into(),
            Number::P90Wait => wait(|wait| wait.p90_seconds).into(),
            Number::Used => {
                of.gpu_utilization.map_or_else(nothing, |it| format!("{it:.0} %")).into()
            }
            Number::Idle => of_measured(fixed(of.idle_gpu_hours, total.idle_gpu_hours)).into(),
            Number::Energy => of_measured(fixed(of.energy_kwh, total.energy_kwh)).into(),
            Number::CpuHours => fixed(of.cpu_hours, total.cpu_hours).into(),
        }
    }
}

/// Those that fit beside the names, in the order in which they are shown. Files have all but the bars.
fn numbers(report: &UsageReportView, most: f64, width: Option<usize>) -> Vec<Number> {
    let Some(width) = width else {
        let all = Number::RANKED.into_iter().filter(|number| *number != Number::Share);
        return in_order(all.collect());
    };
    let name = |place: usize| {
        let names = report.groups.iter().map(|group| width::of(&names(report, group)[place]));
        names.max().unwrap_or(0).clamp(width::of(heading(&report.by[place])), LONGEST_NAME)
    };
    let mut left = (0..report.by.len()).map(name).fold(width, usize::saturating_sub);
    let lines = || report.groups.iter().map(|group| &group.figures).chain([&report.total]);
    let fits = |number: &Number| {
        let cells = lines().map(|of| width::of(number.cell(of, &report.total, most).words()));
        let room = cells.max().unwrap_or(0).max(width::of(number.heading())) + GAP;
        let fits = room <= left;
        left = left.saturating_sub(room);
        fits
    };
    in_order(Number::RANKED.into_iter().take_while(fits).collect())
}

fn in_order(mut numbers: Vec<Number>) -> Vec<Number> {
    numbers.sort_unstable();
    numbers
}

pub(super) fn table(report: &UsageReportView, width: Option<usize>, colour: bool) -> String {
    if report.groups.is_empty() {
        return format!("{}\n", words::nothing_used());
    }
    let most = report.groups.iter().map(|group| group.figures.gpu_hours).fold(0.0, f64::max);
    let numbers = numbers(report, most, width);
    let keys = report.by.iter().map(|name| Column::left(heading(name)).shrinks(LONGEST_NAME, 8));
    let mut table = Table::new(keys.chain(numbers.iter().map(|it| it.column())).collect());
    let cells = |of: &UsageFigures, most: f64| {
        numbers.iter().map(|it| it.cell(of, &report.total, most)).collect::<Vec<Cell>>()
    };
    for group in &report.groups {
        let names = names(report, group).into_iter().map(Cell::from);
        table.row(names.chain(cells(&group.figures, most)).collect());
    }
    if report.groups.len() > 1 {
        let rest = std::iter::repeat_n(Cell::default(), report.by.len().saturating_sub(1));
        let names = std::iter::once(Cell::from(msg::total())).chain(rest);
        table.row(names.chain(cells(&report.total, 0.0)).collect());
    }
    table.render(width, colour) + &failures(&report.total)
}

/// Numbers in a column have their points below each other, and as many digits as the sum is worth.
pub(super) fn fixed(amount: f64, total: f64) -> String {
    match total {
        ..1.0 => format!("{amount:.3}"),
        1.0..10.0 => format!("{amount:.2}"),
        _ => format!("{amount:.1}"),
    }
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

pub(super) fn names(report: &UsageReportView, group: &UsageGroup) -> Vec<String> {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn report() -> UsageReportView {
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
    fn a_table_fits_a_terminal_of_80_columns() {
        for (wide, bars, energy) in [(50, false, false), (80, false, true), (120, true, true)] {
            let text = table(&report(), Some(wide), false);
            assert!(text.lines().all(|line| width::of(line) <= wide), "{text}");
            assert_eq!((text.contains('█'), text.contains("KWH")), (bars, energy), "{text}");
        }
        let text = table(&report(), None, false);
        assert!(text.ends_with("Failed attempts: timeout 2, cuda_oom 1\n"), "{text}");
        assert!(text.contains("CPU-HOURS"), "{text}");
    }
}
