//! When and after which failures a task is retried, and that no task starts before its time.

use super::Oracle;
use crate::chaos::engine_driver::Turn;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::run::Exit;
use danlu_core::{Event, Failure, FailureClass, Input, Settings, Span, TaskId, Time};
use std::collections::BTreeSet;

/// The daemon's own.
#[derive(Debug, Default)]
pub(super) struct Clock {
    now: Time,
    latest: Time,
}

impl Clock {
    pub(super) fn shows(&mut self, now: Time) {
        self.now = now;
        self.latest = self.latest.max(now);
    }

    pub(super) fn now(&self) -> Time {
        self.now
    }

    fn was_set_back(&self) -> bool {
        self.now < self.latest
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    until: Time,
    /// It failed, and does not merely begin later.
    failed: bool,
}

impl Oracle {
    pub(super) fn waits_for_its_beginning(&mut self, id: TaskId) {
        let now = self.clock.now;
        if let Some(fact) = self.record.tasks.get_mut(&id) {
            let begin = fact.spec.begin.filter(|begin| *begin > now);
            fact.waits = begin.map(|until| Wait { until, failed: false });
        }
    }

    /// A failed task is retried: only for the right class, and after the delay.
    pub(super) fn tried_again(&mut self, id: TaskId) -> Verdict {
        let classes = self.classes_of(id);
        let settings = &self.record.settings;
        let Some(fact) = self.record.tasks.get_mut(&id) else {
            return Ok(());
        };
        let named =
            if fact.spec.retry_on.is_empty() { &settings.retry_on } else { &fact.spec.retry_on };
        let right = named.is_empty() || classes.iter().any(|class| named.contains(class));
        ensure!(right, "task {id} is tried again after {classes:?}, not only after {named:?}");
        let wait = backoff(settings, fact.failures);
        let until = self.clock.now + wait;
        fact.waits = (wait > Span::ZERO).then_some(Wait { until, failed: true });
        Ok(())
    }

    /// A task has failed finally: after all retries, or with a class that is not retried.
    pub(super) fn no_try_is_left(&self, id: TaskId) -> Verdict {
        let Some(fact) =
            self.record.tasks.get(&id).filter(|fact| fact.failures < fact.spec.retries)
        else {
            return Ok(());
        };
        let settings = &self.record.settings;
        let named =
            if fact.spec.retry_on.is_empty() { &settings.retry_on } else { &fact.spec.retry_on };
        let classes = self.classes_of(id);
        let again = |class: &FailureClass| {
            if named.is_empty() { *class != FailureClass::Timeout } else { named.contains(class) }
        };
        let over = classes.is_empty() || !classes.iter().all(again);
        ensure!(over, "task {id} is given up after {classes:?}, it named {named:?}");
        Ok(())
    }

    pub(super) fn task_due(&mut self, id: TaskId) -> Verdict {
        let Some(fact) = self.record.tasks.get_mut(&id) else {
            return Ok(());
        };
        let Some(Wait { until, failed }) = fact.waits.take() else {
            ensure!(false, "the time of task {id} is said to have come, and it waits for none");
            return Ok(());
        };
        // A back-off that was made shorter is so for those that wait already.
        let shorter = until - backoff(&self.record.settings, fact.failures) > self.clock.now;
        let come = self.clock.now >= until || failed && (self.clock.was_set_back() || shorter);
        ensure!(
            come,
            "the time of task {id} is said to have come at {:?}, not {until:?}",
            self.clock
        );
        Ok(())
    }

    /// A task started by hand does not wait for its time.
    pub(super) fn launched_in_time(&mut self, turn: &Turn) -> Verdict {
        for event in &turn.step.events {
            let Event::RunLaunched { task, .. } = event else { continue };
            let Some(fact) = self.record.tasks.get_mut(task) else { continue };
            let waits = fact.waits.take();
            let by_hand = matches!(turn.input, Input::Start { .. });
            let paused = self.record.settings.queue_paused && !by_hand;
            ensure!(!paused, "task {task} is launched while the queue is paused");
            ensure!(waits.is_none() || by_hand, "task {task} is launched, but waits: {waits:?}");
        }
        Ok(())
    }

    /// How the last run may be said to have failed: any of its parts may be the one to blame.
    fn classes_of(&self, id: TaskId) -> BTreeSet<FailureClass> {
        let run = self.record.tasks.get(&id).and_then(|fact| fact.last_run);
        let endings = run.into_iter().flat_map(|run| self.truth.parts(run));
        let endings = endings.filter_map(|part| part.ending.as_ref());
        let told =
            endings.filter_map(|it| it.failure.clone().or_else(|| Failure::of_exit(&it.exit)));
        let recorded =
            run.and_then(|run| self.record.runs.get(&run)).and_then(|run| run.ended.as_ref());
        let plain = recorded.and_then(Failure::of_exit).filter(|_| {
            // Who gives a run up does not ask its node; and a node that has lost all it knew of the run has lost
            // this too.
            recorded == Some(&Exit::Abandoned)
                || run.is_none_or(|run| {
                    self.truth.parts(run).all(|part| part.removed || part.ending.is_none())
                })
        });
        told.chain(plain).map(|failure| failure.class).collect()
    }
}

fn backoff(settings: &Settings, failures: u32) -> Span {
    let doubled = 1_u64 << failures.saturating_sub(1).min(40);
    Span(settings.retry_backoff.0.saturating_mul(doubled)).min(settings.retry_backoff_max)
}
