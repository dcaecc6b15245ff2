//! Runs are stopped, paused, or lose their shim.

use super::agenda::Happening;
use super::rundir::Stage;
use super::verdict::Verdict;
use super::world::World;
use danlu_core::run::{Ending, Exit};
use danlu_core::{RunId, Span};

impl World {
    pub(super) fn stop(&mut self, machine: usize, run: RunId, grace: Span) {
        self.note_machine(machine, format_args!("is to stop run {run}"));
        let Some(dir) = self.machines[machine].dirs.get_mut(&run) else {
            return;
        };
        if dir.stopping || dir.is_ended() {
            return;
        }
        // Sometimes the command was just about to end by itself.
        if let Stage::Alive { ends_at, .. } = &mut dir.stage
            && dir.paused_since.is_none()
            && self.dice.chance(60)
        {
            *ends_at = self.now;
            self.agenda.at(self.now, Happening::ProcessEnds { machine, run });
            return;
        }
        dir.stopping = true;
        if matches!(dir.stage, Stage::Alive { .. }) {
            let at = self.now + self.dice.span(0, grace.0);
            self.agenda.at(at, Happening::StopEnds { machine, run });
        }
    }

    pub(super) fn stop_ends(&mut self, machine: usize, run: RunId) -> Verdict {
        let Some(dir) = self.machines[machine].dirs.get(&run) else {
            return Ok(());
        };
        if !matches!(dir.stage, Stage::Alive { .. }) {
            return Ok(());
        }
        let exits =
            [Exit::Signal(15), Exit::Signal(15), Exit::Signal(9), Exit::Code(0), Exit::Code(143)];
        let exit = self.dice.pick(&exits).unwrap_or(Exit::Signal(9));
        self.end_alive(machine, run, (exit, None), true)
    }

    /// Freeze or thaw it. A paused run does nothing but keep its GPUs.
    pub(super) fn pause(&mut self, machine: usize, run: RunId, on: bool) {
        self.note_machine(machine, format_args!("is to pause run {run}: {on}"));
        let Some(dir) = self.machines[machine].dirs.get_mut(&run) else {
            return;
        };
        let Stage::Alive { ends_at, .. } = &mut dir.stage else {
            return;
        };
        match (on, dir.paused_since) {
            (true, None) if !dir.stopping => {
                dir.paused_since = Some(self.now);
                self.tally.pauses += 1;
            }
            (false, Some(since)) => {
                let idle = self.now.since(since);
                dir.paused_since = None;
                dir.idle += idle;
                *ends_at = *ends_at + idle;
                self.agenda.at(*ends_at, Happening::ProcessEnds { machine, run });
            }
            _ => {}
        }
    }

    /// The shim keeps the limit; it does so from now on with another.
    pub(super) fn set_limit(&mut self, machine: usize, run: RunId, limit: Span) {
        self.note_machine(machine, format_args!("run {run} may run for {}ms", limit.0));
        let Some(dir) = self.machines[machine].dirs.get_mut(&run) else {
            return;
        };
        dir.told_limit = Some(limit);
        let Stage::Alive { since, ends_at } = dir.stage else {
            return;
        };
        let (at, ..) = dir.natural_end(since);
        let (at, paused) = (at + dir.idle, dir.paused_since.is_some());
        // It is ending at this very moment.
        if !paused && ends_at <= self.now {
            return;
        }
        let at = if paused { at } else { at.max(self.now) };
        dir.stage = Stage::Alive { since, ends_at: at };
        // One that is paused is looked at when it goes on.
        if !paused {
            self.agenda.at(at, Happening::ProcessEnds { machine, run });
        }
    }

    /// The processes stay until the agent ends what is left.
    pub(super) fn kill_shim(&mut self, machine: usize) {
        let alive = self.machines[machine].dirs.iter();
        let alive: Vec<RunId> = alive
            .filter(|(_, dir)| matches!(dir.stage, Stage::Alive { .. }))
            .map(|(run, _)| *run)
            .collect();
        let Some(run) = self.dice.pick(&alive) else {
            return;
        };
        let Some(dir) = self.machines[machine].dirs.get_mut(&run) else {
            return;
        };
        let Stage::Alive { since, .. } = dir.stage else {
            return;
        };
        dir.stage = Stage::LeftOver { since };
        self.tally.shim_kills += 1;
        self.note_machine(machine, format_args!("the shim of run {run} is killed"));
        if self.machines[machine].agent_up {
            self.kill_left_over_soon(machine, run);
        }
    }

    pub(super) fn kill_left_over_soon(&mut self, machine: usize, run: RunId) {
        let at = self.now + self.dice.span(0, 3000);
        self.agenda.at(at, Happening::LeftOverKilled { machine, run });
    }

    pub(super) fn left_over_killed(&mut self, machine: usize, run: RunId) -> Verdict {
        let it = &self.machines[machine];
        let left = it.dirs.get(&run).map(|dir| &dir.stage);
        if !it.agent_up || !matches!(left, Some(Stage::LeftOver { .. })) {
            return Ok(());
        }
        let exit = Exit::Vanished { rebooted: false };
        let ended_at = it.clock(self.now);
        let ending = Ending::new(exit, ended_at);
        self.run_ends(machine, run, ending)
    }
}
