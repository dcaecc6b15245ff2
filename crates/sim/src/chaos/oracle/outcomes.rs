//! Whether recorded ends of runs match what really happened.

use super::Oracle;
use super::record::allows;
use crate::chaos::engine_driver::Turn;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::run::Exit;
use danlu_core::task::{Canceller, Outcome};
use danlu_core::{Event, Input, NodeId, RunId, Span, TaskId};

impl Oracle {
    pub(super) fn part_ended(&mut self, run: RunId, node: NodeId, exit: &Exit) -> Verdict {
        let Some(fact) = self.record.runs.get_mut(&run) else {
            ensure!(false, "run {run} has ended and was never launched");
            return Ok(());
        };
        let Some((machine, ended)) = fact.parts.get_mut(&node) else {
            ensure!(false, "run {run} has ended on node {node}, where it was not");
            return Ok(());
        };
        ensure!(!*ended, "run {run} ends twice on node {node}");
        *ended = true;
        let part = self.truth.part(run, *machine);
        if *exit == Exit::Abandoned {
            ensure!(fact.abandoned, "run {run} counts as abandoned and nobody did that");
            return Ok(());
        }
        let alive = part.is_some_and(super::truth::Part::is_alive);
        ensure!(!alive, "run {run} is recorded as {exit:?} and goes on on node {node}");
        let removed = part.is_none_or(|part| part.removed);
        match (exit, part.and_then(|part| part.ending.as_ref())) {
            (Exit::NeverStarted, _) => {
                let started = part.is_some_and(|part| part.has_started() && !part.removed);
                ensure!(!started, "run {run} is said never to have started on node {node}");
            }
            // What was forgotten before a backup was restored cannot be known.
            (Exit::Vanished { .. } | Exit::NoRecord, _) if removed => {}
            (exit, Some(ending)) => {
                ensure!(
                    *exit == ending.exit,
                    "run {run} ended as {:?}, not as {exit:?}",
                    ending.exit
                );
            }
            (exit, None) => ensure!(false, "run {run} has not ended as {exit:?}, nor at all"),
        }
        Ok(())
    }

    /// A run is declared lost only after its node was unreachable for long enough, or by force. It may go on there.
    pub(super) fn declared_lost(&mut self, turn: &Turn) -> Verdict {
        let forced = matches!(turn.input, Input::DeclareLost { force: true, .. });
        for event in &turn.step.events {
            let Event::RunsDeclaredLost { node, runs } = event else { continue };
            let away = self.told.away_for(*node, self.clock.now());
            let after = self.record.settings.lost_after;
            let long = away.is_some_and(|away| after > Span::ZERO && away >= after);
            ensure!(
                long || forced && away.is_some(),
                "runs of node {node} are declared lost, away for {away:?}, not {after:?}"
            );
            for run in runs {
                if let Some(fact) = self.record.runs.get_mut(run) {
                    fact.abandoned = true;
                }
            }
        }
        Ok(())
    }

    pub(super) fn run_ended(&mut self, run: RunId, exit: &Exit) -> Verdict {
        let Some(fact) = self.record.runs.get_mut(&run) else {
            return Ok(());
        };
        ensure!(fact.ended.is_none(), "run {run} ends twice");
        fact.ended = Some(exit.clone());
        let open = fact.parts.values().any(|(_, ended)| !ended);
        ensure!(!open, "run {run} has ended while a part of it has not");
        let task = fact.task;
        // What was made to stop anywhere has not come to its own end, whatever became of its other parts.
        if *exit != Exit::NoRecord || self.was_stopped(run) {
            self.end_is_known(task);
        }
        if *exit == Exit::Code(0)
            && self.succeeded(run)
            && let Some(fact) = self.record.tasks.get_mut(&task)
        {
            fact.succeeded = true;
        }
        Ok(())
    }

    /// Every part exited 0 by its own will.
    fn succeeded(&self, run: RunId) -> bool {
        let launched = self.record.runs.get(&run).map_or(0, |fact| fact.parts.len());
        let own_success = self.truth.parts(run).filter_map(|part| part.ending.as_ref());
        let own_success = own_success.filter(|it| it.exit == Exit::Code(0) && !it.stopped);
        own_success.count() == launched
    }

