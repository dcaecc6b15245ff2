//! Whether a run that is stopped because it was idle may be: the rule is on, its owner was asked and has not kept it.

use super::Oracle;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::idle::{IdleAct, IdleRung};
use danlu_core::{RunId, Time};

#[derive(Debug, Clone, Default)]
pub(super) struct IdleFact {
    kept_until: Option<Time>,
    asked_at: Option<Time>,
    /// For good.
    pub(super) stopped: bool,
}

impl Oracle {
    pub(super) fn idle_kept(&mut self, run: Option<RunId>, until: Time) {
        if let Some(fact) = run.and_then(|run| self.record.runs.get_mut(&run)) {
            fact.idle.kept_until = fact.idle.kept_until.max(Some(until));
            fact.idle.asked_at = None;
        }
    }

    pub(super) fn idle_told(&mut self, run: RunId, rung: IdleRung) {
        let now = self.clock.now();
        if let Some(fact) = self.record.runs.get_mut(&run) {
            fact.idle.asked_at = (rung == IdleRung::Asked).then_some(now);
        }
    }

    pub(super) fn idle_forgotten(&mut self, run: RunId) {
        if let Some(fact) = self.record.runs.get_mut(&run) {
            fact.idle.asked_at = None;
        }
    }

    pub(super) fn idle_stopped(&mut self, run: RunId, since: Time, requeue: bool) -> Verdict {
        let (now, rule) = (self.clock.now(), self.record.settings.idle.clone());
        let Some(fact) = self.record.runs.get_mut(&run) else {
            ensure!(false, "run {run} is stopped as idle and was never launched");
            return Ok(());
        };
        let wanted = if requeue { IdleAct::Requeue } else { IdleAct::Release };
        ensure!(rule.act == wanted, "run {run} is stopped as idle, the rule is {:?}", rule.act);
        let kept = fact.idle.kept_until.is_some_and(|until| until > now);
        ensure!(!kept, "run {run} is stopped as idle and its owner keeps it");
        ensure!(fact.idle.asked_at.is_some(), "run {run} is stopped as idle, nobody was asked");
        ensure!(!fact.paused, "run {run} is stopped as idle and is paused");
        ensure!(fact.ended.is_none(), "run {run} is stopped as idle and has ended");
        let idle = now.since(since);
        ensure!(idle >= rule.release_after, "run {run} is stopped after {idle:?} of idleness");
        fact.idle.stopped = true;
        Ok(())
    }
}
