//! The comparison of policies: a table with a column for each, no wider than a terminal.

use danlu_messages::amounts::two_units;
use danlu_messages::sim as msg;
use danlu_sim::trace::Metrics;

use crate::screen::{
    table::{Column, Table},
    width,
};

/// One column: what it is called, and what was measured.
#[derive(Debug, Clone)]
pub(super) struct PolicyColumn<'a> {
    pub(super) heading: String,
    pub(super) metrics: &'a Metrics,
    pub(super) jobs_per_second: Option<f64>,
}

/// Columns that do not fit side by side follow below.
pub(super) fn comparison(columns: &[PolicyColumn<'_>], most: usize) -> String {
    let mut tables = Vec::new();
    let mut rest = columns;
    while !rest.is_empty() {
        let fits = |count: &usize| widest(&side_by_side(&rest[..*count])) <= most;
        let count = (2..=rest.len()).take_while(fits).last().unwrap_or(1);
        tables.push(side_by_side(&rest[..count]));
        rest = &rest[count..];
    }
    tables.join("\n")
}

fn side_by_side(columns: &[PolicyColumn<'_>]) -> String {
    let labels = labels();
    let label_width = labels.iter().map(|label| width::of(label)).max().unwrap_or(0);
    let cells: Vec<Vec<String>> = columns.iter().map(cells).collect();
    let headings = columns.iter().map(|column| Column::right(&column.heading));
    let label_column = Column::left(&" ".repeat(label_width));
    let mut table = Table::new([label_column].into_iter().chain(headings).collect());
    for (row, label) in labels.iter().enumerate() {
        if cells.iter().any(|column| !column[row].is_empty()) {
            let label = padded_right(label, label_width).into();
            let values = cells.iter().map(|column| column[row].as_str().into());
            table.row([label].into_iter().chain(values).collect());
        }
    }
    table.render(None, false)
}

fn widest(text: &str) -> usize {
    text.lines().map(width::of).max().unwrap_or(0)
}

fn labels() -> Vec<String> {
    let groups = [msg::completion(), msg::queueing()];
    let name_width = groups.iter().map(|name| width::of(name)).max().unwrap_or(0);
    let group = |name: &str| {
        [(name, msg::mean()), ("", "p50"), ("", "p90"), ("", "p99")]
            .map(|(name, measure)| padded_right(name, name_width) + " " + measure)
            .to_vec()
    };
    let single = |name: &str| vec![name.to_owned()];
    [
        single(msg::jobs()),
        group(msg::completion()),
        group(msg::queueing()),
        single(msg::makespan()),
        single(msg::utilization()),
        single(msg::slowdown()),
        single(msg::fairness()),
        single(msg::preemptions()),
        single(msg::speed()),
    ]
    .concat()
}

fn cells(column: &PolicyColumn<'_>) -> Vec<String> {
    let metrics = column.metrics;
    vec![
        grouped(metrics.jobs as u64),
        time(metrics.mean_jct),
        time(metrics.p50_jct as f64),
        time(metrics.p90_jct as f64),
        time(metrics.p99_jct as f64),
        time(metrics.mean_queue),
        time(metrics.p50_queue as f64),
        time(metrics.p90_queue as f64),
        time(metrics.p99_queue as f64),
        time(metrics.makespan as f64),
        format!("{:.1} %", metrics.utilization * 100.0),
        format!("{:.2}", metrics.mean_bounded_slowdown),
        format!("{:.3}", metrics.jain),
        grouped(metrics.preemptions),
        column.jobs_per_second.map(|speed| grouped(speed as u64)).unwrap_or_default(),
    ]
}

fn time(seconds: f64) -> String {
    two_units(seconds.round() as u64)
}

/// `22454` is `22,454`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn padded_right(text: &str, most: usize) -> String {
    text.to_owned() + &" ".repeat(most.saturating_sub(width::of(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::Language;

    const METRICS: Metrics = Metrics {
        jobs: 22_454,
        mean_jct: 106_959.2,
        p50_jct: 59_882,
        p90_jct: 312_450,
        p99_jct: 497_623,
        mean_queue: 90_946.0,
        p50_queue: 59,
        p90_queue: 60,
        p99_queue: 467_085,
        makespan: 5_363_197,
        utilization: 0.5936,
        mean_bounded_slowdown: 28.295,
        jain: 1.0,
        preemptions: 0,
    };

    fn columns(count: usize) -> Vec<PolicyColumn<'static>> {
        let column = |place| PolicyColumn {
            heading: format!("policy{place}"),
            metrics: &METRICS,
            jobs_per_second: None,
        };
        (0..count).map(column).collect()
    }

    #[test]
    fn times_are_said_in_two_units() {
        let check = |seconds, expect: &str| assert_eq!(time(seconds), expect);
        check(0.0, "0s");
        check(59.4, "59s");
        check(59.6, "1m00s");
        check(3_599.0, "59m59s");
        check(106_959.2, "1d05h");
        check(5_363_197.0, "62d01h");
    }

    #[test]
    fn a_table_is_never_wider_than_the_terminal() {
        for language in [Language::English, Language::Chinese] {
            for count in 1..9 {
                let table = language.within(|| comparison(&columns(count), 60));
                assert_eq!(table.matches("22,454").count(), count, "{table}");
                let widest = widest(&table);
                assert!(widest <= 60, "{widest}:\n{table}");
            }
        }
    }

    #[test]
    fn columns_are_aligned_in_both_languages() {
        for language in [Language::English, Language::Chinese] {
            let table = language.within(|| comparison(&columns(3), 80));
            let widths: Vec<usize> = table.lines().map(width::of).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        }
    }
}
