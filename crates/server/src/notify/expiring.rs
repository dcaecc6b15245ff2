//! When the owner of a run with a time limit is told that it is near. Pure.

use danlu_core::{Run, Span, Task, Time};

const LEAST: Span = Span::from_secs(300);
const MOST: Span = Span::from_secs(3_600);

/// When to tell, and when the limit is reached: a tenth of it before, at least five minutes and at most an hour. `None`
/// without a limit, or with one that is too short for a warning.
pub(crate) fn warning(task: &Task, run: &Run) -> Option<(Time, Time)> {
    let limit = task.time_limit()?;
    let started = run.parts.iter().filter_map(|part| part.started_at).min()?;
    let before = Span(limit.0 / 10).clamp(LEAST, MOST);
    // Who has less than twice that time knows it.
    let tells = limit.0 > before.0 * 2 && !run.is_ended();
    let ends = started + limit;
    tells.then(|| (Time(ends.0 - i64::try_from(before.0).unwrap_or(0)), ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_come_in_time() {
        let before = |limit: u64| Span(limit * 1_000 / 10).clamp(LEAST, MOST).0 / 1_000;
        assert_eq!([before(600), before(7_200), before(864_000)], [300, 720, 3_600]);
    }
}
