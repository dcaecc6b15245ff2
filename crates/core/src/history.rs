//! What tasks that have ended tell about the next ones: how long each is likely to run.
//!
//! Derived from the rows of ended tasks, so it forgets what is archived and knows nothing of what is still open.

use crate::ids::{TaskId, UserId};
use crate::logarithm::Logarithm;
use crate::task::{Task, TaskSpec};
use crate::time::{Span, Time};
use std::collections::{BTreeMap, BTreeSet};

/// A prediction is the middle of as many: people do something else after a while.
const RECENT: usize = 6;
/// As much of a name or a command tells tasks apart.
const WORDS_BYTES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct History {
    /// In the order of their ends.
    ended: BTreeMap<Likeness, BTreeSet<(Time, TaskId, Logarithm)>>,
}

/// What an ended task may have in common with a new one, the most telling first.
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

impl History {
    /// A task has ended after it had run.
    pub(crate) fn learn(&mut self, task: &Task) {
        let Some(entry) = entry(task) else { return };
        for likeness in Likeness::all(task.owner, &task.spec) {
            self.ended.entry(likeness).or_default().insert(entry);
        }
    }

    /// It runs again or is removed.
    pub(crate) fn unlearn(&mut self, task: &Task) {
        let Some(entry) = entry(task) else { return };
        for likeness in Likeness::all(task.owner, &task.spec) {
            if let Some(ended) = self.ended.get_mut(&likeness) {
                ended.remove(&entry);
                if ended.is_empty() {
                    self.ended.remove(&likeness);
                }
            }
        }
    }

    /// How long such a task runs, as far as the last ones like it tell; `None` when none has ended.
    pub(crate) fn predict(&self, owner: UserId, spec: &TaskSpec) -> Option<Span> {
        let mut alike = Likeness::all(owner, spec);
        let ended = alike.find_map(|likeness| self.ended.get(&likeness))?;
        let recent = ended.iter().rev().take(RECENT);
        let (sum, count) = recent.fold((0, 0), |(sum, count), it| (sum + it.2.0, count + 1));
        Logarithm::mean(sum, count).map(Logarithm::span)
    }
}

fn entry(task: &Task) -> Option<(Time, TaskId, Logarithm)> {
    let at = task.ended_at().filter(|_| task.attained > Span::ZERO)?;
    Some((at, task.id, Logarithm::of(task.attained)))
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
