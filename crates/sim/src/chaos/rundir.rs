//! Run directories and what runs in them: a shim and the task's processes.

use super::agenda::Happening;
use super::behaviour::{Behaviour, Growth};
use super::faults::Fault;
use super::machine::SimMachine;
use super::oracle::Hardware;
use super::verdict::Verdict;
use super::world::World;
use danlu_core::effect::Launch;
use danlu_core::run::{Ending, Exit};
use danlu_core::{Failure, NodeMessage, RunId, Span, Time};

#[derive(Debug)]
pub(super) struct RunDir {
    pub(super) launch: Launch,
    pub(super) stage: Stage,
    /// The shim was asked to stop it.
    pub(super) stopping: bool,
    /// Of how long it may run, since it was launched.
    pub(super) told_limit: Option<Span>,
    pub(super) paused_since: Option<Time>,
    /// How long it was paused, before that.
    pub(super) idle: Span,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The directory is made; the command has not begun.
    Starting,
    Alive {
        since: Time,
        ends_at: Time,
    },
    /// The shim is dead and there is no exit file; processes may be left.
    LeftOver {
        since: Time,
    },
    Ended(Ending),
}

impl RunDir {
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.stage, Stage::Ended(_))
    }

    pub(super) fn is_alive(&self) -> bool {
        matches!(self.stage, Stage::Alive { .. } | Stage::LeftOver { .. })
    }

    /// Of what its command has printed.
    fn log_bytes(&self) -> u64 {
        if self.is_alive() { self.launch.run.number % 5 * 1_000 } else { 0 }
    }

    pub(super) fn limit(&self) -> Option<Span> {
        self.told_limit.or(self.launch.time_limit)
    }

    /// Bytes that it uses of each of its GPUs by now: more and more until it has all it needs.
    pub(super) fn gpu_memory(&self, now: Time) -> Option<u64> {
        let (Stage::Alive { since, .. } | Stage::LeftOver { since }) = self.stage else {
            return None;
        };
        let Growth { needs, within } = Growth::of(&self.launch);
        let grown = now.since(since).0.min(within.0);
        Some(needs / within.0.max(1) * grown)
    }

    /// When it ends by itself and how: by its own will or by its time limit.
    pub(super) fn natural_end(&self, since: Time) -> (Time, Exit, Option<Failure>) {
        let Behaviour { span, exit, failure } = Behaviour::of(&self.launch);
        match self.limit() {
            Some(limit) if limit < span => (since + limit, Exit::TimedOut, None),
            _ => (since + span, exit, failure),
        }
    }
}

impl SimMachine {
    pub(super) fn is_at_rest(&self) -> bool {
        self.dirs.values().all(RunDir::is_ended)
    }
}

impl World {
    /// `mkdir` is the latch: a directory that exists is never launched again.
    pub(super) fn launch(&mut self, machine: usize, launch: Launch) -> Verdict {
        let run = launch.run;
        if self.machines[machine].dirs.contains_key(&run) {
            self.note_machine(machine, format_args!("has run {run} already"));
            return Ok(());
        }
        self.oracle.run_gets_its_order(&launch)?;
        let task = launch.task;
        self.note_machine(machine, format_args!("launches run {run} (task {task})"));
        self.oracle.directory_made(run, machine);
        let dir = RunDir {
            launch,
            stage: Stage::Starting,
            stopping: false,
            told_limit: None,
            paused_since: None,
            idle: Span::ZERO,
        };
        self.machines[machine].dirs.insert(run, dir);
        let at = self.now + Span(self.dice.scale(1, 1500));
        self.agenda.at(at, Happening::ProcessStarts { machine, run });
        Ok(())
    }

