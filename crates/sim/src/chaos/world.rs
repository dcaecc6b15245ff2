//! One simulated cluster, and the loop that runs its events.

use super::agenda::{Agenda, Happening};
use super::client::Client;
use super::cluster::draw_machines;
use super::connection::Network;
use super::dice::Dice;
use super::disk::Disk;
use super::engine_driver::EngineDriver;
use super::faults::{Fault, Mix};
use super::history::History;
use super::machine::SimMachine;
use super::oracle::Oracle;
use super::tally::Tally;
use super::verdict::{Verdict, Violation};
use super::workload::Workload;
use danlu_core::{Actor, Input, NodeId, Row, RowKey, Settings, Span, TaskId, Time};
use std::fmt;

/// A simulation that is not at rest after this many events never will be.
const HAPPENINGS: u64 = 40_000;
/// Late enough that no clock is ever set back before the beginning of time.
pub(super) const BEGINNING: Time = Time::from_secs(1_000_000_000);

#[derive(Debug)]
pub(super) struct World {
    pub(super) now: Time,
    pub(super) dice: Dice,
    pub(super) agenda: Agenda,
    pub(super) mix: Mix,
    pub(super) workload: Workload,
    /// Faults happen and people meddle.
    pub(super) faults_on: bool,
    pub(super) faults_end_at: Time,
    /// Small tasks keep coming, under these settings.
    pub(super) small_tasks: Option<Settings>,
    pub(super) over: bool,
    pub(super) daemon: EngineDriver,
    pub(super) disk: Disk,
    pub(super) network: Network,
    pub(super) machines: Vec<SimMachine>,
    pub(super) clients: Vec<Client>,
    /// Tasks that were acknowledged.
    pub(super) everybodys: Vec<TaskId>,
    pub(super) keys_given: u64,
    pub(super) serial_number: u64,
    pub(super) oracle: Oracle,
    pub(super) history: History,
    pub(super) tally: Tally,
}

impl World {
    pub(super) fn new(seed: u64, history_lines: usize) -> World {
        let mut dice = Dice::new(seed);
        let mix = Mix::draw(&mut dice);
        let faults_last = Span(dice.scale(20_000, 240_000));
        let latency = if mix.has(Fault::SlowNetwork) { 4000 } else { dice.scale(1, 1000) };
        let machines = draw_machines(&mut dice);
        let gpus: usize = machines.iter().map(|machine| machine.cards.len()).sum();
        let workload = World::draw_workload(&mut dice, gpus as u64, faults_last);
        let users = dice.between(2, 4);
        let mut clients = vec![Client::new("admin".to_owned(), true)];
        clients.extend((0..users).map(|number| Client::new(format!("user{number}"), false)));
        World {
            now: BEGINNING,
            dice,
            agenda: Agenda::default(),
            mix,
            workload,
            faults_on: false,
            faults_end_at: BEGINNING + faults_last,
            small_tasks: None,
            over: false,
            daemon: EngineDriver::new(),
            disk: Disk::default(),
            network: Network::new(latency),
            machines,
            clients,
            everybodys: Vec::new(),
            keys_given: 0,
            serial_number: 0,
            oracle: Oracle::default(),
            history: History::new(BEGINNING, history_lines),
            tally: Tally { seeds: 1, ..Tally::default() },
        }
    }

    pub(super) fn run(&mut self) -> Verdict {
        self.set_up()?;
        let mut happenings = 0;
        while !self.over {
            let Some((time, happening)) = self.agenda.next() else {
                return Err(Violation("nothing happens any more".to_owned()));
            };
            self.now = time;
            self.happen(happening)?;
            happenings += 1;
            if happenings == HAPPENINGS {
                self.is_at_rest()?;
                return Err(Violation(format!("no rest after {HAPPENINGS} happenings")));
            }
        }
        self.tally.gpu_time_offered = self.now.since(BEGINNING).0 * self.gpu_count() as u64;
        Ok(())
    }

