//! What was seen of the runs before the server was started again: from the history of use.

use super::run_record::{Pace, RunRecord};
use super::verdict::Look;
use crate::usage::{SeriesPoint, Subject, Usage};
use danlu_core::{Run, Span, Time};

/// Further back is not looked: a run that has been idle for longer is found again after a while.
const BACK: Span = Span::from_secs(12 * 3_600);
/// A piece of the history that still has every sample in it, at the usual pace.
const PIECE: i64 = 3_600_000;
const POINTS: usize = 2_000;

/// As if it had been looked at all the time since it runs.
pub(super) fn record(usage: &Usage, run: &Run, now: Time, pace: Pace) -> RunRecord {
    let mut record = RunRecord::default();
    let from = run.since().max(Time(now.0.saturating_sub_unsigned(BACK.0)));
    for part in run.parts.iter().filter(|part| !part.is_ended()) {
        let (id, node) = (run.id, part.node);
        each(usage, &Subject::Part { run: id, node }, from, now, |point| {
            let cores = value(point, 0).and_then(|it| u32::try_from(it).ok());
            record.add_cpu(node, Time(point.at), cores);
        });
        for gpu in &part.gpus {
            each(usage, &Subject::RunGpu { run: id, gpu: gpu.clone() }, from, now, |point| {
                let look = Look {
                    at: Time(point.at),
                    utilization: value(point, 0).and_then(|it| u8::try_from(it).ok()),
                    memory: value(point, 1).and_then(|it| u32::try_from(it).ok()),
                    power: value(point, 2).and_then(|it| u32::try_from(it).ok()),
                    power_at_rest: None,
                };
                record.add(gpu, &look, pace);
            });
        }
    }
    record
}

fn value(point: &SeriesPoint, place: usize) -> Option<i64> {
    point.values.get(place)?.as_ref().map(|spread| spread.max)
}

/// All that is there, oldest first.
fn each(usage: &Usage, of: &Subject, from: Time, to: Time, mut take: impl FnMut(&SeriesPoint)) {
    let mut begin = from.0;
    while begin <= to.0 {
        let end = begin.saturating_add(PIECE).min(to.0);
        usage.range(of, begin, end, POINTS).moments.iter().for_each(&mut take);
        begin = end + 1;
    }
}
