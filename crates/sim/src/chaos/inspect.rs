//! Checks of the daemon's state: it equals the rows on disk, and it can explain why each task waits.

use super::engine_driver::Turn;
use super::history_text;
use super::verdict::{Verdict, Violation, ensure};
use super::world::World;
use danlu_core::run::StopReason;
use danlu_core::task::TaskState::{Blocked, Held, Queued};
use danlu_core::{Event, Input, Row, RowKey, State, Step, explain};
use std::collections::{BTreeMap, BTreeSet};

impl World {
    pub(super) fn every_waiting_task_is_explained(&self, state: &State) -> Verdict {
        for task in state.tasks.values() {
            let waits = matches!(task.state, Held | Blocked { .. } | Queued { .. });
            let reason = explain(state, task.id, self.daemon_clock());
            ensure!(!waits || reason.is_some(), "nobody can say why task {} waits", task.id);
        }
        Ok(())
    }

    pub(super) fn rows_are_the_whole_state(&self) -> Verdict {
        let Some(state) = self.daemon.state() else {
            return Ok(());
        };
        let on_disk = rows_of(state) == self.disk.tables.rows;
        ensure!(on_disk, "what is on disk is not what the daemon believes");
        match State::from_rows(state.rows()) {
            Ok(mut read) => {
                read.set_slice(state.slice);
                ensure!(read == *state, "a state read back from its rows is different");
            }
            Err(error) => return Err(Violation(format!("its own rows cannot be read: {error}"))),
        }
        Ok(())
    }

    pub(super) fn note_turn(&mut self, input: &Input, step: &Step) {
        if !matches!(input, Input::Schedule) || !step.events.is_empty() {
            self.note("daemon", format_args!("{}", history_text::InputText(input, &step.reply)));
        }
        for event in &step.events {
            self.note("daemon", format_args!("  {}", history_text::EventText(event)));
        }
    }

    /// What recalled tasks were wanted for.
    fn count_recalls(&mut self, turns: &[Turn]) {
        for pair in turns.windows(2) {
            let [Turn { input: Input::Recall(_), .. }, wanted] = pair else { continue };
            if wanted.step.reply.is_err() {
                continue;
            }
            let new = |event: &Event| matches!(event, Event::TaskSubmitted { .. });
            match &wanted.input {
                Input::Retry { .. } => self.tally.retried_from_history += 1,
                Input::Remove { .. } => self.tally.removed_from_history += 1,
                Input::Submit { .. } if wanted.step.events.iter().any(new) => {
                    self.tally.named_in_history += 1;
                }
                Input::Submit { .. } => self.tally.repeated_from_history += 1,
                _ => {}
            }
        }
    }

    pub(super) fn count(&mut self, turns: &[Turn]) {
        self.count_recalls(turns);
        for turn in turns {
            self.tally.refusals += u64::from(turn.from.is_some() && turn.step.reply.is_err());
            self.tally.cancels +=
                u64::from(matches!(turn.input, Input::Cancel { .. }) && turn.step.reply.is_ok());
            self.tally.abandons +=
                u64::from(matches!(turn.input, Input::Abandon { .. }) && turn.step.reply.is_ok());
            let array = matches!(&turn.input, Input::Submit { spec, .. } if spec.array.is_some());
            self.tally.arrays += u64::from(array && turn.step.reply.is_ok());
            for event in &turn.step.events {
                match event {
                    Event::TaskEdited { .. } => self.tally.edits += 1,
                    Event::RunKept { .. } => self.tally.kept += 1,
                    Event::RunIdle { .. } => self.tally.told_idle += 1,
                    Event::RunStopping { why: StopReason::Idle { .. }, .. } => {
                        self.tally.stopped_idle += 1;
                    }
                    Event::TaskSubmitted { .. } => self.tally.submits += 1,
                    Event::TasksSubmitted { count, .. } => {
                        self.tally.submits += u64::from(*count);
                    }
                    Event::RunLaunched { nodes, task, .. } => {
                        self.tally.launches += 1;
                        self.tally.spanning += u64::from(nodes.len() > 1);
                        self.tally.gangs += u64::from(self.oracle.is_gang(*task));
                    }
                    Event::RunsDeclaredLost { runs, .. } => {
                        self.tally.declared_lost += runs.len() as u64;
                    }
                    Event::NodeLabelsChanged { .. } => self.tally.relabelled += 1,
                    Event::NodeRemoved { .. } => self.tally.removed_nodes += 1,
                    Event::NodeHasUnknownRuns { runs, .. } => {
                        self.tally.unknown_runs += runs.len() as u64;
                    }
                    Event::TaskInDoubt { .. } => self.tally.in_doubt += 1,
                    Event::TaskRecalled { .. } => self.tally.recalled += 1,
                    Event::RunStopping { why, .. } => {
                        let preempted = *why == StopReason::Preempted;
                        self.tally.preemptions += u64::from(preempted);
                    }
                    _ => {}
                }
            }
        }
    }
}

pub(super) fn rows_of(state: &State) -> BTreeMap<RowKey, Row> {
    state.rows().map(|row| (row.key(), row)).collect()
}

pub(super) fn changed_rows_are_named(
    before: &BTreeMap<RowKey, Row>,
    after: &BTreeMap<RowKey, Row>,
    events: &[Event],
) -> Verdict {
    let named: BTreeSet<RowKey> = events.iter().flat_map(Event::rows).collect();
    for key in before.keys().chain(after.keys()) {
        let changed = before.get(key) != after.get(key);
        ensure!(!changed || named.contains(key), "{key:?} has changed and no event names it");
    }
    Ok(())
}
