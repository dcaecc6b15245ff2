//! Predicts run times from ended tasks.
//!
//! Derived from the rows of ended tasks, and from what is remembered of those that have left the state. Removed tasks
//! are forgotten. Only the newest ones are kept, however many rows there are.

use crate::model::ids::{TaskId, UserId};
use crate::model::number::logarithm::Logarithm;
use crate::model::past_work::{EndedWork, RUN_TIMES, WorkKind};
use crate::model::task::{Task, TaskSpec};
use crate::model::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A prediction averages this many ended tasks: workloads change over time.
const RECENT: usize = RUN_TIMES;
/// This many are kept, so that a few can be removed again.
const KEPT: usize = 256;

#[derive(Debug, Clone, Default)]
pub(crate) struct DurationHistory {
    /// In the order of their ends.
    ended: BTreeMap<Likeness, BTreeSet<Ended>>,
}

type Ended = (Time, TaskId, Logarithm);

/// What an ended task may have in common with a new one, the best predictor first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// Owner, GPUs and what is executed.
    Work(UserId, u32, String),
    OwnerAndGpus(UserId, u32),
    Owner(UserId),
    ProjectAndGpus(String, u32),
    Gpus(u32),
    None,
}

/// Equal if they predict the same: of what was taken back and what had gone before, older ones are not remembered.
impl PartialEq for DurationHistory {
    fn eq(&self, other: &DurationHistory) -> bool {
        let newest = |history: &DurationHistory| -> Vec<(Likeness, Vec<Ended>)> {
            let newest =
                |ended: &BTreeSet<Ended>| ended.iter().rev().take(RECENT).copied().collect();
            history.ended.iter().map(|(of, ended)| (of.clone(), newest(ended))).collect()
        };
        newest(self) == newest(other)
    }
}

impl Eq for DurationHistory {}

impl DurationHistory {
    /// A task has ended after it had run.
    pub(crate) fn learn(&mut self, task: &Task) {
        if let Some(ended) = EndedWork::of(task) {
            self.learn_work(task.owner, &task.spec, ended);
        }
    }

    /// It runs again or is removed.
    pub(crate) fn unlearn(&mut self, task: &Task) {
        if let Some(ended) = EndedWork::of(task) {
            self.unlearn_work(task.owner, &task.spec, ended);
        }
    }

    pub(crate) fn learn_work(&mut self, owner: UserId, spec: &TaskSpec, ended: EndedWork) {
        self.learn_kind(owner, &WorkKind::of(spec), ended);
    }

    pub(crate) fn unlearn_work(&mut self, owner: UserId, spec: &TaskSpec, ended: EndedWork) {
        self.unlearn_kind(owner, &WorkKind::of(spec), ended);
    }

    pub(crate) fn learn_kind(&mut self, owner: UserId, kind: &WorkKind, ended: EndedWork) {
        let EndedWork(at, task, ran) = ended;
        for likeness in Likeness::all(owner, kind) {
            let alike = self.ended.entry(likeness).or_default();
            alike.insert((at, task, Logarithm::of(ran)));
            if alike.len() > KEPT {
                alike.pop_first();
            }
        }
    }

    pub(crate) fn unlearn_kind(&mut self, owner: UserId, kind: &WorkKind, ended: EndedWork) {
        let EndedWork(at, task, ran) = ended;
        for likeness in Likeness::all(owner, kind) {
            let Some(alike) = self.ended.get_mut(&likeness) else { continue };
            alike.remove(&(at, task, Logarithm::of(ran)));
            if alike.is_empty() {
                self.ended.remove(&likeness);
            }
        }
    }

    /// The run time of such a task, predicted from the last similar ones; `None` if none has ended.
    pub(crate) fn predict(&self, owner: UserId, spec: &TaskSpec) -> Option<Span> {
        let kind = WorkKind::of(spec);
        let mut alike = Likeness::all(owner, &kind);
        let ended = alike.find_map(|likeness| self.ended.get(&likeness))?;
        let recent = ended.iter().rev().take(RECENT);
        let (sum, count) = recent.fold((0, 0), |(sum, count), it| (sum + it.2.0, count + 1));
        Logarithm::mean(sum, count).map(Logarithm::span)
    }
}

impl Likeness {
    fn all(owner: UserId, kind: &WorkKind) -> impl Iterator<Item = Likeness> {
        let gpus = kind.gpus;
        let project = kind.project.clone().map(|project| Likeness::ProjectAndGpus(project, gpus));
        let own = [
            Likeness::Work(owner, gpus, kind.words.clone()),
            Likeness::OwnerAndGpus(owner, gpus),
            Likeness::Owner(owner),
        ];
        own.into_iter().chain(project).chain([Likeness::Gpus(gpus), Likeness::None])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::past_work::PastWork;
    use crate::model::resources::Request;
    use crate::model::task::{Outcome, TaskState};
    use crate::model::trail::Trail;
    use crate::step::submit::new_task;
    use crate::{State, UserId};
    use std::sync::Arc;

    fn ended(state: &State, id: u64, name: &str, seconds: u64) -> Task {
        let spec =
            TaskSpec { name: name.into(), request: Request::gpus(1).into(), ..TaskSpec::default() };
        let at = Time::from_secs(id.cast_signed());
        let task = new_task(state, UserId(1), &Arc::new(spec), at);
        let state = TaskState::Finished { outcome: Box::new(Outcome::Succeeded), at };
        let trail = Trail { attained: Span::from_secs(seconds), ..Trail::default() }.kept();
        Task { id: TaskId(id), state, trail, ..task }
    }

    #[test]
    fn it_stays_small_however_many_tasks_end() {
        let (state, mut history) = (State::new(), DurationHistory::default());
        let mut past = PastWork::new(UserId(1));
        let many = 3_000;
        for id in 1..=many {
            for task in [
                ended(&state, id, &format!("work {id}"), 10),
                ended(&state, many + id, "the same", id),
            ] {
                history.learn(&task);
                for (kind, ended) in past.add(&task, &[]) {
                    history.unlearn_kind(UserId(1), &kind, ended);
                }
            }
        }
        assert!(past.is_bounded());
        let works = past.run_times.len();
        assert_eq!(works, 1_000);
        assert_eq!(history.ended.len(), works + 4, "and what is less telling");
        assert!(history.ended.values().all(|ended| ended.len() <= KEPT));
        let spec =
            |name: &str| TaskSpec { name: name.into(), ..(*ended(&state, 1, "", 1).spec).clone() };
        let predicted = history.predict(UserId(1), &spec("the same")).unwrap();
        assert!((many - 10..=many).contains(&(predicted.0 / 1_000)), "the newest count");
    }

    #[test]
    fn what_is_taken_back_leaves_nothing() {
        let (state, mut history) = (State::new(), DurationHistory::default());
        let tasks =
            [ended(&state, 1, "one", 5), ended(&state, 2, "two", 7), ended(&state, 3, "one", 9)];
        tasks.iter().for_each(|task| history.learn(task));
        tasks.iter().for_each(|task| history.unlearn(task));
        assert_eq!(history, DurationHistory::default());
    }
}
