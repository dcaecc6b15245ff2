//! Predicts run times from ended tasks.
//!
//! Derived from the rows of ended tasks, so archived tasks are forgotten. Only the newest ones are kept, however many
//! rows there are.

use crate::model::ids::{TaskId, UserId};
use crate::model::number::logarithm::Logarithm;
use crate::model::task::{Task, TaskSpec};
use crate::model::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A prediction averages this many ended tasks: workloads change over time.
const RECENT: usize = 6;
/// This many are kept, so that a few can be removed again.
const KEPT: usize = 256;
/// This many kinds of work are kept per user: those that ended last.
const KINDS_OF_WORK: usize = 1_000;
/// This much of a name or command distinguishes tasks.
const WORDS_BYTES: usize = 64;

#[derive(Debug, Clone, Default)]
pub(crate) struct DurationHistory {
    /// In the order of their ends.
    ended: BTreeMap<Likeness, BTreeSet<Ended>>,
    /// The kinds of work of each user, by when one of them ended last.
    works: BTreeMap<UserId, BTreeSet<(Ended, Likeness)>>,
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
        self.works == other.works && newest(self) == newest(other)
    }
}

impl Eq for DurationHistory {}

impl DurationHistory {
    /// A task has ended after it had run.
    pub(crate) fn learn(&mut self, task: &Task) {
        let Some(entry) = entry(task) else { return };
        for likeness in Likeness::all(task.owner, &task.spec) {
            self.change(&likeness, |ended| {
                ended.insert(entry);
                if ended.len() > KEPT {
                    ended.pop_first();
                }
            });
        }
        let works = self.works.get_mut(&task.owner).filter(|works| works.len() > KINDS_OF_WORK);
        if let Some((_, oldest)) = works.and_then(BTreeSet::pop_first) {
            self.ended.remove(&oldest);
        }
    }

    /// It runs again or is removed.
    pub(crate) fn unlearn(&mut self, task: &Task) {
        let Some(entry) = entry(task) else { return };
        for likeness in Likeness::all(task.owner, &task.spec) {
            self.change(&likeness, |ended| {
                ended.remove(&entry);
            });
        }
    }

    fn change(&mut self, likeness: &Likeness, change: impl FnOnce(&mut BTreeSet<Ended>)) {
        let ended = self.ended.entry(likeness.clone()).or_default();
        let before = ended.last().copied();
        change(ended);
        let after = ended.last().copied();
        if let Likeness::Work(owner, ..) = likeness
            && before != after
        {
            let works = self.works.entry(*owner).or_default();
            before.into_iter().for_each(|before| {
                works.remove(&(before, likeness.clone()));
            });
            works.extend(after.map(|after| (after, likeness.clone())));
            if works.is_empty() {
                self.works.remove(owner);
            }
        }
        if after.is_none() {
            self.ended.remove(likeness);
        }
    }

    /// The run time of such a task, predicted from the last similar ones; `None` if none has ended.
    pub(crate) fn predict(&self, owner: UserId, spec: &TaskSpec) -> Option<Span> {
        let mut alike = Likeness::all(owner, spec);
        let ended = alike.find_map(|likeness| self.ended.get(&likeness))?;
        let recent = ended.iter().rev().take(RECENT);
        let (sum, count) = recent.fold((0, 0), |(sum, count), it| (sum + it.2.0, count + 1));
        Logarithm::mean(sum, count).map(Logarithm::span)
    }
}

fn entry(task: &Task) -> Option<Ended> {
    let at = task.ended_at().filter(|_| task.trail().attained > Span::ZERO)?;
    Some((at, task.id, Logarithm::of(task.trail().attained)))
}

impl Likeness {
    fn all(owner: UserId, spec: &TaskSpec) -> impl Iterator<Item = Likeness> {
        let gpus = spec.request.gpus;
        let project = spec.project.clone().map(|project| Likeness::ProjectAndGpus(project, gpus));
        let own = [
            Likeness::Work(owner, gpus, words(spec)),
            Likeness::OwnerAndGpus(owner, gpus),
            Likeness::Owner(owner),
        ];
        own.into_iter().chain(project).chain([Likeness::Gpus(gpus), Likeness::None])
    }
}

/// Its name, or the program and what it is to execute: `python train.py`, whatever the options are.
fn words(spec: &TaskSpec) -> String {
    let named = Some(spec.name.as_str()).filter(|name| !name.is_empty());
    let mut words = match named {
        Some(name) => name.to_owned(),
        None => {
            let words = spec.command.iter().flat_map(|word| word.split_whitespace());
            words.take(2).collect::<Vec<_>>().join(" ")
        }
    };
    let end = (0..=WORDS_BYTES.min(words.len())).rev().find(|at| words.is_char_boundary(*at));
    words.truncate(end.unwrap_or(0));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::resources::Request;
    use crate::model::task::{Outcome, TaskState};
    use crate::model::trail::Trail;
    use crate::step::submit::new_task;
    use crate::{State, UserId};
    use std::sync::Arc;

    fn ended(state: &State, id: u64, name: &str, seconds: u64) -> Task {
        let spec = TaskSpec { name: name.into(), request: Request::gpus(1), ..TaskSpec::default() };
        let at = Time::from_secs(id.cast_signed());
        let task = new_task(state, UserId(1), &Arc::new(spec), at);
        let state = TaskState::Finished { outcome: Box::new(Outcome::Succeeded), at };
        let trail = Trail { attained: Span::from_secs(seconds), ..Trail::default() }.kept();
        Task { id: TaskId(id), state, trail, ..task }
    }

    #[test]
    fn it_stays_small_however_many_tasks_end() {
        let (state, mut history) = (State::new(), DurationHistory::default());
        let many = 3 * KINDS_OF_WORK as u64;
        for id in 1..=many {
            history.learn(&ended(&state, id, &format!("work {id}"), 10));
            history.learn(&ended(&state, many + id, "the same", id));
        }
        let works = history.works[&UserId(1)].len();
        assert_eq!(works, KINDS_OF_WORK);
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
