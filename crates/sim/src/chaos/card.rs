//! The GPUs of a machine, and what can happen to them.

use super::agenda::Happening;
use super::faults::Fault;
use super::machine::Machine;
use super::world::World;
use danlu_core::gpu::{ForeignProcess, GpuCondition, GpuReport};
use danlu_core::{GpuId, NodeMessage, Span};

#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: GpuId,
    pub(super) index: u32,
    pub(super) model: &'static str,
    pub(super) memory: u64,
    trouble: Option<Trouble>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Vanished,
    ProbeFails,
    Dirty,
    Foreign { pid: u32 },
}

impl Card {
    pub(super) fn new(id: String, index: u32, model: &'static str, memory: u64) -> Card {
        Card { id: GpuId(id.into()), index, model, memory, trouble: None }
    }

    /// Another piece of the same kind.
    pub(super) fn renew(&mut self, serial: u64) {
        self.id = GpuId(format!("{}#{serial}", self.id.0.split('#').next().unwrap_or("")).into());
    }

    fn report(&self) -> Option<GpuReport> {
        let condition = match self.trouble {
            None => GpuCondition::Idle,
            Some(Trouble::Vanished) => return None,
            Some(Trouble::ProbeFails) => GpuCondition::Unknown,
            Some(Trouble::Dirty) => GpuCondition::Dirty,
            Some(Trouble::Foreign { pid }) => {
                let process = ForeignProcess { pid, user: "somebody".to_owned() };
                GpuCondition::Foreign { processes: vec![process] }
            }
        };
        Some(GpuReport {
            id: self.id.clone(),
            index: self.index,
            model: self.model.to_owned(),
            memory: self.memory,
            condition,
        })
    }
}

impl Machine {
    pub(super) fn gpu_reports(&self) -> Vec<GpuReport> {
        let mut reports: Vec<GpuReport> = self.cards.iter().filter_map(Card::report).collect();
        reports.sort_by_key(|gpu| gpu.index);
        reports
    }
}

impl World {
    pub(super) fn trouble_gpu(&mut self, machine: usize, fault: Fault) {
        let card = self.dice.index(self.machines[machine].cards.len());
        let trouble = match fault {
            Fault::GpuVanish => Trouble::Vanished,
            Fault::ProbeError => Trouble::ProbeFails,
            Fault::Dirty => Trouble::Dirty,
            _ => Trouble::Foreign { pid: 4000 },
        };
        match trouble {
            Trouble::Vanished => self.tally.gpus_vanished += 1,
            Trouble::ProbeFails => self.tally.probe_errors += 1,
            Trouble::Dirty => self.tally.dirty += 1,
            Trouble::Foreign { .. } => self.tally.foreign_processes += 1,
        }
        let it = &mut self.machines[machine].cards[card];
        it.trouble = Some(trouble);
        let id = it.id.clone();
        self.note_machine(machine, format_args!("gpu {id}: {trouble:?}"));
        let at = self.now + Span(self.dice.scale(500, 30_000));
        self.agenda.at(at, Happening::GpuHeals { machine, card });
        self.probe_soon(machine);
    }

    pub(super) fn renumber_gpus(&mut self, machine: usize) {
        let cards = &mut self.machines[machine].cards;
        let mut numbers: Vec<u32> = cards.iter().map(|card| card.index).collect();
        self.dice.shuffle(&mut numbers);
        for (card, index) in cards.iter_mut().zip(numbers) {
            card.index = index;
        }
        self.tally.gpus_renumbered += 1;
        self.note_machine(machine, format_args!("gpus are renumbered"));
        self.probe_soon(machine);
    }

    pub(super) fn gpu_heals(&mut self, machine: usize, card: usize) {
        if self.machines[machine].cards[card].trouble.take().is_some() {
            self.probe_soon(machine);
        }
    }

    fn probe_soon(&mut self, machine: usize) {
        let at = self.now + self.dice.span(0, 1000);
        self.agenda.at(at, Happening::GpusProbed { machine });
    }

    pub(super) fn gpus_probed(&mut self, machine: usize) {
        if self.machines[machine].agent_up {
            let gpus = self.machines[machine].gpu_reports();
            self.send_to_daemon(machine, NodeMessage::Gpus(gpus));
        }
    }
}
