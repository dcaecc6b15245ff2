//! What a run has made of what it held: a few lines, with a small curve for each GPU.

use danlu_messages::efficiency as msg;
use danlu_wire::api::{Efficiency, UsageHistory, UsageSeries};

use crate::screen::{self, amounts};

/// Points of a curve.
pub(crate) const POINTS: usize = 40;
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

pub(crate) fn lines(seen: &Efficiency, history: Option<&UsageHistory>) -> String {
    let mut out = String::new();
    let at_most = |bytes: Option<u64>| bytes.map(|bytes| msg::at_most(&amounts::bytes(bytes)));
    let mut line = |name: &str, words: Option<String>| {
        out += &words.map(|words| screen::labelled(name, &words)).unwrap_or_default();
    };
    let use_ = seen.gpu_utilization.zip(seen.gpu_utilization_peak);
    line(msg::label_gpu_use(), use_.map(|(mean, peak)| msg::percent_and_peak(&mean, &peak)));
    for series in history.iter().flat_map(|history| &history.series) {
        let is_curve = series.metric == "gpu_utilization" && series.mean.len() > 1;
        line(&format!("  {}", series.of), is_curve.then(|| curve(series, history)));
    }
    line(msg::label_gpu_memory(), at_most(seen.gpu_memory_peak));
    let idle = (seen.gpu_seconds > 0 && use_.is_some())
        .then(|| msg::idle_line(seen.gpu_idle_seconds, seen.gpu_seconds));
    line(msg::label_gpu_idle(), idle);
    let cores = seen.cpu_millicores.zip(seen.cpu_millicores_peak);
    let cores =
        cores.map(|(mean, peak)| msg::number_and_peak(&msg::cores(mean), &msg::cores(peak)));
    line(msg::label_cpu(), cores);
    line(msg::label_memory(), at_most(seen.memory_peak));
    line(msg::label_energy(), seen.energy_joules.map(msg::energy));
    for advice in &seen.advice {
        line(msg::label_next_time(), Some(advice.text.clone()));
    }
    out
}

/// From the beginning to the end of the run; a gap where nothing is known.
fn curve(series: &UsageSeries, history: Option<&UsageHistory>) -> String {
    let (from, to) = history.map_or((0, 1), |history| (history.from, history.to));
    let width = (to - from).max(1);
    let mut columns = [None; POINTS];
    for (at, value) in series.at.iter().zip(&series.mean) {
        let place = (at - from).clamp(0, width - 1) * POINTS as i64 / width;
        let column = usize::try_from(place).ok().and_then(|place| columns.get_mut(place));
        if let (Some(column), Some(value)) = (column, value) {
            *column = Some(value.max(column.unwrap_or(0.0)));
        }
    }
    // A short run has fewer samples than columns.
    if series.at.len() < POINTS {
        let values = series.mean.iter().map(|value| block(*value));
        return values.collect();
    }
    columns.into_iter().map(block).collect()
}

fn block(percent: Option<f64>) -> char {
    let place = |percent: f64| (percent / 100.0 * 7.99).clamp(0.0, 7.0) as usize;
    percent.and_then(|percent| BLOCKS.get(place(percent))).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_its_highest_block_at_full_use() {
        let series = UsageSeries {
            of: "gpu-1:0".into(),
            metric: "gpu_utilization".into(),
            unit: "%".into(),
            most: Some(100.0),
            step: 1,
            at: vec![0, 1, 2, 3],
            mean: vec![Some(0.0), Some(50.0), Some(100.0), None],
            min: Vec::new(),
            max: Vec::new(),
        };
        assert_eq!(curve(&series, None), "▁▄█ ");
    }
}
