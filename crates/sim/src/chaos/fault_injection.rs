//! Injects faults at random times, and ends the fault phase.

use super::agenda::Happening;
use super::connection::End;
use super::disk::Backup;
use super::faults::Fault;
use super::verdict::Verdict;
use super::world::World;
use danlu_core::Span;

const DAY: u64 = 86_400_000;

impl World {
    /// Whether a fault happens now. None does after the fault phase.
    pub(super) fn strikes(&mut self, fault: Fault) -> bool {
        self.faults_on && self.mix.strikes(fault, &mut self.dice)
    }

    pub(super) fn next_fault(&mut self) {
        if !self.mix.is_faultless() {
            let at = self.now + self.dice.span(1, self.mix.pace.0 * 2);
            self.agenda.at(at, Happening::FaultStrikes);
        }
    }

    pub(super) fn fault_strikes(&mut self) -> Verdict {
        if !self.faults_on {
            return Ok(());
        }
        let machine = self.dice.index(self.machines.len());
        match self.mix.choose(&mut self.dice) {
            Some(Fault::Cut) => self.cut_some_connection(),
            Some(Fault::Partition) => self.partition(machine),
            Some(Fault::CrashIdle) if self.daemon.alive => {
                self.tally.crashes_idle += 1;
                self.daemon_crashes("between two batches");
            }
            Some(Fault::Restore) => {
                let backup = self.dice.pick(self.disk.backups());
                self.restore(backup, "a backup is restored");
            }
            Some(Fault::LostStore) => {
                self.tally.lost_stores += 1;
                let beginning = self.disk.beginning();
                self.restore(beginning, "the store is lost and set up again");
            }
            Some(Fault::Unfit) => self.become_unfit(machine),
            Some(Fault::ClockJump) => self.jump_clock(machine),
            Some(Fault::AgentCrash) => self.agent_crashes(machine),
            Some(Fault::Reboot) => self.reboot(machine)?,
            Some(Fault::Replace) => self.replace(machine)?,
            Some(Fault::ShimKill) => self.kill_shim(machine),
            Some(Fault::GpuRenumber) => self.renumber_gpus(machine),
            Some(
                fault @ (Fault::GpuVanish
                | Fault::ProbeError
                | Fault::Foreign
                | Fault::Dirty
                | Fault::Broken),
            ) => {
                self.trouble_gpu(machine, fault);
            }
            Some(Fault::MemoryShort) => self.fill_memory(machine),
            _ => {}
        }
        self.next_fault();
        Ok(())
    }

    fn cut_some_connection(&mut self) {
        let open = self.network.open_at(End::Daemon);
        if let Some(session) = self.dice.pick(&open) {
            self.tally.cuts += 1;
            self.cut(session, None);
        }
    }

    fn partition(&mut self, machine: usize) {
        self.tally.partitions += 1;
        self.machines[machine].partitioned = true;
        self.note_machine(machine, format_args!("cannot be reached"));
        if let Some(session) = self.machines[machine].link {
            self.cut(session, None);
        }
        let at = self.now + Span(self.dice.scale(500, 40_000));
        self.agenda.at(at, Happening::PartitionHeals { machine });
    }

    fn jump_clock(&mut self, machine: usize) {
        self.tally.clock_jumps += 1;
        let by = i64::try_from(self.dice.scale(100, 3 * DAY)).unwrap_or(0);
        let by = if self.dice.chance(500) { by } else { -by };
        if self.dice.chance(300) {
            self.machines[machine].clock_offset += by;
            self.note_machine(machine, format_args!("the clock jumps by {by}ms"));
        } else {
            self.daemon.clock_offset += by;
            self.note("daemon", format_args!("the clock jumps by {by}ms"));
        }
    }

    pub(super) fn backup(&mut self) {
        if self.mix.has(Fault::Restore) && self.faults_on {
            self.note("disk", format_args!("a backup is taken"));
            self.disk.back_up(self.oracle.record.clone());
            let at = self.now + Span(self.dice.scale(1000, 60_000));
            self.agenda.at(at, Happening::Backup);
        }
    }

    /// An operator restores an old copy of the store, which begins a new epoch.
    fn restore(&mut self, backup: Option<Backup>, how: &str) {
        let Some(backup) = backup else {
            return;
        };
        if self.daemon.alive {
            self.daemon_crashes("to have a backup restored");
        }
        self.tally.restores += 1;
        self.daemon.epoch.0 += 1;
        let epoch = self.daemon.epoch;
        self.daemon.restored = true;
        self.note("disk", format_args!("{how}: epoch {epoch}"));
        let undone = self.oracle.record.task_count().saturating_sub(backup.record.task_count());
        self.tally.rewound_tasks += undone as u64;
        self.disk.restore(&backup);
        self.oracle.rewind(backup.record);
    }

    /// All faults end. What is broken is mended soon, except what is lost for good.
    pub(super) fn faults_end(&mut self) -> Verdict {
        self.note("world", format_args!("faults end"));
        let doomed = self.mix.has(Fault::Destroy) && self.machines.len() > 1;
        if doomed {
            let machine = self.dice.index(self.machines.len());
            self.destroy(machine)?;
        }
        self.faults_on = false;
        self.network.latency = self.network.latency.min(100);
        for machine in 0..self.machines.len() {
            let at = self.now + self.dice.span(0, 5000);
            self.agenda.at(at, Happening::PartitionHeals { machine });
            self.agenda.at(at, Happening::MemoryFreed { machine });
            self.agenda.at(at, Happening::MachineWell { machine });
            for card in 0..self.machines[machine].cards.len() {
                self.agenda.at(at, Happening::GpuHeals { machine, card });
            }
        }
        self.agenda.at(self.now + Span(5000), Happening::Tidy);
        // Keeping a large cluster busy takes too many small tasks.
        if self.gpu_count() <= 12 && self.dice.chance(200) {
            self.start_small_tasks();
        }
        Ok(())
    }
}
