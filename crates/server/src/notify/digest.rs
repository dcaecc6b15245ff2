//! Many messages in one: which wait for others, how long, and what they become. Pure.

use super::letter::{DigestFacts, Letter, Matter, TaskFacts, TaskNews};
use danlu_core::{Span, TaskId, Time};
use danlu_wire::api::TaskStateName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So many single messages reach a target within the window; the rest comes in one.
pub(crate) const MOST_SINGLE: usize = 10;
/// However many come: nobody waits longer.
const LONGEST: Span = Span::from_secs(600);
/// That are told of with their evidence.
const FAILURES: usize = 5;

/// What messages are put together by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Bundle {
    /// Elements of an array.
    Array(TaskId),
    /// Too many at once.
    Many,
    /// Until the quiet hours end.
    Quiet,
}

/// Messages that wait to become one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Collected {
    /// The cause of the first of them.
    pub(crate) cause: String,
    pub(crate) first_at: Time,
    pub(crate) last_at: Time,
    /// Not before, whatever comes.
    pub(crate) until: Option<Time>,
    pub(crate) count: u64,
    /// The only one, while there is one.
    first: Letter,
    counts: BTreeMap<String, u64>,
    tasks: Option<(TaskId, TaskId)>,
    failures: Vec<TaskFacts>,
    name: String,
}

/// Where a message goes first; `None`: on its way at once. `recent` single ones went to the same target within the window.
pub(crate) fn bundle(letter: &Letter, quiet: bool, recent: usize) -> Option<Bundle> {
    if quiet {
        return Some(Bundle::Quiet);
    }
    let task = letter.task()?;
    match task.array {
        Some(array) => Some(Bundle::Array(array)),
        None if recent >= MOST_SINGLE => Some(Bundle::Many),
        None => None,
    }
}

impl Collected {
    pub(crate) fn new(cause: String, letter: &Letter, now: Time, until: Option<Time>) -> Collected {
        let mut new = Collected {
            cause,
            first_at: now,
            last_at: now,
            until,
            count: 0,
            first: letter.clone(),
            counts: BTreeMap::new(),
            tasks: None,
            failures: Vec::new(),
            name: letter.task().map(|task| task.name.clone()).unwrap_or_default(),
        };
        new.add(letter, now);
        new
    }

    pub(crate) fn add(&mut self, letter: &Letter, now: Time) {
        self.last_at = now;
        self.count += 1;
        let word = match &letter.matter {
            Matter::Task { news, task } => match news {
                TaskNews::Ended => task.state.as_str(),
                TaskNews::Started => "started",
                TaskNews::Requeued { .. } => "requeued",
                TaskNews::Lost { .. }
                | TaskNews::Expiring { .. }
                | TaskNews::InDoubt
                | TaskNews::Idle { .. } => "other",
            },
            Matter::Digest(_)
            | Matter::Monthly(_)
            | Matter::Announcement { .. }
            | Matter::GpuQuarantined { .. }
            | Matter::NodeLost { .. }
            | Matter::Quota { .. }
            | Matter::GpusFree { .. }
            | Matter::ForeignProcess { .. }
            | Matter::Dropped { .. }
            | Matter::Test { .. } => "other",
        };
        *self.counts.entry(word.to_owned()).or_default() += 1;
        let Some(task) = letter.task() else { return };
        let (first, last) = self.tasks.unwrap_or((task.id, task.id));
        self.tasks = Some((first.min(task.id), last.max(task.id)));
        let failed = matches!(task.state, TaskStateName::Failed | TaskStateName::TimedOut);
        if failed && self.failures.len() < FAILURES {
            self.failures.push(task.clone());
        }
    }

    /// While more keep coming it waits for them.
    pub(crate) fn due_at(&self, window: Span) -> Time {
        match self.until {
            Some(until) => until,
            None => (self.last_at + window).min(self.first_at + LONGEST.max(window)),
        }
    }

