//! What each event records durably.

use super::Oracle;
use super::idle_rule::IdleFact;
use super::record::{Record, RunFact};
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::event::RequeueReason;
use danlu_core::run::StopReason;
use danlu_core::task::Outcome;
use danlu_core::{Epoch, Event, NodeId, RunId, TaskId};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Oracle {
    /// What an event records for good.
    pub(super) fn recorded(&mut self, event: &Event, epoch: Epoch) -> Verdict {
        match event {
            Event::TaskFinished { task, outcome } => self.task_finished(*task, outcome),
            Event::TaskRetried { task } => {
                self.task_retried(*task);
                Ok(())
            }
            // What is added later may find that its time has come meanwhile.
            Event::TasksSubmitted { first, count, .. } => {
                let ids = first.0..first.0 + u64::from(*count);
                ids.for_each(|id| self.waits_for_its_beginning(TaskId(id)));
                Ok(())
            }
            Event::TaskDue { task } => self.task_due(*task),
            Event::TaskRequeued { task, why } => self.task_requeued(*task, *why),
            Event::TaskRemoved { task, runs, .. } => {
                let Record { runs: facts, removed, .. } = &mut self.record;
                for run in runs {
                    let parts = facts.get(run).into_iter().flat_map(|fact| fact.parts.keys());
                    removed.extend(parts.map(|node| (*run, *node)));
                }
                if let Some(fact) = self.record.tasks.remove(task) {
                    ensure!(fact.outcome.is_some(), "task {task} is removed before its end");
                    if let Some(key) = fact.key {
                        self.record.keys.remove(&(fact.owner, key));
                    }
                }
                Ok(())
            }
            Event::RunLaunched { run, task, nodes, .. } => {
                self.run_launched(*run, *task, nodes, epoch)
            }
            Event::PartStarted { run, node } => {
                if let Some(fact) = self.record.runs.get_mut(run) {
                    fact.began.insert(*node);
                }
                Ok(())
            }
            Event::PartEnded { run, node, exit } => self.part_ended(*run, *node, exit),
            Event::RunEnded { run, exit, .. } => self.run_ended(*run, exit),
            Event::RunPaused { run } => {
                self.run_paused(*run, true);
                Ok(())
            }
            Event::RunResumed { run } => {
                self.run_paused(*run, false);
                Ok(())
            }
            Event::RunIdle { run, rung, .. } => {
                self.idle_told(*run, *rung);
                Ok(())
            }
            Event::RunUsedAgain { run } => {
                self.idle_forgotten(*run);
                Ok(())
            }
            Event::RunStopping { run, why: StopReason::Idle { since, requeue, .. } } => {
                self.idle_stopped(*run, *since, *requeue)
            }
            Event::GpuQuarantined { node, gpu, .. } => {
                self.record.gpus.quarantined.insert((*node, gpu.clone()));
                Ok(())
            }
            Event::DecisionRejected { task, reason } => {
                ensure!(false, "a decision on task {task} was rejected: {reason}");
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn task_finished(&mut self, id: TaskId, outcome: &Outcome) -> Verdict {
        self.outcome_is_true(id, outcome)?;
        let Some(fact) = self.record.tasks.get_mut(&id) else {
            return Ok(());
        };
        ensure!(fact.outcome.is_none(), "task {id} ends twice: {:?}, {outcome:?}", fact.outcome);
        fact.outcome = Some(outcome.clone());
        for fact in self.record.tasks.values_mut() {
            fact.release(id, outcome);
        }
        Ok(())
    }

    fn task_retried(&mut self, id: TaskId) {
        let Record { tasks, .. } = &mut self.record;
        let Some(spec) = tasks.get(&id).map(|fact| Arc::clone(&fact.spec)) else {
            return;
        };
        // Who asks for it again does so knowing that a predecessor was removed.
        let removed = spec.after.iter().map(|after| after.task);
        let removed: Vec<TaskId> = removed.filter(|task| !tasks.contains_key(task)).collect();
        let Some(fact) = tasks.get_mut(&id) else {
            return;
        };
        fact.outcome = None;
        fact.cancelled = false;
        fact.cancelled_run = None;
        fact.succeeded = false;
        fact.failures = 0;
        fact.released.extend(removed);
    }

    fn task_requeued(&mut self, id: TaskId, why: RequeueReason) -> Verdict {
        let Some(fact) = self.record.tasks.get_mut(&id) else {
            return Ok(());
        };
        ensure!(!fact.cancelled, "task {id} was cancelled and is queued again");
        fact.failures += u32::from(why == RequeueReason::Failed);
        let (failures, retries) = (fact.failures, fact.spec.retries);
        ensure!(failures <= retries, "task {id} is tried again {failures} times, not {retries}");
        if why == RequeueReason::Failed { self.tried_again(id) } else { Ok(()) }
    }

    fn run_paused(&mut self, run: RunId, paused: bool) {
        if let Some(fact) = self.record.runs.get_mut(&run) {
            fact.paused = paused;
        }
    }

    fn run_launched(
        &mut self,
        run: RunId,
        task: TaskId,
        nodes: &[NodeId],
        epoch: Epoch,
    ) -> Verdict {
        ensure!(run.epoch == epoch, "run {run} is launched in epoch {epoch}");
        let used = self.record.runs.contains_key(&run) || self.truth.parts(run).next().is_some();
        ensure!(!used, "there has been a run {run} before");
        let Some(fact) = self.record.tasks.get_mut(&task) else {
            return Ok(());
        };
        ensure!(!fact.cancelled, "task {task} was cancelled and is launched again");
        ensure!(!fact.held, "task {task} is held and is launched");
        ensure!(!fact.succeeded, "task {task} has succeeded and is launched again");
        ensure!(fact.outcome.is_none(), "task {task} has ended and is launched again");
        let before = fact.last_run.replace(run);
        let parts = nodes.iter().filter_map(|node| {
            self.record.nodes.get(node).map(|fact| (*node, (fact.machine, false)))
        });
        let parts = parts.collect();
        self.may_run_again(task, before)?;
        self.doubt_is_over(task);
        self.truth.task_of.insert(run, task);
        let fact = RunFact {
            task,
            ended: None,
            abandoned: false,
            paused: false,
            idle: IdleFact::default(),
            began: BTreeSet::new(),
            parts,
        };
        self.record.runs.insert(run, fact);
        let busy =
            before.and_then(|run| self.record.runs.get(&run)).is_some_and(|it| it.ended.is_none());
        ensure!(!busy, "task {task} is launched as {run} while run {before:?} goes on");
        Ok(())
    }
}
