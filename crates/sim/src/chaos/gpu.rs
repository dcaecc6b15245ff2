//! The GPUs of a simulated machine, and their faults.

use super::agenda::Happening;
use super::faults::Fault;
use super::machine::SimMachine;
use super::world::World;
use danlu_core::gpu::{ForeignProcess, GpuCondition, GpuReport, GpuUsage, RunMemory};
use danlu_core::{GpuId, NodeMessage, Span, Time, Trouble, TroubleKind};
use std::collections::BTreeSet;

#[derive(Debug)]
pub(super) struct SimGpu {
    pub(super) id: GpuId,
    pub(super) index: u32,
    pub(super) model: &'static str,
    pub(super) memory: u64,
    trouble: Option<GpuFault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GpuFault {
    Vanished,
    ProbeFails,
    Dirty,
    Foreign { pid: u32 },
    Broken,
}

impl SimGpu {
    pub(super) fn new(id: String, index: u32, model: &'static str, memory: u64) -> SimGpu {
        SimGpu { id: GpuId(id.into()), index, model, memory, trouble: None }
    }

    /// The same, as another name of its machine shows it.
    pub(super) fn again(&self) -> SimGpu {
        SimGpu { trouble: None, id: self.id.clone(), ..*self }
    }

    /// Another piece of the same kind.
    pub(super) fn renew(&mut self, serial: u64) {
        self.id = GpuId(format!("{}#{serial}", self.id.0.split('#').next().unwrap_or("")).into());
    }

