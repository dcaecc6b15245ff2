//! When the owner of a run with a time limit is told that it is near. Pure.

use danlu_core::{Run, Span, Task, Time};

const LEAST: Span = Span::from_secs(300);
const MOST: Span = Span::from_secs(3_600);

/// When to tell, and when the limit is reached.
pub(crate) fn warning(task: &Task, run: &Run) -> Option<(Time, Time)> {
    let started = run.parts.iter().filter_map(|part| part.started_at).min()?;
    let limit = task.time_limit().filter(|_| !run.is_ended())?;
    warning_of(started, limit)
}

/// A tenth of the limit before its end, at least five minutes and at most an hour. `None` with a limit that is too short
/// for a warning.
fn warning_of(started: Time, limit: Span) -> Option<(Time, Time)> {
    let before = Span(limit.0 / 10).clamp(LEAST, MOST);
    // Who has less than twice that time knows it.
    (limit.0 > before.0 * 2).then(|| (started + limit.saturating_sub(before), started + limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(limit: u64, expect: Option<i64>) {
        let told = warning_of(Time::from_secs(100), Span::from_secs(limit));
        let ends = Time::from_secs(100 + i64::try_from(limit).expect("small"));
        let expect = expect.map(|before| (Time::from_secs(ends.0 / 1_000 - before), ends));
        assert_eq!(told, expect);
    }

    #[test]
    fn warnings_come_in_time() {
        check(60, None);
        check(600, None);
        check(1_200, Some(300));
        check(7_200, Some(720));
        check(864_000, Some(3_600));
    }
}
