//! Tasks that may have run without the daemon's knowledge are not run again before they are released.

use super::{Oracle, Record};
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::{NodeId, RunId, TaskId};

impl Oracle {
    /// An older store takes the place of what was recorded. What the machines have done stays done.
    pub(in crate::chaos) fn rewind(&mut self, record: Record) {
        self.record = record;
        let started = self.truth.task_of.iter().filter(|(run, _)| self.has_run_unnoticed(**run));
        self.truth.in_doubt = started.map(|(_, task)| *task).collect();
    }

    /// The record knows nothing of it, or believes that it goes on, and nobody can tell how it has ended.
    fn has_run_unnoticed(&self, run: RunId) -> bool {
        let started = self.truth.parts(run).any(super::truth::Part::has_started);
        let gone = |machine: usize| self.truth.part(run, machine).is_some_and(|part| part.removed);
        match self.record.runs.get(&run) {
            None => started,
            Some(fact) => fact.parts.values().any(|(at, ended)| started && !ended && gone(*at)),
        }
    }

    /// The directory of a run that the daemon knew to have begun is gone, and with it how it has ended.
    pub(super) fn record_gone(&mut self, run: RunId, machine: usize) {
        let Some(fact) = self.record.runs.get(&run) else { return };
        let unended = fact.parts.iter().filter(|(_, (at, ended))| *at == machine && !ended);
        let began = |node: &NodeId| fact.began.contains(node);
        if unended.map(|(node, _)| node).any(began) {
            self.truth.unrecorded.insert(fact.task);
        }
    }

    /// An authorised user releases it, or abandons its run.
    pub(super) fn doubt_is_over(&mut self, task: TaskId) {
        self.truth.in_doubt.remove(&task);
        self.truth.unrecorded.remove(&task);
    }

    /// It was told before the record went, or another part tells that it cannot have come to its end.
    pub(super) fn end_is_known(&mut self, task: TaskId) {
        self.truth.unrecorded.remove(&task);
    }

    pub(super) fn may_run_again(&self, task: TaskId, before: Option<RunId>) -> Verdict {
        let given_up =
            before.and_then(|run| self.record.runs.get(&run)).is_some_and(|it| it.abandoned);
        let truth = &self.truth;
        let doubtful = truth.in_doubt.contains(&task) || truth.unrecorded.contains(&task);
        let doubtful = doubtful && !given_up;
        ensure!(!doubtful, "task {task} may have run already, and is launched again unasked");
        Ok(())
    }
}