    pub(super) fn happen(&mut self, happening: Happening) -> Verdict {
        match happening {
            Happening::Batch => self.batch()?,
            Happening::Timer { number } => self.timer(number)?,
            Happening::DaemonStarts => self.daemon_starts()?,
            Happening::CommitEnds { life } => self.commit_ends(life)?,
            Happening::QueueResumed { life } => self.queue_resumed(life),
            Happening::Deliver { session, to } => self.deliver(session, to)?,
            Happening::CutNoticed { session, by } => self.cut_noticed(session, by),
            Happening::Dial { machine } => self.dial(machine),
            Happening::SendAgain { machine, session, message } => {
                self.send_again(machine, session, *message);
            }
            Happening::AgentStarts { machine } => self.agent_starts(machine),
            Happening::MachineStarts { machine } => self.machine_starts(machine),
            Happening::ProcessStarts { machine, run } => self.process_starts(machine, run)?,
            Happening::ProcessEnds { machine, run } => self.process_ends(machine, run)?,
            Happening::StopEnds { machine, run } => self.stop_ends(machine, run)?,
            Happening::LeftOverKilled { machine, run } => self.left_over_killed(machine, run)?,
            Happening::MemoryFreed { machine } => self.memory_freed(machine),
            Happening::MachineWell { machine } => self.machine_well(machine),
            Happening::GpusProbed { machine } => self.gpus_probed(machine),
            Happening::GpuHeals { machine, card } => self.gpu_heals(machine, card),
            Happening::PartitionHeals { machine } => self.machines[machine].partitioned = false,
            Happening::ClientActs { client } => self.client_acts(client)?,
            Happening::RequestArrives { ticket, input } => self.request_arrives(ticket, *input),
            Happening::AnswerArrives { ticket, answer } => self.answer_arrives(ticket, &answer),
            Happening::ClientTimesOut { ticket } => self.client_times_out(ticket),
            Happening::Backup => self.backup(),
            Happening::FaultStrikes => self.fault_strikes()?,
            Happening::FaultsEnd => self.faults_end()?,
            Happening::Tidy => self.tidy()?,
            Happening::SubmitSmallTasks => self.submit_small_tasks(),
            Happening::Rested => self.rested()?,
        }
        Ok(())
    }

    /// Before the first fault: the daemon is up and knows its users, nodes and settings.
    pub(super) fn set_up(&mut self) -> Verdict {
        self.tally.faultless_seeds = u64::from(self.mix.is_faultless());
        self.tally.shared_gpus = self.machines.iter().filter(|it| it.twin).count() as u64;
        self.history.note(self.now, "world", format_args!("{:?}", self.mix));
        self.daemon_starts()?;
        let by = Actor::Daemon;
        for machine in 0..self.machines.len() {
            let it = &self.machines[machine];
            let (name, labels) = (it.name.clone(), it.labels.clone());
            self.post(Input::AddNode { by, name, labels }, None);
            let span = self.dice.span(100, 1000);
            self.dial_later(machine, span);
        }
        let settings = self.draw_settings();
        self.post(Input::Configure { by, settings }, None);
        for client in 0..self.clients.len() {
            let (name, admin) = (self.clients[client].name.clone(), self.clients[client].admin);
            self.ask(client, Input::AddUser { by, name, admin });
        }
        while !self.clients.iter().all(|client| client.user.is_some()) {
            let Some((time, happening)) = self.agenda.next() else {
                return Err(Violation("the users cannot be added".to_owned()));
            };
            self.now = time;
            self.happen(happening)?;
        }
        self.faults_on = true;
        for client in 0..self.clients.len() {
            self.agenda.at(self.now, Happening::ClientActs { client });
        }
        self.agenda.at(self.now, Happening::Backup);
        self.disk.keep_beginning(self.oracle.record.clone());
        self.agenda.at(self.faults_end_at, Happening::FaultsEnd);
        self.next_fault();
        Ok(())
    }

    pub(super) fn note(&mut self, who: &str, what: fmt::Arguments<'_>) {
        self.history.note(self.now, who, what);
    }

    pub(super) fn gpu_count(&self) -> usize {
        self.machines.iter().map(|machine| machine.cards.len()).sum()
    }

    pub(super) fn machine_of(&self, node: NodeId) -> Option<usize> {
        let Some(Row::Node(node)) = self.disk.tables.rows.get(&RowKey::Node(node)) else {
            return None;
        };
        self.machines.iter().position(|machine| machine.name == node.name)
    }
}
