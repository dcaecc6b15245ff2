//! Evaluations for people: a table with a column for each policy, no wider than a terminal.

use super::metrics::Metrics;
use danlu_messages::amounts::two_units;
use danlu_messages::sim as msg;
use std::fmt::Write as _;

/// One column: what it is called, and what was measured.
#[derive(Debug, Clone)]
pub struct Column<'a> {
    pub heading: String,
    pub metrics: &'a Metrics,
    pub jobs_per_second: Option<f64>,
}

/// Columns that do not fit side by side follow below.
pub fn table(columns: &[Column<'_>], width: usize) -> String {
    let cells: Vec<Vec<String>> = columns.iter().map(cells).collect();
    let widths: Vec<usize> = cells
        .iter()
        .map(|column| GAP + column.iter().map(|cell| shown_width(cell)).max().unwrap_or(0))
        .collect();
    let labels = labels();
    let label_width = labels.iter().map(|label| shown_width(label)).max().unwrap_or(0);
    let mut out = String::new();
    let mut first = 0;
    while first < cells.len() {
        let last = last_that_fits(&widths, first, width.saturating_sub(label_width));
        for (row, label) in labels.iter().enumerate() {
            let filled = (first..last).any(|column| !cells[column][row].is_empty());
            if filled {
                out.push_str(&padded_right(label, label_width));
                for column in first..last {
                    out.push_str(&padded_left(&cells[column][row], widths[column]));
                }
                out.push('\n');
            }
        }
        first = last;
        if first < cells.len() {
            out.push('\n');
        }
    }
    out
}

const GAP: usize = 2;

fn last_that_fits(widths: &[usize], first: usize, room: usize) -> usize {
    let mut used = widths[first];
    let mut last = first + 1;
    while last < widths.len() && used + widths[last] <= room {
        used += widths[last];
        last += 1;
    }
    last
}

fn labels() -> Vec<String> {
    let groups = [msg::completion(), msg::queueing()];
    let name_width = groups.iter().map(|name| shown_width(name)).max().unwrap_or(0);
    let group = |name: &str| {
        [(name, msg::mean()), ("", "p50"), ("", "p90"), ("", "p99")]
            .map(|(name, measure)| padded_right(name, name_width) + " " + measure)
            .to_vec()
    };
    let single = |name: &str| vec![name.to_owned()];
    [
        single(""),
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

fn cells(column: &Column<'_>) -> Vec<String> {
    let metrics = column.metrics;
    vec![
        column.heading.clone(),
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
        let _ = write!(out, "{digit}");
    }
    out
}

fn padded_left(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(shown_width(text))) + text
}

fn padded_right(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(shown_width(text)))
}

/// Chinese characters are two columns wide on a terminal.
fn shown_width(text: &str) -> usize {
    text.chars().map(|letter| if letter >= '\u{2e80}' { 2 } else { 1 }).sum()
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

    fn columns(count: usize) -> Vec<Column<'static>> {
        let column = |place| Column {
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
                let table = language.within(|| table(&columns(count), 60));
                assert_eq!(table.matches("22,454").count(), count, "{table}");
                let widest = table.lines().map(shown_width).max().unwrap();
                assert!(widest <= 60, "{widest}:\n{table}");
            }
        }
    }

    #[test]
    fn columns_are_aligned_in_both_languages() {
        for language in [Language::English, Language::Chinese] {
            let table = language.within(|| table(&columns(3), 80));
            let widths: Vec<usize> = table.lines().map(shown_width).collect();
            assert!(widths.iter().all(|width| *width == widths[0]), "{table}");
        }
    }
}
