//! A GPU machine: its agent, which is stateless, and its disk, which is not.

use super::agenda::Happening;
use super::faults::Fault;
use super::gpu::SimGpu;
use super::rundir::{RunDir, Stage};
use super::verdict::Verdict;
use super::world::World;
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::run::{ReportedState, RunReport};
use danlu_core::{Effect, GpuId, NodeMessage, RunId, SessionId, Time, Trouble};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Debug)]
pub(super) struct SimMachine {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) capacity: Capacity,
    pub(super) cards: Vec<SimGpu>,
    /// Free memory in bytes.
    pub(super) free_memory: u64,
    pub(super) up: bool,
    pub(super) agent_up: bool,
    /// Grows with every end of the agent.
    pub(super) agent_life: u64,
    /// Will never come back.
    pub(super) destroyed: bool,
    pub(super) partitioned: bool,
    /// What keeps it from starting anything.
    pub(super) trouble: Option<Trouble>,
    /// It is another name of an earlier machine, and has the same GPUs.
    pub(super) twin: bool,
    /// Its agent is of the release before.
    pub(super) old_agent: bool,
    /// Survives everything but a replacement of the machine.
    pub(super) dirs: BTreeMap<RunId, RunDir>,
    /// What forgotten runs have printed; as lasting as the directories.
    pub(super) logs: BTreeSet<RunId>,
    /// The connection the agent believes in.
    pub(super) link: Option<SessionId>,
    /// The fence: commands of any other connection are ignored.
    pub(super) newest: SessionId,
    pub(super) dialing: bool,
    /// The offset of its clock from simulated time.
    pub(super) clock_offset: i64,
}

impl SimMachine {
    pub(super) fn clock(&self, now: Time) -> Time {
        Time(now.0 + self.clock_offset)
    }

    fn report(&self, now: Time, beside: &BTreeSet<GpuId>) -> NodeReport {
        let runs = self.dirs.iter().map(|(run, dir)| {
            let state = match &dir.stage {
                Stage::Starting => ReportedState::Alive {
                    since: self.clock(now),
                    paused: false,
                    limit: dir.told_limit,
                },
                Stage::Alive { since, .. } | Stage::LeftOver { since } => {
                    let paused = dir.paused_since.is_some();
                    let limit = dir.told_limit;
                    ReportedState::Alive { since: self.clock(*since), paused, limit }
                }
                Stage::Ended(ending) => ReportedState::Ended(ending.clone()),
            };
            // Agents of the previous release do not report it.
            let told = !self.old_agent;
            let gpus = if told { dir.launch.gpus.clone() } else { Vec::new() };
            RunReport { run: *run, state, task: told.then_some(dir.launch.task), gpus }
        });
        NodeReport {
            capacity: self.capacity,
            free_memory: Some(self.free_memory),
            gpus: self.gpu_reports(now, beside),
            runs: runs.collect(),
            trouble: self.trouble.clone(),
        }
    }
}

impl World {
    pub(super) fn note_machine(&mut self, machine: usize, what: fmt::Arguments<'_>) {
        self.history.note(self.now, &self.machines[machine].name, what);
    }

    pub(super) fn obey(&mut self, machine: usize, command: Effect) -> Verdict {
        match command {
            Effect::Launch(launch) => self.launch(machine, *launch)?,
            Effect::Stop { run, grace, .. } => self.stop(machine, run, grace),
            Effect::Pause { run, on, .. } => self.pause(machine, run, on),
            Effect::SetLimit { run, limit, .. } => self.set_limit(machine, run, limit),
            Effect::Forget { run, .. } => self.forget(machine, run)?,
            Effect::DropLog { run, .. } => self.drop_log(machine, run)?,
            Effect::AskReport { .. } => self.send_report(machine),
        }
        Ok(())
    }

    fn forget(&mut self, machine: usize, run: RunId) -> Verdict {
        let dirs = &mut self.machines[machine].dirs;
        if matches!(dirs.get(&run), Some(RunDir { stage: Stage::Ended(_), .. })) {
            dirs.remove(&run);
            self.machines[machine].logs.insert(run);
            self.note_machine(machine, format_args!("forgets run {run}"));
            self.oracle.directory_removed(run, machine)?;
        }
        Ok(())
    }

    /// What still runs keeps its log, and nothing is confirmed.
    fn drop_log(&mut self, machine: usize, run: RunId) -> Verdict {
        self.forget(machine, run)?;
        if !self.machines[machine].dirs.contains_key(&run) {
            self.machines[machine].logs.remove(&run);
            self.tally.logs_dropped += 1;
            self.tell(machine, NodeMessage::LogDropped { run });
        }
        Ok(())
    }

    pub(super) fn send_report(&mut self, machine: usize) {
        let report = self.machines[machine].report(self.now, &self.used_beside(machine));
        if self.strikes(Fault::Duplicate) {
            self.tally.duplicates += 1;
            self.send_to_daemon(machine, NodeMessage::Report(report.clone()));
        }
        self.send_to_daemon(machine, NodeMessage::Report(report));
    }

    /// Tell something that stays true, and sometimes tell it again later.
    pub(super) fn tell(&mut self, machine: usize, message: NodeMessage) {
        if let Some(session) = self.machines[machine].link
            && self.strikes(Fault::Duplicate)
        {
            let at = self.now + self.dice.span(0, 5000);
            let message = Box::new(message.clone());
            self.agenda.at(at, Happening::SendAgain { machine, session, message });
        }
        self.send_to_daemon(machine, message);
    }

    pub(super) fn send_again(&mut self, machine: usize, session: SessionId, message: NodeMessage) {
        if self.machines[machine].link == Some(session) {
            self.tally.duplicates += 1;
            self.send_to_daemon(machine, message);
        }
    }
}
