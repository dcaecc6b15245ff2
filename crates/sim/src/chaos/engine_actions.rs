//! Carries out what the engine has done: commits reach the disk, answers the clients, effects the machines.

use super::agenda::Happening;
use super::client::Ticket;
use super::connection::End;
use super::disk::Written;
use super::engine_driver::{Decision, InboxMessage, Turn};
use super::fake_outside::{Notes, Order};
use super::faults::Fault;
use super::verdict::Verdict;
use super::world::World;
use danlu_core::{Effect, Event, NodeId, NodeMessage, Row, RowKey, Span};
use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) enum EngineAction {
    Commit(Commit),
    /// Readers see these changes, or all of it anew.
    Publish(BTreeMap<RowKey, Option<Row>>),
    PublishAll(BTreeMap<RowKey, Row>),
    Answer(Option<Ticket>, Answer),
    Effect(Box<Effect>, Option<Box<Order>>),
    /// It could not be carried out.
    Lost(Box<Effect>),
    Reconnect(Option<NodeId>),
}

#[derive(Debug)]
pub(super) struct Commit {
    pub(super) written: Written,
    pub(super) events: Vec<Event>,
    pub(super) turns: Vec<Turn>,
    pub(super) notes: Notes,
}

/// What a client hears.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Decided(Decision),
    /// Nothing has changed.
    InternalError,
    Unavailable,
}

impl EngineAction {
    pub(super) fn is_commit(&self) -> bool {
        matches!(self, EngineAction::Commit(_))
    }
}

impl World {
    /// In the order in which the engine did it; a crash may come between any two.
    pub(super) fn play(&mut self, acts: Vec<EngineAction>) -> Verdict {
        let mut crash_in = None;
        let mut left = acts.len();
        for act in acts {
            if crash_in == Some(0) {
                break;
            }
            left -= 1;
            crash_in = crash_in.map(|left| left - 1);
            match act {
                EngineAction::Commit(commit) => {
                    if self.strikes(Fault::CrashBeforeCommit) {
                        self.tally.crashes_before_commit += 1;
                        self.daemon_crashes("before the commit");
                        return Ok(());
                    }
                    self.committed(commit)?;
                    if self.strikes(Fault::CrashAfterCommit) {
                        crash_in = Some(self.dice.index(left + 1));
                        let at_once = u64::from(crash_in == Some(0));
                        self.tally.crashes_after_commit += at_once;
                        self.tally.crashes_in_effects += 1 - at_once;
                    }
                }
                EngineAction::Publish(rows) => self.daemon.readers.publish(rows),
                EngineAction::PublishAll(rows) => self.daemon.readers.publish_all(rows),
                EngineAction::Answer(caller, answer) => {
                    self.oracle.answer_is_true(caller, &answer)?;
                    if let Some(ticket) = caller {
                        self.answer(ticket, answer);
                    }
                }
                EngineAction::Effect(effect, order) => {
                    self.oracle.effect_is_decided(&effect)?;
                    if let Some(order) = order {
                        self.oracle.order_is_built(*order, &self.disk)?;
                    }
                    self.send_to_agent(*effect);
                }
                EngineAction::Lost(effect) => self.oracle.effect_is_decided(&effect)?,
                EngineAction::Reconnect(node) => self.reconnect(node),
            }
        }
        if crash_in.is_some() {
            self.daemon_crashes("after the commit");
        }
        Ok(())
    }

    fn committed(&mut self, commit: Commit) -> Verdict {
        let Commit { written, events, turns, notes } = commit;
        self.tally.retired += written.retired.len() as u64;
        self.disk.commit(written);
        self.tally.commits += 1;
        self.daemon.restored = false;
        if let Some(Row::Ledger(ledger)) = self.disk.tables.rows.get(&RowKey::Ledger) {
            self.daemon.ids_from = self.daemon.ids_from.max(ledger.next_task.0);
        }
        self.oracle.decided_as_committed(&turns, &events)?;
        self.oracle.committed(&turns, &self.disk, self.daemon.epoch)?;
        self.count(&turns);
        if self.dice.chance(20) {
            self.rows_are_the_whole_state()?;
        }
        if notes.pauses() {
            self.tally.scheduling_paused += 1;
            let at = self.now + Span(self.dice.scale(500, 20_000));
            let life = self.daemon.life;
            self.agenda.at(at, Happening::QueueResumed { life });
        }
        self.tally.distrusted += notes.distrusts();
        Ok(())
    }

    pub(super) fn queue_resumed(&mut self, life: u64) {
        if life == self.daemon.life {
            self.note("operator", format_args!("resumes scheduling"));
            self.post_message(InboxMessage::Resume);
            // The commit of that may fail.
            if self.daemon.hooks.scheduling_paused {
                let at = self.now + self.dice.span(2000, 10_000);
                self.agenda.at(at, Happening::QueueResumed { life });
            }
        }
    }

    /// New connections to one machine, or to all.
    fn reconnect(&mut self, node: Option<NodeId>) {
        let wanted = |it: &NodeId| node.is_none_or(|node| node == *it);
        let nodes: Vec<NodeId> = self.daemon.lines.keys().copied().filter(wanted).collect();
        for node in nodes {
            if let Some(session) = self.daemon.lines.remove(&node) {
                self.cut(session, Some(End::Daemon));
                self.post_from_node(node, session, NodeMessage::Lost);
            }
        }
    }
}