    /// The one message; a single one stays as it was.
    pub(crate) fn letter(self, bundle: Bundle) -> Letter {
        if self.count == 1 {
            return self.first;
        }
        let (first_task, last_task) = self.tasks.unwrap_or((TaskId(0), TaskId(0)));
        let array = match bundle {
            Bundle::Array(array) => Some(array),
            Bundle::Many | Bundle::Quiet => None,
        };
        let name = if array.is_some() { self.name } else { String::new() };
        let (counts, failures, since) = (self.counts, self.failures, self.first_at);
        let facts = DigestFacts { array, name, counts, first_task, last_task, failures, since };
        Letter { at: self.last_at, matter: Matter::Digest(Box::new(facts)) }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use danlu_core::run::RunUsage;

    pub(crate) fn ended(id: u64, array: Option<u64>, state: TaskStateName) -> Letter {
        let task = TaskFacts {
            id: TaskId(id),
            name: "train".into(),
            user: "ann".into(),
            command: "python train.py".into(),
            state,
            nodes: vec!["gpu1".into()],
            gpus: vec![0, 1],
            attempt: 1,
            array: array.map(TaskId),
            index: array.map(|first| u32::try_from(id - first).unwrap_or(0)),
            submitted_at: Time(0),
            started_at: Some(Time(1_000)),
            ended_at: Some(Time(61_000)),
            exit: None,
            failure: None,
            used: RunUsage::default(),
            log: None,
        };
        Letter {
            at: Time(61_000),
            matter: Matter::Task { news: TaskNews::Ended, task: Box::new(task) },
        }
    }

    const WINDOW: Span = Span::from_secs(30);

    #[test]
    fn a_thousand_elements_become_one() {
        let mut all: Option<Collected> = None;
        for id in 1..=1_000_u64 {
            let state = if id <= 3 { TaskStateName::Succeeded } else { TaskStateName::Failed };
            let letter = ended(id, Some(1), state);
            let now = Time(i64::try_from(id).expect("small"));
            assert_eq!(bundle(&letter, false, 0), Some(Bundle::Array(TaskId(1))));
            match &mut all {
                Some(all) => all.add(&letter, now),
                None => all = Some(Collected::new("7".into(), &letter, now, None)),
            }
        }
        let all = all.expect("there are some");
        assert_eq!(all.due_at(WINDOW), Time(1_000 + 30_000));
        let Matter::Digest(facts) = all.letter(Bundle::Array(TaskId(1))).matter else {
            panic!("not a digest")
        };
        assert_eq!(facts.counts, BTreeMap::from([("failed".into(), 997), ("succeeded".into(), 3)]));
        assert_eq!((facts.first_task, facts.last_task), (TaskId(1), TaskId(1_000)));
        let failures: Vec<u64> = facts.failures.iter().map(|task| task.id.0).collect();
        assert_eq!(failures, [4, 5, 6, 7, 8]);
    }

    #[test]
    fn nobody_waits_for_ever() {
        let letter = || ended(1, Some(1), TaskStateName::Failed);
        let mut all = Collected::new("7".into(), &letter(), Time(0), None);
        for second in 1..=2_000 {
            all.add(&letter(), Time(second * 1_000));
        }
        assert_eq!(all.due_at(WINDOW), Time(600_000));
        let quiet = Collected::new("7".into(), &letter(), Time(0), Some(Time(9_000_000)));
        assert_eq!(quiet.due_at(WINDOW), Time(9_000_000));
    }

    #[test]
    fn a_few_single_ones_go_at_once() {
        let letter = ended(1, None, TaskStateName::Failed);
        assert_eq!(bundle(&letter, false, MOST_SINGLE - 1), None);
        assert_eq!(bundle(&letter, false, MOST_SINGLE), Some(Bundle::Many));
        assert_eq!(bundle(&letter, true, 0), Some(Bundle::Quiet));
        let one = Collected::new("7".into(), &letter, Time(0), None);
        assert_eq!(one.letter(Bundle::Many), letter, "one alone stays as it was");
    }
}
