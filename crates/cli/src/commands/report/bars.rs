//! Bars for the terminal.

use danlu_messages::reports as words;
use danlu_wire::api::{UsageGroup, UsageReportView};

use super::usage_table::{fixed, names};
use crate::screen::width;

/// However narrow the terminal is.
const SHORTEST: usize = 10;

/// A line with a bar for each group.
pub(super) fn bars(report: &UsageReportView, width: usize) -> String {
    if report.groups.is_empty() {
        return format!("{}\n", words::nothing_used());
    }
    let labels: Vec<String> = report
        .groups
        .iter()
        .map(|group| width::cut(&width::plain(&names(report, group).join("  ")), width / 3))
        .collect();
    let numbers: Vec<String> = report
        .groups
        .iter()
        .map(|group| fixed(group.figures.gpu_hours, report.total.gpu_hours))
        .collect();
    let widest = |all: &[String]| all.iter().map(|text| width::of(text)).max().unwrap_or(0);
    let (label, number) = (widest(&labels), widest(&numbers));
    let room = width.saturating_sub(label + number + 4).max(SHORTEST);
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
pub(super) fn bar(amount: f64, most: f64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if amount <= 0.0 || most <= 0.0 {
        return String::new();
    }
    let eighths = ((amount / most * room as f64 * 8.0).round() as usize).clamp(1, room * 8);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::super::usage_table::tests::report;
    use super::*;

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
}
