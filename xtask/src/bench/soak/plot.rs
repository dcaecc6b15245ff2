//! The samples as a picture: one small panel for each series, over the number of ended tasks.

use std::fmt::Write as _;

use super::samples::{Sample, Series};
use crate::bench::figure::median;

const WIDTH: f64 = 360.0;
const HEIGHT: f64 = 110.0;
const COLUMNS: usize = 2;
/// Around the line of a panel.
const LEFT: f64 = 44.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 20.0;
/// Each is the median of its neighbours, so that the picture stays small.
const POINTS: usize = 80;

pub(super) fn svg(samples: &[Sample]) -> String {
    let rows = Series::ALL.len().div_ceil(COLUMNS);
    let (width, height) = (WIDTH * COLUMNS as f64, HEIGHT * rows as f64);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (number, series) in Series::ALL.into_iter().enumerate() {
        let x = WIDTH * (number % COLUMNS) as f64;
        let y = HEIGHT * (number / COLUMNS) as f64;
        let _ =
            write!(out, "<g transform=\"translate({x} {y})\">\n{}</g>\n", panel(series, samples));
    }
    out.push_str("</svg>\n");
    out
}

fn panel(series: Series, samples: &[Sample]) -> String {
    let points = thinned(series, samples);
    let most = points.iter().map(|point| point.1).fold(1.0, f64::max) * 1.15;
    let last = points.last().map_or(1.0, |point| point.0.max(1.0));
    let at = |(ended, value): &(f64, f64)| {
        let x = LEFT + ended / last * (WIDTH - LEFT - RIGHT);
        let y = HEIGHT - BOTTOM - value / most * (HEIGHT - TOP - BOTTOM);
        format!("{x:.1},{y:.1}")
    };
    let line: Vec<String> = points.iter().map(at).collect();
    let (bottom, right, end) = (HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - 6.0);
    let highest = points.iter().map(|point| point.1).fold(0.0, f64::max);
    let top = TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - highest / most);
    let (title, before) = (series.title(), LEFT - 4.0);
    let mut out = String::new();
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"16\" font-weight=\"bold\">{title}</text>");
    let _ =
        writeln!(out, "<path d=\"M{LEFT} {TOP}V{bottom}H{right}\" fill=\"none\" stroke=\"#999\"/>");
    let _ = writeln!(
        out,
        "<text x=\"{before}\" y=\"{bottom}\" text-anchor=\"end\">0</text>\
         <text x=\"{before}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
         <text x=\"{right}\" y=\"{end}\" text-anchor=\"end\">{} ended</text>",
        top + 4.0,
        number(highest),
        thousands(last)
    );
    let _ = writeln!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#0a6ebd\" stroke-width=\"1.5\"/>",
        line.join(" ")
    );
    out
}

fn thinned(series: Series, samples: &[Sample]) -> Vec<(f64, f64)> {
    let middle = |some: &[Sample]| {
        let values: Vec<f64> = some.iter().map(|sample| sample.of(series)).collect();
        (some[some.len() / 2].ended as f64, median(&values))
    };
    let mut points: Vec<(f64, f64)> =
        samples.chunks(samples.len().div_ceil(POINTS).max(1)).map(middle).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

fn number(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three() {
        assert_eq!(thousands(999.0), "999");
        assert_eq!(thousands(200_000.0), "200,000");
        assert_eq!(thousands(1_234_567.0), "1,234,567");
    }
}
