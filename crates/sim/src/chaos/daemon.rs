//! The engine: takes inputs in batches, steps the core, commits, answers, carries out effects.
//!
//! It can crash between any two of these, and does.

use super::agenda::Happening;
use super::client::Ticket;
use super::connection::End;
use super::faults::Fault;
use super::inspect::{changed_rows_are_named, rows_of};
use super::turns::{classes_are_kept, quotas_are_kept};
use super::verdict::{Verdict, Violation, ensure};
use super::world::World;
use danlu_core::{
    Effect, Epoch, Input, NodeId, NodeMessage, Refusal, Reply, SessionId, Span, State, Step, Time,
    step,
};
use std::collections::{BTreeMap, VecDeque};

pub(super) type Answer = Result<Reply, Refusal>;

#[derive(Debug)]
pub(super) struct Daemon {
    /// Grows with every crash: what belongs to an earlier life of the process is gone.
    pub(super) life: u64,
    pub(super) alive: bool,
    /// `None` while the engine has not booted.
    pub(super) state: Option<State>,
    pub(super) inbox: VecDeque<Letter>,
    batch_due: bool,
    timer: u64,
    /// What its clock shows beyond the true time.
    pub(super) clock_offset: i64,
    /// The backend's current connection to each node.
    pub(super) lines: BTreeMap<NodeId, SessionId>,
    pub(super) epoch: Epoch,
    /// The store is behind what was acknowledged, and nobody has booted from it yet.
    pub(super) restored: bool,
    /// Noted beside the store: no task id below this is free.
    ids_from: u64,
}

#[derive(Debug)]
pub(super) struct Letter {
    pub(super) input: Input,
    pub(super) from: Option<Ticket>,
}

/// One input and what the core made of it.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) input: Input,
    pub(super) from: Option<Ticket>,
    pub(super) step: Step,
}

enum Deed {
    Answer(Ticket, Answer),
    Effect(Effect),
}

impl Daemon {
    pub(super) fn new() -> Daemon {
        Daemon {
            life: 0,
            alive: false,
            state: None,
            inbox: VecDeque::new(),
            batch_due: false,
            timer: 0,
            clock_offset: 0,
            lines: BTreeMap::new(),
            epoch: Epoch(1),
            restored: false,
            ids_from: 0,
        }
    }
}

impl World {
    pub(super) fn daemon_clock(&self) -> Time {
        Time(self.now.0 + self.daemon.clock_offset)
    }

    pub(super) fn post(&mut self, input: Input, from: Option<Ticket>) {
        if self.daemon.alive {
            self.daemon.inbox.push_back(Letter { input, from });
            self.wake_engine();
        }
    }

    pub(super) fn post_from_node(
        &mut self,
        node: NodeId,
        session: SessionId,
        message: NodeMessage,
    ) {
        self.post(Input::Node { node, session, message }, None);
    }

    fn wake_engine(&mut self) {
        if self.daemon.state.is_some() && !self.daemon.batch_due && !self.daemon.inbox.is_empty() {
            self.daemon.batch_due = true;
            let at = self.now + self.dice.span(0, 30);
            self.agenda.at(at, Happening::Batch);
        }
    }

    pub(super) fn daemon_starts(&mut self) -> Verdict {
        if self.daemon.state.is_some() {
            return Ok(());
        }
        self.daemon.alive = true;
        let epoch = self.daemon.epoch;
        self.note("daemon", format_args!("starts in epoch {epoch}"));
        self.oracle.disk_is_complete(&self.disk)?;
        let mut state = State::from_rows(self.disk.rows.values().cloned())
            .map_err(|error| Violation(format!("the store cannot be read: {error}")))?;
        let (restored, ids_from) = (self.daemon.restored, self.daemon.ids_from);
        let boot = Letter { input: Input::Boot { epoch, restored, ids_from }, from: None };
        let turn = self.turn(&mut state, boot)?;
        self.settle(state, vec![turn])?;
        self.wake_engine();
        Ok(())
    }

    pub(super) fn batch(&mut self) -> Verdict {
        self.daemon.batch_due = false;
        let limit = usize::try_from(self.dice.scale(1, 32)).unwrap_or(1);
        let count = limit.min(self.daemon.inbox.len());
        if count == 0 || self.daemon.state.is_none() {
            return Ok(());
        }
        let letters: Vec<Letter> = self.daemon.inbox.drain(..count).collect();
        self.process(letters)?;
        self.wake_engine();
        Ok(())
    }

    pub(super) fn timer(&mut self, number: u64) -> Verdict {
        if number == self.daemon.timer { self.process(Vec::new()) } else { Ok(()) }
    }

    fn process(&mut self, mut letters: Vec<Letter>) -> Verdict {
        let Some(mut state) = self.daemon.state.take() else {
            return Ok(());
        };
        letters.push(Letter { input: Input::Schedule, from: None });
        let mut turns = Vec::with_capacity(letters.len());
        for letter in letters {
            turns.push(self.turn(&mut state, letter)?);
        }
        if self.dice.chance(100) {
            self.every_waiting_task_is_explained(&state)?;
        }
        self.settle(state, turns)
    }

