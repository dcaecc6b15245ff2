//! A report as CSV (RFC 4180), with names of columns that do not change.

use danlu_core::FailureClass;
use danlu_wire::api::{UsageFigures, UsageReportView};

const COLUMNS: [&str; 16] = [
    "gpu_hours",
    "cpu_hours",
    "tasks",
    "running",
    "succeeded",
    "failed",
    "cancelled",
    "timed_out",
    "wait_mean_seconds",
    "wait_median_seconds",
    "wait_p90_seconds",
    "gpu_utilization_percent",
    "measured_gpu_hours",
    "idle_gpu_hours",
    "energy_kwh",
    "failed_attempts",
];

/// A line for each group; sums are left to who reads it.
pub(crate) fn csv(report: &UsageReportView) -> String {
    let classes = FailureClass::ALL.map(|class| format!("failed_{}", class.as_str()));
    let head = report.by.iter().map(String::as_str).chain(COLUMNS);
    let head: Vec<&str> = head.chain(classes.iter().map(String::as_str)).collect();
    let mut text = head.join(",") + "\r\n";
    for group in &report.groups {
        let key = |name| group.key.get(name).cloned().flatten().unwrap_or_default();
        let names = report.by.iter().map(|name| cell(&key(name)));
        let cells: Vec<String> = names.chain(numbers(&group.figures)).collect();
        text += &cells.join(",");
        text += "\r\n";
    }
    text
}

fn numbers(figures: &UsageFigures) -> impl Iterator<Item = String> {
    let wait = figures.wait;
    let seconds = |of: fn(&danlu_wire::api::WaitFigures) -> f64| {
        wait.as_ref().map(|wait| format!("{:.3}", of(wait))).unwrap_or_default()
    };
    let failures: u64 = figures.failures.values().sum();
    let of_class = |class: FailureClass| figures.failures.get(class.as_str()).copied().unwrap_or(0);
    let classes = FailureClass::ALL.map(|class| of_class(class).to_string());
    let numbers: [String; 16] = [
        format!("{:.4}", figures.gpu_hours),
        format!("{:.4}", figures.cpu_hours),
        figures.tasks.to_string(),
        figures.running.to_string(),
        figures.succeeded.to_string(),
        figures.failed.to_string(),
        figures.cancelled.to_string(),
        figures.timed_out.to_string(),
        seconds(|wait| wait.mean_seconds),
        seconds(|wait| wait.median_seconds),
        seconds(|wait| wait.p90_seconds),
        figures.gpu_utilization.map(|percent| format!("{percent:.1}")).unwrap_or_default(),
        format!("{:.4}", figures.measured_gpu_hours),
        format!("{:.4}", figures.idle_gpu_hours),
        format!("{:.4}", figures.energy_kwh),
        failures.to_string(),
    ];
    numbers.into_iter().chain(classes)
}

/// Quoted where it must be. What a spreadsheet would take for a formula becomes text.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_text_whatever_is_in_them() {
        assert_eq!(cell("plain"), "plain");
        assert_eq!(cell("a,b"), "\"a,b\"");
        assert_eq!(cell("say \"hi\""), "\"say \"\"hi\"\"\"");
        assert_eq!(cell("=1+1"), "'=1+1");
        assert_eq!(cell("@x,y"), "\"'@x,y\"");
    }

    #[test]
    fn every_line_has_as_many_cells_as_the_head() {
        let group = danlu_wire::api::UsageGroup {
            key: [("user".to_owned(), None)].into(),
            figures: UsageFigures::default(),
        };
        let report = UsageReportView {
            since: String::new(),
            until: String::new(),
            time_zone: String::new(),
            by: vec!["user".to_owned()],
            periods: Vec::new(),
            own: false,
            complete: true,
            total: UsageFigures::default(),
            groups: vec![group],
        };
        let text = csv(&report);
        let counts: Vec<usize> = text.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(counts, [17 + FailureClass::ALL.len(); 2]);
        assert!(text.ends_with("\r\n"));
    }
}
