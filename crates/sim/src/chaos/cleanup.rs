//! After the faults have ended: an operator cleans up, and every task must come to its end.

use super::agenda::Happening;
use super::oracle::Oracle;
use super::small_tasks::is_small_task;
use super::verdict::{Verdict, Violation, ensure};
use super::world::World;
use danlu_core::gpu::GpuCondition;
use danlu_core::input::GpuChange;
use danlu_core::quota::QuotaSettings;
use danlu_core::run::RunState;
use danlu_core::task::TaskState;
use danlu_core::{Actor, Input, Node, Row, Settings, Span, Task};
use std::collections::BTreeSet;

/// How long everything together may take once faults have stopped.
const PATIENCE: Span = Span::from_secs(2 * 3600);
/// Tasks that begin later than this are cancelled.
const BEGINS_WITHIN: Span = Span::from_secs(600);

impl World {
    pub(super) fn tidy(&mut self) -> Verdict {
        let rest = self.is_at_rest();
        if rest.is_ok() {
            // One more connection to every node must find nothing to do.
            for session in self.network.open_at(super::connection::End::Agent) {
                self.cut(session, None);
            }
            self.agenda.at(self.now + Span(30_000), Happening::Rested);
            return Ok(());
        }
        if self.now > self.faults_end_at + PATIENCE {
            return rest;
        }
        for input in self.chores() {
            self.post(input, None);
        }
        let waited = self.now.since(self.faults_end_at).0;
        self.agenda.at(self.now + Span(2000 + waited / 20), Happening::Tidy);
        Ok(())
    }

    /// What a conscientious operator does: bring back every node, release what is held, lift quotas, end what
    /// would never end, and give up what was on a machine that is no more.
    fn chores(&self) -> Vec<Input> {
        let by = Actor::Daemon;
        let mut inputs = Vec::new();
        let mut known = Vec::new();
        for row in self.disk.tables.rows.values() {
            match row {
                Row::Node(node) => {
                    known.push(&node.name);
                    inputs.extend(self.gpu_chore(node));
                    let machine = self.machine_of(node.id);
                    let there = machine.is_some_and(|at| !self.machines[at].destroyed);
                    // Runs on a machine that no longer exists are over: removing the node declares that.
                    if !node.unknown_runs.is_empty() {
                        inputs.push(match there {
                            true => Input::EndUnknownRuns { by, node: node.id },
                            false => Input::RemoveNode { by, node: node.id },
                        });
                    }
                    if machine.is_none() && node.unknown_runs.is_empty() {
                        inputs.push(Input::RemoveNode { by, node: node.id });
                    }
                    if node.draining {
                        inputs.push(Input::Undrain { by, node: node.id });
                    }
                }
                Row::Ledger(ledger)
                    if ledger.settings.quota != QuotaSettings::default()
                        || ledger.settings.queue_paused =>
                {
                    let quota = QuotaSettings::default();
                    let settings =
                        Settings { quota, queue_paused: false, ..ledger.settings.clone() };
                    inputs.push(Input::Configure { by, settings });
                }
                Row::Task(task) if task.is_finished() => {}
                Row::Task(task) if task.spec.command == ["serve"] => {
                    inputs.push(Input::Cancel { by, task: task.id });
                }
                // Its clock was set back by hours or days.
                Row::Task(task) if task.spec.begin > Some(self.daemon_clock() + BEGINS_WITHIN) => {
                    inputs.push(Input::Cancel { by, task: task.id });
                }
                Row::Task(task) if task.state == TaskState::Held => {
                    inputs.push(Input::Release { by, task: task.id });
                }
                Row::Run(run) if !matches!(run.state, RunState::Ended { .. }) => {
                    if matches!(run.state, RunState::Paused { .. }) {
                        inputs.push(Input::Resume { by, task: run.task });
                    }
                    let open = run.parts.iter().filter(|part| !part.is_ended());
                    let mut machines = open.map(|part| self.machine_of(part.node));
                    let gone = |at: Option<usize>| at.is_none_or(|at| self.machines[at].destroyed);
                    if machines.any(gone) {
                        inputs.push(Input::Abandon { by, run: run.id });
                    }
                }
                _ => {}
            }
        }
        for machine in &self.machines {
            if !known.contains(&&machine.name) {
                let (name, labels) = (machine.name.clone(), machine.labels.clone());
                inputs.push(Input::AddNode { by, name, labels });
            }
        }
        inputs
    }

    /// Every GPU is given out, but for those that a machine has under its other name too.
    fn gpu_chore(&self, node: &Node) -> Option<Input> {
        let machine = self.machine_of(node.id).map(|machine| &self.machines[machine]);
        let twin = machine.is_some_and(|machine| machine.twin);
        let wrong = node.gpus.iter().filter(|gpu| {
            let rule = node.gpu_rules.get(&gpu.id).cloned().unwrap_or_default();
            let missing = gpu.condition == GpuCondition::Missing;
            if twin { rule.disabled != Some(true) && !missing } else { !rule.is_open() }
        });
        let wrong: BTreeSet<u32> = wrong.map(|gpu| gpu.index).collect();
        let change =
            if twin { GpuChange::Disable(wrong.clone()) } else { GpuChange::Enable(wrong.clone()) };
        let (by, node) = (Actor::Daemon, node.id);
        (!wrong.is_empty()).then_some(Input::ManageGpus { by, node, change })
    }

    /// The error names what is still going on.
    pub(super) fn is_at_rest(&self) -> Verdict {
        let Some(state) = self.daemon.state() else {
            return Err(Violation("the daemon does not come back".to_owned()));
        };
        Oracle::every_task_has_ended(
            &self.disk,
            state,
            &self.machines,
            self.daemon_clock(),
            |_| true,
        )?;
        for machine in self.machines.iter().filter(|machine| !machine.destroyed) {
            ensure!(machine.agent_up, "the agent of {} does not come back", machine.name);
            ensure!(machine.is_at_rest(), "{} still runs something", machine.name);
        }
        let waiting = self.clients.iter().find(|client| client.is_waiting());
        ensure!(waiting.is_none(), "{:?} gets no answer", waiting.map(|client| &client.name));
        let chores = self.chores();
        ensure!(chores.is_empty(), "the operator is not done: {chores:?}");
        ensure!(self.daemon.is_idle(), "the daemon is not done");
        ensure!(self.small_tasks.is_none(), "small tasks keep coming");
        Ok(())
    }

    pub(super) fn everybody_else_is_done(&self) -> bool {
        let Some(state) = self.daemon.state() else {
            return false;
        };
        let clock = self.daemon_clock();
        let others = |task: &Task| !is_small_task(task);
        Oracle::every_task_has_ended(&self.disk, state, &self.machines, clock, others).is_ok()
    }

    pub(super) fn rested(&mut self) -> Verdict {
        // A message from before the end of the faults may have arrived late.
        if self.is_at_rest().is_err() {
            return self.tidy();
        }
        self.oracle.disk_is_complete(&self.disk)?;
        if let Some(state) = self.daemon.state() {
            self.oracle.nothing_is_left(&self.machines, state)?;
        }
        self.note("world", format_args!("all is at rest"));
        self.over = true;
        Ok(())
    }
}