    pub(super) fn process_starts(&mut self, machine: usize, run: RunId) -> Verdict {
        let now = self.now;
        let it = &mut self.machines[machine];
        let clock = it.clock(now);
        let trouble = it.trouble.clone();
        let Some(dir) = it.dirs.get_mut(&run) else {
            return Ok(());
        };
        if !matches!(dir.stage, Stage::Starting) {
            return Ok(());
        }
        let never = |exit, stopped| Ending { stopped, ..Ending::new(exit, clock) };
        if dir.stopping && self.dice.chance(500) {
            return self.run_ends(machine, run, never(Exit::Signal(15), true));
        }
        if let Some(trouble) = trouble {
            self.tally.unstartable += 1;
            return self.run_ends(machine, run, never(Exit::Trouble(trouble), false));
        }
        if self.mix.strikes(Fault::LaunchFailure, &mut self.dice) && self.faults_on {
            self.tally.launch_failures += 1;
            let message = "exec format error".to_owned();
            return self.run_ends(machine, run, never(Exit::Launch { message }, false));
        }
        let (ends_at, ..) = dir.natural_end(now);
        dir.stage = Stage::Alive { since: now, ends_at };
        let stopping = dir.stopping;
        let launch = dir.launch.clone();
        let gpus: Vec<&str> = launch.gpus.iter().map(|gpu| &*gpu.0).collect();
        let (task, gpus) = (launch.task, gpus.join(","));
        self.note_machine(machine, format_args!("starts run {run} (task {task}) on [{gpus}]"));
        self.tally.starts += 1;
        let it = &self.machines[machine];
        let cards = it.cards.iter().map(|card| (card.id.clone(), card.memory)).collect();
        let hardware = Hardware { capacity: it.capacity, cards };
        self.oracle.process_starts(machine, &hardware, &launch, now, self.daemon.epoch)?;
        self.agenda.at(ends_at, Happening::ProcessEnds { machine, run });
        self.seen_beside(machine);
        if launch.spec.request.is_shared() {
            self.tally.shared_starts += 1;
            let within = Growth::of(&launch).within;
            self.watch_memory(machine, (1..=4).map(|quarter| Span(within.0 * quarter / 4)));
        }
        if stopping {
            self.agenda.at(now, Happening::StopEnds { machine, run });
        }
        self.tell(machine, NodeMessage::Started { run, at: clock });
        Ok(())
    }

    /// By itself, or at its time limit, which the shim enforces alone.
    pub(super) fn process_ends(&mut self, machine: usize, run: RunId) -> Verdict {
        let Some(dir) = self.machines[machine].dirs.get(&run) else {
            return Ok(());
        };
        let Stage::Alive { since, ends_at } = dir.stage else {
            return Ok(());
        };
        if ends_at != self.now || dir.paused_since.is_some() {
            return Ok(());
        }
        let (_, exit, failure) = dir.natural_end(since);
        let stopped = dir.stopping;
        self.end_alive(machine, run, (exit, failure), stopped)
    }

    pub(super) fn end_alive(
        &mut self,
        machine: usize,
        run: RunId,
        (exit, failure): (Exit, Option<Failure>),
        stopped: bool,
    ) -> Verdict {
        let it = &self.machines[machine];
        let Some(RunDir { stage: Stage::Alive { since, .. }, .. }) = it.dirs.get(&run) else {
            return Ok(());
        };
        let started_at = Some(it.clock(*since));
        let ended_at = it.clock(self.now);
        let ended = Ending::new(exit, ended_at);
        self.run_ends(machine, run, Ending { stopped, failure, started_at, ..ended })
    }

    /// The exit file is written; the agent tells when it can.
    pub(super) fn run_ends(&mut self, machine: usize, run: RunId, mut ending: Ending) -> Verdict {
        // Agents of the previous release do not report it.
        if !self.machines[machine].old_agent {
            ending.used.log_bytes =
                self.machines[machine].dirs.get(&run).map_or(0, RunDir::log_bytes);
        }
        let stopped = if ending.stopped { ", stopped" } else { "" };
        self.note_machine(machine, format_args!("run {run} ends: {:?}{stopped}", ending.exit));
        let Some(dir) = self.machines[machine].dirs.get_mut(&run) else {
            return Ok(());
        };
        dir.stage = Stage::Ended(ending.clone());
        let paused = dir.paused_since.take().map_or(Span::ZERO, |since| self.now.since(since));
        let idle = dir.idle + paused;
        let limit = dir.limit();
        let used = self.oracle.run_ends(machine, &dir.launch, &ending, self.now, (idle, limit))?;
        self.tally.gpu_time += used.0;
        self.tell(machine, NodeMessage::Ended { run, ending });
        self.seen_beside(machine);
        Ok(())
    }
}