    /// Some part ended like this by its own will.
    fn failed_as(&self, run: RunId, exit: &Exit) -> bool {
        let endings = self.truth.parts(run).filter_map(|part| part.ending.as_ref());
        endings.filter(|ending| !ending.stopped).any(|ending| ending.exit == *exit)
    }

    /// The limit counts even when somebody was stopping it at that moment.
    fn timed_out(&self, run: RunId) -> bool {
        let mut endings = self.truth.parts(run).filter_map(|part| part.ending.as_ref());
        endings.any(|ending| ending.exit == Exit::TimedOut)
    }

    /// Its only part has ended by its own will, and the daemon knows it.
    fn ended_by_itself(&self, run: RunId) -> bool {
        let recorded = self.record.runs.get(&run).and_then(|fact| fact.ended.as_ref());
        let mut parts = self.truth.parts(run);
        let (Some(part), None) = (parts.next(), parts.next()) else { return false };
        let own = part.ending.as_ref().filter(|it| !it.stopped && Some(&it.exit) == recorded);
        own.is_some_and(|it| matches!(it.exit, Exit::Code(_) | Exit::Signal(_) | Exit::TimedOut))
    }

    fn was_stopped(&self, run: RunId) -> bool {
        self.truth.parts(run).any(|part| part.ending.as_ref().is_some_and(|it| it.stopped))
    }

    pub(super) fn outcome_is_true(&self, id: TaskId, outcome: &Outcome) -> Verdict {
        let Some(fact) = self.record.tasks.get(&id) else {
            ensure!(false, "task {id} has ended and nobody submitted it");
            return Ok(());
        };
        let run = fact.last_run;
        let recorded =
            run.and_then(|run| self.record.runs.get(&run)).and_then(|run| run.ended.clone());
        let failed_as = |exit: &Exit| run.is_some_and(|run| self.failed_as(run, exit));
        // A run that was stopped by an order from before a restore counts as lost, too.
        let vanished = matches!(recorded, Some(Exit::Vanished { .. }))
            || run.is_some_and(|run| self.was_stopped(run));
        let holds = match outcome {
            Outcome::Succeeded => run.is_some_and(|run| self.succeeded(run)),
            Outcome::Failed { exit: Exit::NeverStarted | Exit::Trouble(_) | Exit::NoRecord } => {
                false
            }
            Outcome::Failed { exit: Exit::Vanished { .. } } => vanished,
            Outcome::Failed { exit: Exit::Abandoned } => recorded == Some(Exit::Abandoned),
            Outcome::Failed { exit } => failed_as(exit),
            Outcome::TimedOut => run.is_some_and(|run| self.timed_out(run)),
            Outcome::LaunchError { message } => {
                failed_as(&Exit::Launch { message: message.clone() })
            }
            Outcome::GaveUp { .. } => vanished || recorded == Some(Exit::Abandoned),
            Outcome::Cancelled { by: Canceller::IdleRule } => {
                let fact = run.and_then(|run| self.record.runs.get(&run));
                fact.is_some_and(|fact| fact.idle.stopped)
            }
            // Who had ended by itself before keeps its own end.
            Outcome::Cancelled { by: Canceller::User(_) | Canceller::Daemon } => {
                let own = run.is_some_and(|run| self.ended_by_itself(run));
                fact.cancelled && !(own && fact.cancelled_run == run)
            }
            Outcome::DependencyFailed { on } => {
                let mut after = fact.spec.after.iter().filter(|after| after.task == *on);
                let other = self.record.tasks.get(on).and_then(|fact| fact.outcome.as_ref());
                other.is_some_and(|outcome| after.any(|after| !allows(after.kind, outcome)))
            }
        };
        ensure!(holds, "task {id} is recorded as {outcome:?}, which is not what happened");
        let own_end = matches!(
            outcome,
            Outcome::Succeeded
                | Outcome::Failed { .. }
                | Outcome::TimedOut
                | Outcome::LaunchError { .. }
        );
        if own_end && *outcome != Outcome::Succeeded && !fact.cancelled {
            self.no_try_is_left(id)?;
        }
        let cancelled = matches!(outcome, Outcome::Cancelled { .. });
        ensure!(
            !fact.cancelled || cancelled || own_end,
            "task {id} was cancelled, ends as {outcome:?}"
        );
        Ok(())
    }
}