    /// `beside`: a process of another name of the machine is on it, which is foreign to this one.
    fn report(&self, runs: Vec<RunMemory>, beside: bool) -> Option<GpuReport> {
        let condition = match self.trouble {
            None | Some(GpuFault::Broken) if beside => {
                let process = ForeignProcess { pid: 5000, user: "other name".to_owned() };
                GpuCondition::Foreign { processes: vec![process] }
            }
            None | Some(GpuFault::Broken) => GpuCondition::Idle,
            Some(GpuFault::Vanished) => return None,
            Some(GpuFault::ProbeFails) => GpuCondition::Unknown,
            Some(GpuFault::Dirty) => GpuCondition::Dirty,
            Some(GpuFault::Foreign { pid }) => {
                let process = ForeignProcess { pid, user: "somebody".to_owned() };
                GpuCondition::Foreign { processes: vec![process] }
            }
        };
        // Every other foreign process reports its memory use.
        let other_memory = match self.trouble {
            Some(GpuFault::Foreign { pid }) if pid % 2 == 0 => None,
            Some(GpuFault::Foreign { .. }) => Some(self.memory / 2),
            None | Some(GpuFault::Broken) if beside => None,
            _ => Some(0),
        };
        Some(GpuReport {
            condition,
            runs,
            usage: GpuUsage { other_memory, busy: 0 },
            broken: (self.trouble == Some(GpuFault::Broken)).then(|| "Xid 79".to_owned()),
            ..GpuReport::new(self.id.clone(), self.index, self.model, self.memory)
        })
    }
}

impl SimMachine {
    pub(super) fn gpu_reports(&self, now: Time, beside: &BTreeSet<GpuId>) -> Vec<GpuReport> {
        let used = |card: &SimGpu| {
            let here = self.dirs.iter().filter(|(_, dir)| dir.launch.gpus.contains(&card.id));
            let runs = here
                .filter_map(|(run, dir)| Some(RunMemory { run: *run, peak: dir.gpu_memory(now)? }));
            runs.collect()
        };
        let cards = self.cards.iter();
        let reports = cards.filter_map(|card| card.report(used(card), beside.contains(&card.id)));
        let mut reports: Vec<GpuReport> = reports.collect();
        reports.sort_by_key(|gpu| gpu.index);
        reports
    }
}

impl World {
    pub(super) fn trouble_gpu(&mut self, machine: usize, fault: Fault) {
        let card = self.dice.index(self.machines[machine].cards.len());
        let trouble = match fault {
            Fault::GpuVanish => GpuFault::Vanished,
            Fault::ProbeError => GpuFault::ProbeFails,
            Fault::Dirty => GpuFault::Dirty,
            Fault::Broken => GpuFault::Broken,
            _ => GpuFault::Foreign { pid: 4000 + u32::try_from(self.dice.below(2)).unwrap_or(0) },
        };
        match trouble {
            GpuFault::Vanished => self.tally.gpus_vanished += 1,
            GpuFault::ProbeFails => self.tally.probe_errors += 1,
            GpuFault::Dirty => self.tally.dirty += 1,
            GpuFault::Broken => self.tally.broken += 1,
            GpuFault::Foreign { .. } => self.tally.foreign_processes += 1,
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

    /// A foreign program takes the machine's memory for a while.
    pub(super) fn fill_memory(&mut self, machine: usize) {
        self.tally.memory_short += 1;
        let it = &mut self.machines[machine];
        it.free_memory = it.capacity.memory / 10;
        self.note_machine(machine, format_args!("has little memory left"));
        self.tell_memory(machine);
        let at = self.now + Span(self.dice.scale(500, 30_000));
        self.agenda.at(at, Happening::MemoryFreed { machine });
    }

    pub(super) fn memory_freed(&mut self, machine: usize) {
        let it = &mut self.machines[machine];
        it.free_memory = it.capacity.memory;
        self.tell_memory(machine);
    }

    fn tell_memory(&mut self, machine: usize) {
        if self.machines[machine].agent_up {
            let free = self.machines[machine].free_memory;
            self.send_to_daemon(machine, NodeMessage::Memory { free });
        }
    }

    /// It cannot start anything for a while.
    pub(super) fn become_unfit(&mut self, machine: usize) {
        self.tally.unfit += 1;
        let kinds = [TroubleKind::DiskFull, TroubleKind::Descriptors, TroubleKind::Processes];
        let kind = self.dice.pick(&kinds).unwrap_or(TroubleKind::Other);
        self.note_machine(machine, format_args!("cannot start anything: {kind:?}"));
        self.machines[machine].trouble = Some(Trouble::new(kind, "no more of it"));
        // Some notice only when they are to start something.
        if self.dice.chance(500) {
            self.tell_fitness(machine);
        }
        let at = self.now + Span(self.dice.scale(500, 30_000));
        self.agenda.at(at, Happening::MachineWell { machine });
    }

    pub(super) fn machine_well(&mut self, machine: usize) {
        if self.machines[machine].trouble.take().is_some() {
            self.note_machine(machine, format_args!("is well again"));
            self.tell_fitness(machine);
        }
    }

    fn tell_fitness(&mut self, machine: usize) {
        if self.machines[machine].agent_up {
            let trouble = self.machines[machine].trouble.clone();
            self.send_to_daemon(machine, NodeMessage::Fitness { trouble });
        }
    }

    /// A run's memory grows: its GPUs are probed now and then.
    pub(super) fn watch_memory(&mut self, machine: usize, spans: impl Iterator<Item = Span>) {
        for span in spans {
            self.agenda.at(self.now + span, Happening::GpusProbed { machine });
        }
    }

    /// GPUs on which other names of this machine have processes.
    pub(super) fn used_beside(&self, machine: usize) -> BTreeSet<GpuId> {
        let others = self.other_names(machine).map(|other| &self.machines[other]);
        let alive = others.flat_map(|other| other.dirs.values()).filter(|dir| dir.is_alive());
        alive.flat_map(|dir| dir.launch.gpus.iter().cloned()).collect()
    }

    fn other_names(&self, machine: usize) -> impl Iterator<Item = usize> {
        let cards = &self.machines[machine].cards;
        let same =
            |other: &SimMachine| other.cards.iter().any(|it| cards.iter().any(|c| c.id == it.id));
        let all = self.machines.iter().enumerate();
        all.filter(move |(other, it)| *other != machine && same(it)).map(|(other, _)| other)
    }

    /// A process came or went: the other names of the machine see it too.
    pub(super) fn seen_beside(&mut self, machine: usize) {
        for other in self.other_names(machine).collect::<Vec<usize>>() {
            self.probe_soon(other);
        }
    }

    fn probe_soon(&mut self, machine: usize) {
        let at = self.now + self.dice.span(0, 1000);
        self.agenda.at(at, Happening::GpusProbed { machine });
    }

    pub(super) fn gpus_probed(&mut self, machine: usize) {
        if self.machines[machine].agent_up {
            let beside = self.used_beside(machine);
            let gpus = self.machines[machine].gpu_reports(self.now, &beside);
            self.send_to_daemon(machine, NodeMessage::Gpus(gpus));
        }
    }
}
