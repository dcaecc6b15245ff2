//! Evaluations as a picture: plain SVG, mean completion times, the queueing time of the unlucky, and the distribution of
//! queueing times.

use super::evaluate::Evaluation;
use super::metrics::Measured;
use super::read::Trace;
use std::fmt::Write;

/// One panel's frame; the three stand side by side.
const WIDTH: f64 = 300.0;
const HEIGHT: f64 = 260.0;
const LEFT: f64 = 130.0;
const TOP: f64 = 40.0;
const GAP: f64 = 70.0;
/// From a minute to a month, in powers of ten of seconds.
const SHORTEST: f64 = 60.0;
const LONGEST: f64 = 30.0 * 86_400.0;
const MARKS: [(f64, &str); 5] =
    [(60.0, "1 min"), (600.0, "10 min"), (3_600.0, "1 h"), (86_400.0, "1 d"), (864_000.0, "10 d")];
const STEPS: usize = 160;
const COLOURS: [&str; 10] = [
    "#777777", "#1f77b4", "#17a2b8", "#9467bd", "#d62728", "#2ca02c", "#ff7f0e", "#8c564b",
    "#e377c2", "#bcbd22",
];

/// What stands below the panels.
#[derive(Debug, Clone, Copy)]
pub struct Labels {
    /// In hours.
    pub completion: &'static str,
    /// In hours.
    pub unlucky: &'static str,
    pub waited: &'static str,
}

/// `title` is shown above; what it says must fit on one line.
pub fn svg(title: &str, labels: &Labels, trace: &Trace, evaluations: &[Evaluation]) -> String {
    let (width, height) = (LEFT + 3.0 * WIDTH + 2.0 * GAP + 20.0, TOP + HEIGHT + 50.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    text(&mut out, (LEFT, 20.0), "start", &escaped(title));
    for (place, evaluation) in evaluations.iter().enumerate() {
        let middle = middle(place, evaluations.len());
        text(&mut out, (LEFT - 8.0, middle + 4.0), "end", &escaped(&evaluation.policy.to_string()));
    }
    let mean = |evaluation: &Evaluation| evaluation.all.mean_jct / 3_600.0;
    bars(&mut out, LEFT, labels.completion, evaluations, mean);
    let unlucky = |evaluation: &Evaluation| evaluation.all.p99_queue as f64 / 3_600.0;
    bars(&mut out, LEFT + WIDTH + GAP / 2.0, labels.unlucky, evaluations, unlucky);
    let origin = LEFT + 2.0 * WIDTH + 1.5 * GAP;
    frame(&mut out, origin, labels.waited);
    for (place, evaluation) in evaluations.iter().enumerate() {
        let waits = waits(trace, evaluation);
        // Known when the program is made, so that it needs no library for powers.
        let longer = (LONGEST / SHORTEST).powf(1.0 / STEPS as f64);
        let mut seconds = SHORTEST;
        let points = (0..=STEPS).map(|step| {
            let part = step as f64 / STEPS as f64;
            if step > 0 {
                seconds *= longer;
            }
            let share = waits.partition_point(|wait| (*wait as f64) <= seconds) as f64
                / waits.len().max(1) as f64;
            format!("{:.1},{:.1}", origin + part * WIDTH, TOP + HEIGHT * (1.0 - share))
        });
        let points = points.collect::<Vec<_>>().join(" ");
        let colour = COLOURS[place % COLOURS.len()];
        let _ = writeln!(
            out,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{points}\"/>"
        );
    }
    out + "</svg>\n"
}

/// One bar for each policy, in the colour of its line.
fn bars(
    out: &mut String,
    left: f64,
    label: &str,
    evaluations: &[Evaluation],
    hours: impl Fn(&Evaluation) -> f64,
) {
    let most = evaluations.iter().map(&hours).fold(f64::MIN_POSITIVE, f64::max);
    let thick = (HEIGHT / evaluations.len().max(1) as f64 * 0.7).min(28.0);
    for (place, evaluation) in evaluations.iter().enumerate() {
        let middle = middle(place, evaluations.len());
        let top = middle - thick / 2.0;
        let long = (WIDTH - 50.0) * hours(evaluation) / most;
        let colour = COLOURS[place % COLOURS.len()];
        let _ = writeln!(
            out,
            "<rect x=\"{left:.0}\" y=\"{top:.1}\" width=\"{long:.1}\" height=\"{thick:.1}\" fill=\"{colour}\"/>"
        );
        let value = format!("{:.1}", hours(evaluation));
        text(out, (left + long + 6.0, middle + 4.0), "start", &value);
    }
    text(out, (left, TOP + HEIGHT + 34.0), "start", &escaped(label));
}

/// Where the bars of a policy are.
fn middle(place: usize, policies: usize) -> f64 {
    TOP + HEIGHT / policies.max(1) as f64 * (place as f64 + 0.5)
}

fn frame(out: &mut String, origin: f64, label: &str) {
    let (right, bottom) = (origin + WIDTH, TOP + HEIGHT);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let y = TOP + HEIGHT * (1.0 - share);
        line(out, (origin, y), (right, y));
        text(out, (origin - 6.0, y + 4.0), "end", &format!("{:.0} %", share * 100.0));
    }
    for (seconds, name) in MARKS {
        let part = (seconds / SHORTEST).ln() / (LONGEST / SHORTEST).ln();
        let x = origin + part * WIDTH;
        line(out, (x, TOP), (x, bottom));
        text(out, (x, bottom + 16.0), "middle", name);
    }
    text(out, (origin, bottom + 34.0), "start", &escaped(label));
}

fn waits(trace: &Trace, evaluation: &Evaluation) -> Vec<u64> {
    let jobs = trace.jobs.iter().zip(&evaluation.jobs);
    let mut waits: Vec<u64> = jobs.map(|(job, result)| Measured { job, result }.queue()).collect();
    waits.sort_unstable();
    waits
}

fn line(out: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = writeln!(
        out,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#dddddd\"/>"
    );
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, words: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"#333333\">{words}</text>"
    );
}

fn escaped(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::cluster::{Cluster, PlacementRule, Unit};
    use crate::trace::evaluate;
    use crate::trace::lab_week::{GPUS_PER_NODE, NODES, lab_week};

    #[test]
    fn a_picture_has_a_bar_and_a_line_for_each_policy() {
        let trace = lab_week(1);
        let unit = Unit::Nodes { gpus_each: GPUS_PER_NODE, placement: PlacementRule::Consolidate };
        let clusters = [Cluster::new(NODES, unit).expect("a small cluster")];
        let evaluations: Vec<Evaluation> = ["fifo", "auto"]
            .map(|name| name.parse().expect("a policy"))
            .map(|policy| evaluate(&trace, &clusters, policy, &mut |_| ()).expect("it fits"))
            .into();
        let labels = Labels { completion: "mean", unlucky: "99 %", waited: "waited" };
        let picture = svg("a <lab>", &labels, &trace, &evaluations);
        assert_eq!(picture.matches("<polyline").count(), 2);
        assert_eq!(picture.matches("<rect").count(), 5, "one is the background");
        let unlucky = format!(">{:.1}</text>", evaluations[1].all.p99_queue as f64 / 3_600.0);
        assert!(picture.contains(&unlucky), "{unlucky} is not there");
        assert!(picture.contains("a &lt;lab&gt;") && picture.contains(">auto</text>"));
        assert_eq!(picture, svg("a <lab>", &labels, &trace, &evaluations));
    }
}