    fn turn(&mut self, state: &mut State, letter: Letter) -> Verdict<Turn> {
        let Letter { input, from } = letter;
        let before = self.dice.chance(60).then(|| rows_of(state));
        let now = self.daemon_clock();
        let step = step(state, input.clone(), now);
        self.tally.steps += 1;
        self.note_turn(&input, &step);
        // An index that is out of step stays so: one look in a while finds it.
        let checked = match self.tally.steps % 16 {
            0 => state.check(),
            _ => state.check_rows(),
        };
        if let Err(broken) = checked {
            return Err(Violation(format!("an invariant is broken: {broken}")));
        }
        if let Err(refusal) = &step.reply {
            let silent = step.events.is_empty() && step.effects.is_empty();
            ensure!(silent, "a refusal ({refusal}) had consequences: {:?}", step.events);
        }
        if input == Input::Schedule {
            classes_are_kept(state, &step.events, now)?;
            quotas_are_kept(state, &step.events)?;
        }
        if let Some(before) = before {
            changed_rows_are_named(&before, &rows_of(state), &step.events)?;
        }
        Ok(Turn { input, from, step })
    }

    /// Make a batch durable, then act on it.
    fn settle(&mut self, state: State, turns: Vec<Turn>) -> Verdict {
        if self.strikes(Fault::CrashBeforeCommit) {
            self.tally.crashes_before_commit += 1;
            self.daemon_crashes("before the commit");
            return Ok(());
        }
        if self.strikes(Fault::CommitFailure) {
            self.commit_fails();
            return Ok(());
        }
        self.disk.commit(&state, turns.iter().flat_map(|turn| &turn.step.events));
        self.tally.commits += 1;
        self.daemon.restored = false;
        self.daemon.ids_from = self.daemon.ids_from.max(state.ledger.next_task.0);
        self.oracle.committed(&turns, &self.disk, self.daemon.epoch, self.daemon_clock())?;
        self.count(&turns);
        if self.dice.chance(20) {
            self.rows_are_the_whole_state(&state)?;
        }
        self.daemon.state = Some(state);
        self.carry_out(turns);
        self.hang_up_on_removed_nodes();
        self.set_timer();
        Ok(())
    }

    /// The engine throws its state away and boots again from what is on disk. The process lives.
    fn commit_fails(&mut self) {
        self.tally.commit_failures += 1;
        self.note("daemon", format_args!("a commit fails; the engine boots again"));
        self.daemon.timer += 1;
        for (node, session) in std::mem::take(&mut self.daemon.lines) {
            self.cut(session, Some(End::Daemon));
            self.post_from_node(node, session, NodeMessage::Lost);
        }
        let at = self.now + self.dice.span(0, 2000);
        self.agenda.at(at, Happening::DaemonStarts);
    }

    pub(super) fn daemon_crashes(&mut self, when: &str) {
        self.note("daemon", format_args!("crashes {when}"));
        self.daemon.alive = false;
        self.daemon.life += 1;
        self.daemon.state = None;
        self.daemon.inbox.clear();
        self.daemon.batch_due = false;
        self.daemon.timer += 1;
        self.daemon.lines.clear();
        for session in self.network.open_at(End::Daemon) {
            self.cut(session, Some(End::Daemon));
        }
        let at = self.now + Span(self.dice.scale(50, 20_000));
        self.agenda.at(at, Happening::DaemonStarts);
    }

    /// Answers first, then effects; a crash may come after any of them.
    fn carry_out(&mut self, turns: Vec<Turn>) {
        let mut deeds = Vec::new();
        let mut effects = Vec::new();
        for Turn { from, step, .. } in turns {
            deeds.extend(from.map(|ticket| Deed::Answer(ticket, step.reply)));
            effects.extend(step.effects.into_iter().map(Deed::Effect));
        }
        deeds.append(&mut effects);
        let crash_after =
            self.strikes(Fault::CrashAfterCommit).then(|| self.dice.index(deeds.len() + 1));
        for deed in deeds.into_iter().take(crash_after.unwrap_or(usize::MAX)) {
            match deed {
                Deed::Answer(ticket, answer) => self.answer(ticket, answer),
                Deed::Effect(effect) => self.send_to_agent(effect),
            }
        }
        match crash_after {
            None => {}
            Some(0) => {
                self.tally.crashes_after_commit += 1;
                self.daemon_crashes("after the commit, before any answer");
            }
            Some(done) => {
                self.tally.crashes_in_effects += 1;
                self.daemon_crashes(&format!("after {done} answers and effects"));
            }
        }
    }

    fn set_timer(&mut self) {
        self.daemon.timer += 1;
        let clock = self.daemon_clock();
        let Some(state) = &self.daemon.state else {
            return;
        };
        if let Some(wake_at) = state.wake_at(clock) {
            let at = self.now + Span(wake_at.since(clock).0.max(1)) + self.dice.span(1, 20);
            self.agenda.at(at, Happening::Timer { number: self.daemon.timer });
        }
    }

    fn hang_up_on_removed_nodes(&mut self) {
        let Some(state) = &self.daemon.state else {
            return;
        };
        let known = |node: &NodeId| state.nodes.contains_key(node);
        let gone: Vec<NodeId> =
            self.daemon.lines.keys().filter(|node| !known(node)).copied().collect();
        for node in gone {
            if let Some(session) = self.daemon.lines.remove(&node) {
                self.cut(session, Some(End::Daemon));
            }
        }
    }
}
