//! The event queue of the simulation, in the order of simulated time.

use super::client::Ticket;
use super::connection::End;
use super::engine_actions::Answer;
use danlu_core::{Input, NodeMessage, RunId, SessionId, Time};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) enum Happening {
    /// The engine takes a batch from its inbox.
    Batch,
    /// The moment the core asked to be woken at.
    Timer {
        number: u64,
    },
    DaemonStarts,
    /// A commit that took long is done.
    CommitEnds {
        life: u64,
    },
    /// The operator has read that scheduling is paused.
    QueueResumed {
        life: u64,
    },

    Deliver {
        session: SessionId,
        to: End,
    },
    CutNoticed {
        session: SessionId,
        by: End,
    },
    Dial {
        machine: usize,
    },
    SendAgain {
        machine: usize,
        session: SessionId,
        message: Box<NodeMessage>,
    },

    AgentStarts {
        machine: usize,
    },
    MachineStarts {
        machine: usize,
    },
    ProcessStarts {
        machine: usize,
        run: RunId,
    },
    ProcessEnds {
        machine: usize,
        run: RunId,
    },
    StopEnds {
        machine: usize,
        run: RunId,
    },
    LeftOverKilled {
        machine: usize,
        run: RunId,
    },
    MemoryFreed {
        machine: usize,
    },
    MachineWell {
        machine: usize,
    },
    GpusProbed {
        machine: usize,
    },
    GpuHeals {
        machine: usize,
        card: usize,
    },
    PartitionHeals {
        machine: usize,
    },

    ClientActs {
        client: usize,
    },
    RequestArrives {
        ticket: Ticket,
        input: Box<Input>,
    },
    AnswerArrives {
        ticket: Ticket,
        answer: Answer,
    },
    ClientTimesOut {
        ticket: Ticket,
    },

    Backup,
    FaultStrikes,
    FaultsEnd,
    /// The operator puts things in order and looks whether all is at rest.
    Tidy,
    SubmitSmallTasks,
    Rested,
}

/// Things that happen at the same moment happen in the order in which they were put in.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    entries: BTreeMap<(Time, u64), Happening>,
    count: u64,
}

impl Agenda {
    pub(super) fn at(&mut self, time: Time, happening: Happening) {
        self.count += 1;
        self.entries.insert((time, self.count), happening);
    }

    pub(super) fn next(&mut self) -> Option<(Time, Happening)> {
        self.entries.pop_first().map(|((time, _), happening)| (time, happening))
    }
}
