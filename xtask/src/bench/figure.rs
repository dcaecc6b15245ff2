//! One thing that was measured: several rounds, what they were to be, and how that is shown.

use std::fmt::Write as _;

use serde_json::{Value, json};

#[derive(Debug)]
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) what: String,
    pub(super) unit: Unit,
    pub(super) target: Target,
    /// One value each round.
    pub(super) rounds: Vec<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    AtMost(f64),
    AtLeast(f64),
    /// To be known, not to be judged.
    None,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    Milliseconds,
    PerSecond,
    Megabytes,
    Times,
    Percent,
    Seconds,
    Count,
}

impl Figure {
    pub(super) fn median(&self) -> f64 {
        median(&self.rounds)
    }

    /// Whether the median is what it was to be.
    pub(super) fn good(&self) -> Option<bool> {
        match self.target {
            Target::AtMost(most) => Some(self.median() <= most),
            Target::AtLeast(least) => Some(self.median() >= least),
            Target::None => None,
        }
    }

    fn spread(&self) -> (f64, f64) {
        let least = self.rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least, most)
    }

    fn json(&self) -> Value {
        let (least, most) = self.spread();
        let target = match self.target {
            Target::AtMost(most) => json!({ "at_most": most }),
            Target::AtLeast(least) => json!({ "at_least": least }),
            Target::None => Value::Null,
        };
        json!({
            "name": self.name, "unit": self.unit.word(), "median": self.median(), "min": least, "max": most,
            "rounds": self.rounds, "target": target, "good": self.good(),
        })
    }
}

impl Unit {
    fn word(self) -> &'static str {
        match self {
            Unit::Milliseconds => "ms",
            Unit::PerSecond => "/s",
            Unit::Megabytes => "MB",
            Unit::Times => "×",
            Unit::Percent => "%",
            Unit::Seconds => "s",
            Unit::Count => "",
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Unit::Times | Unit::PerSecond | Unit::Count => format!("{value:.0}"),
            Unit::Megabytes => format!("{value:.1}"),
            Unit::Milliseconds | Unit::Percent | Unit::Seconds => format!("{value:.2}"),
        }
    }
}

/// Of an even number of values, the mean of the two in the middle; of none, nothing that could pass for a figure.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

pub(super) fn table(figures: &[Figure]) -> String {
    let widest = figures.iter().map(|figure| figure.what.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    let (median, spread, target) = ("median", "min–max", "target");
    let _ = writeln!(out, "{:widest$}  {median:>10}  {spread:>17}  {target:>10}", "");
    for figure in figures {
        let unit = figure.unit;
        let (least, most) = figure.spread();
        let spread = format!("{}–{}", unit.show(least), unit.show(most));
        let target = match figure.target {
            Target::AtMost(most) => format!("≤ {}", short(most)),
            Target::AtLeast(least) => format!("≥ {}", short(least)),
            Target::None => String::new(),
        };
        let verdict = match figure.good() {
            Some(true) => "✓",
            Some(false) => "✗",
            None => "",
        };
        let median = format!("{} {}", unit.show(figure.median()), unit.word());
        let what = &figure.what;
        let line = format!("{what:widest$}  {median:>10}  {spread:>17}  {target:>10}  {verdict}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

fn short(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value}") }
}

pub(super) fn document(bench: &str, figures: &[Figure], peers: &Value) -> Value {
    let figures: Vec<Value> = figures.iter().map(Figure::json).collect();
    json!({ "v": 1, "bench": bench, "figures": figures, "others": peers })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(target: Target, rounds: &[f64]) -> Figure {
        let what = "submit".to_owned();
        Figure { name: "submit", what, unit: Unit::Milliseconds, target, rounds: rounds.to_vec() }
    }

    #[test]
    fn the_median_is_the_middle_and_of_nothing_no_number() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_figure_is_judged_by_its_median() {
        assert_eq!(figure(Target::AtMost(2.0), &[1.0, 2.0, 9.0]).good(), Some(true));
        assert_eq!(figure(Target::AtLeast(2.5), &[1.0, 2.0, 9.0]).good(), Some(false));
        assert_eq!(figure(Target::None, &[1.0]).good(), None);
        // What was not measured has not reached its target.
        assert_eq!(figure(Target::AtMost(2.0), &[]).good(), Some(false));
    }

    #[test]
    fn the_table_lines_up() {
        let figures = [figure(Target::AtMost(4.0), &[2.0, 2.5, 3.0])];
        let shown = table(&figures);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[1].ends_with("2.50 ms          2.00–3.00         ≤ 4  ✓"), "{shown}");
    }
}
