//! Ended tasks leave the state and live in the store alone; they come back when they are named again.

use super::State;
use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{RunId, SpecId, TaskId, UserId};
use crate::model::past_work::{EndedWork, PastWork};
use crate::model::run::{Run, RunPart};
use crate::model::task::Task;
use std::sync::Arc;

/// As many leave at once, so that nothing waits for long.
const SLICE: u64 = 64;

/// An ended task with what it was to do and all its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retired {
    pub task: Arc<Task>,
    /// In the order of their ids.
    pub runs: Vec<Arc<Run>>,
}

impl State {
    /// The tasks that are to leave now, the oldest first. What unfinished tasks depend on stays.
    pub(crate) fn to_retire(&self) -> Vec<TaskId> {
        let slice = self.no_longer_recent().min(SLICE) as usize;
        if mutated(Mutant::RetiredThoughNeeded) {
            let ended = self.tasks.values().filter(|task| task.is_finished());
            return ended.take(slice).map(|task| task.id).collect();
        }
        let ended = self.index.ended.iter().map(|(_, id)| *id);
        // What is still to be added of an array may depend on one although nothing in the state does.
        ended.filter(|id| self.is_awaited(*id).is_none()).take(slice).collect()
    }

    /// How many ended tasks are to leave. There is some slack, so that the record of what they did is not written anew
    /// for each of them.
    pub(crate) fn no_longer_recent(&self) -> u64 {
        let recent = self.settings().history.recent;
        let ended = self.index.ended.len() as u64;
        let slack = (recent / 8).min(SLICE);
        if ended > recent.saturating_add(slack) { ended - recent } else { 0 }
    }

    /// The task leaves the state. Also answers what it was to do, if no other task is to do the same.
    pub(crate) fn retire(&mut self, id: TaskId) -> (Retired, Option<SpecId>) {
        let task = Arc::clone(&self.tasks[&id]);
        let runs = self.remove_task(id);
        let spec = Some(task.spec_id).filter(|spec| !self.index.specs.contains_key(spec));
        let mut past = self.take_past_work(task.owner);
        let forgotten = Arc::make_mut(&mut past).add(&task, &runs);
        if let Some(ended) = EndedWork::of(&task) {
            self.index.history.learn_work(task.owner, &task.spec, ended);
        }
        for (kind, ended) in forgotten {
            self.index.history.unlearn_kind(task.owner, &kind, ended);
        }
        self.put_past_work(past);
        (Retired { task, runs }, spec)
    }

    /// Whether it fits into the state: it has been there before, and left it.
    pub(crate) fn may_recall(&self, retired: &Retired) -> bool {
        let Retired { task, runs } = retired;
        let next = RunId { epoch: self.ledger.epoch, number: self.ledger.next_run };
        let ended = |run: &Run| {
            run.task == task.id
                && run.is_ended()
                && !run.parts.is_empty()
                && run.parts.iter().all(RunPart::is_ended)
        };
        let fits = |run: &Arc<Run>| run.id < next && !self.runs.contains_key(&run.id) && ended(run);
        task.is_finished()
            && task.id < self.ledger.next_task
            && !self.tasks.contains_key(&task.id)
            && self.users.contains_key(&task.owner)
            && runs.iter().all(fits)
    }

    /// The task is in the state again, as it was when it left. Also answers what it is to do, if no other task is to
    /// do the same.
    pub(crate) fn recall(&mut self, retired: Retired) -> Option<SpecId> {
        let Retired { task: mut shared, runs } = retired;
        let task = Arc::make_mut(&mut shared);
        let mut past = self.take_past_work(task.owner);
        let counted = if mutated(Mutant::PastLogsKept) { &[][..] } else { &runs };
        Arc::make_mut(&mut past).take_back(task, counted);
        if let Some(ended) = EndedWork::of(task) {
            self.index.history.unlearn_work(task.owner, &task.spec, ended);
        }
        self.put_past_work(past);
        let known = self.index.specs.get(&task.spec_id).map(|(spec, _)| Arc::clone(spec));
        match known {
            Some(spec) if spec == task.spec => task.spec = spec,
            None if task.spec_id < self.ledger.next_spec => {}
            // It comes from another store, where this number was something else.
            Some(_) | None => {
                let next = self.ledger.next_spec;
                task.spec_id = next;
                self.ledger.next_spec = SpecId(next.0 + 1);
            }
        }
        let taken = task.key.as_ref().map(|key| (task.owner, Arc::clone(key)));
        if taken.is_some_and(|key| self.index.keys.contains_key(&key)) {
            task.key = None;
        }
        let spec = task.spec_id;
        let new = !self.index.specs.contains_key(&spec);
        self.insert_task(shared);
        runs.into_iter().for_each(|run| self.insert_run(run));
        new.then_some(spec)
    }

    /// Every change of it goes through here.
    fn take_past_work(&mut self, user: UserId) -> Arc<PastWork> {
        let past = self.past_work.remove(&user).unwrap_or_else(|| Arc::new(PastWork::new(user)));
        self.index.uncount_log(user, past.log_bytes);
        past
    }

    fn put_past_work(&mut self, past: Arc<PastWork>) {
        self.index.count_log(past.user, past.log_bytes);
        if !past.is_empty() {
            self.past_work.insert(past.user, past);
        }
    }

    /// As it is stored.
    pub(crate) fn insert_past_work(&mut self, past: Arc<PastWork>) {
        for (kind, ended) in past.ended() {
            self.index.history.learn_kind(past.user, kind, ended);
        }
        self.put_past_work(past);
    }

    /// Forget it, to insert another one.
    pub(crate) fn remove_past_work(&mut self, user: UserId) {
        let past = self.take_past_work(user);
        for (kind, ended) in past.ended() {
            self.index.history.unlearn_kind(user, kind, ended);
        }
    }
}
