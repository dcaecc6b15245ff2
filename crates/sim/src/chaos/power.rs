//! Agents and whole machines go down, come back, or are replaced.

use super::agenda::Happening;
use super::connection::End;
use super::rundir::Stage;
use super::verdict::Verdict;
use super::world::World;
use danlu_core::run::{Ending, Exit};
use danlu_core::{RunId, Span};

impl World {
    pub(super) fn agent_crashes(&mut self, machine: usize) {
        if !self.machines[machine].agent_up {
            return;
        }
        self.tally.agent_crashes += 1;
        self.note_machine(machine, format_args!("agent crashes"));
        self.agent_ends(machine);
        // A launch under way may have got as far as its shim, or not.
        for dir in self.machines[machine].dirs.values_mut() {
            if matches!(dir.stage, Stage::Starting) && self.dice.chance(500) {
                dir.stage = Stage::LeftOver { since: self.now };
            }
        }
        let at = self.now + Span(self.dice.scale(100, 10_000));
        self.agenda.at(at, Happening::AgentStarts { machine });
    }

    fn agent_ends(&mut self, machine: usize) {
        let it = &mut self.machines[machine];
        it.agent_up = false;
        it.agent_life += 1;
        if let Some(session) = it.link.take() {
            self.cut(session, Some(End::Agent));
        }
    }

    pub(super) fn agent_starts(&mut self, machine: usize) {
        let it = &mut self.machines[machine];
        if !it.up || it.agent_up {
            return;
        }
        it.agent_up = true;
        let left_over =
            it.dirs.iter().filter(|(_, dir)| matches!(dir.stage, Stage::LeftOver { .. }));
        let left_over: Vec<RunId> = left_over.map(|(run, _)| *run).collect();
        self.note_machine(machine, format_args!("agent starts"));
        for run in left_over {
            self.kill_left_over_soon(machine, run);
        }
        self.dial_later(machine, Span(1));
    }

    pub(super) fn reboot(&mut self, machine: usize) -> Verdict {
        if !self.machines[machine].up {
            return Ok(());
        }
        self.tally.reboots += 1;
        self.note_machine(machine, format_args!("reboots"));
        self.power_off(machine)?;
        let at = self.now + Span(self.dice.scale(1000, 40_000));
        self.agenda.at(at, Happening::MachineStarts { machine });
        Ok(())
    }

    /// Another machine takes its place: the run directories are gone, and so may be the GPUs.
    pub(super) fn replace(&mut self, machine: usize) -> Verdict {
        if self.machines[machine].destroyed {
            return Ok(());
        }
        self.tally.replacements += 1;
        self.note_machine(machine, format_args!("is replaced by another machine"));
        self.power_off(machine)?;
        self.machines[machine].logs.clear();
        for run in std::mem::take(&mut self.machines[machine].dirs).into_keys() {
            self.oracle.directory_wiped(run, machine);
        }
        if self.dice.chance(500) {
            self.serial_number += 1;
            for card in &mut self.machines[machine].cards {
                card.renew(self.serial_number);
            }
        }
        let at = self.now + Span(self.dice.scale(1000, 40_000));
        self.agenda.at(at, Happening::MachineStarts { machine });
        Ok(())
    }

    pub(super) fn destroy(&mut self, machine: usize) -> Verdict {
        self.tally.destructions += 1;
        self.note_machine(machine, format_args!("is destroyed"));
        self.power_off(machine)?;
        self.machines[machine].destroyed = true;
        for run in std::mem::take(&mut self.machines[machine].dirs).into_keys() {
            self.oracle.directory_wiped(run, machine);
        }
        Ok(())
    }

    fn power_off(&mut self, machine: usize) -> Verdict {
        if self.machines[machine].agent_up {
            self.agent_ends(machine);
        }
        self.machines[machine].up = false;
        let ended_at = self.machines[machine].clock(self.now);
        let dirs = &self.machines[machine].dirs;
        let unfinished = dirs.iter().filter(|(_, dir)| !matches!(dir.stage, Stage::Ended(_)));
        let unfinished: Vec<RunId> = unfinished.map(|(run, _)| *run).collect();
        for run in unfinished {
            let exit = Exit::Vanished { rebooted: true };
            let ending = Ending::new(exit, ended_at);
            self.run_ends(machine, run, ending)?;
        }
        Ok(())
    }

    pub(super) fn machine_starts(&mut self, machine: usize) {
        let it = &mut self.machines[machine];
        if !it.up && !it.destroyed {
            it.up = true;
            self.note_machine(machine, format_args!("is up again"));
            self.agent_starts(machine);
        }
    }
}
