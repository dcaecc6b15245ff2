//! Drives the real engine as the daemon process does: its inbox, its timers, its crashes.
//!
//! The actions of the engine are first recorded (`fake_outside.rs`), then carried out (`engine_actions.rs`). The
//! process can crash between any two of them.

use super::agenda::Happening;
use super::client::Ticket;
use super::connection::End;
use super::engine_actions::EngineAction;
use super::fake_outside::Notes;
use super::faults::Fault;
use super::readers::Readers;
use super::verdict::{Verdict, Violation};
use super::world::World;
use danlu_core::{
    Epoch, Input, NodeId, NodeMessage, Refusal, Reply, Row, RowKey, SessionId, Span, State, Step,
    Time,
};
use danlu_engine::{Engine, Life, Message};
use std::collections::{BTreeMap, VecDeque};

/// So small that most arrays are added in several slices.
const ARRAY_SLICE: usize = 2;

pub(super) type Decision = Result<Reply, Refusal>;

#[derive(Debug)]
pub(super) struct EngineDriver {
    /// Grows with every crash: events of an earlier process are dropped.
    pub(super) life: u64,
    pub(super) alive: bool,
    /// `None` while the engine has not booted.
    engine: Option<Engine<World>>,
    pub(super) inbox: VecDeque<InboxMessage>,
    batch_due: bool,
    timer: u64,
    /// When the engine wants to be woken.
    due_at: Option<Time>,
    /// The offset of its clock from simulated time.
    pub(super) clock_offset: i64,
    /// The backend's current connection to each node.
    pub(super) lines: BTreeMap<NodeId, SessionId>,
    pub(super) epoch: Epoch,
    /// The store is older than what was acknowledged, and no boot from it has been committed yet.
    pub(super) restored: bool,
    /// Noted beside the store: no task id below this is free.
    pub(super) ids_from: u64,
    pub(super) readers: Readers,
    /// Actions of the engine that have not been carried out yet.
    pub(super) acts: Vec<EngineAction>,
    /// The commit takes long: the engine does nothing else until it is done.
    pub(super) busy: bool,
    /// Decided and not committed.
    pub(super) turns: Vec<Turn>,
    pub(super) hooks: Hooks,
}

/// State of the fake store, fleet and clock while the engine works.
#[derive(Debug, Default)]
pub(super) struct Hooks {
    /// The rows before a step, sometimes.
    pub(super) before: Option<BTreeMap<RowKey, Row>>,
    /// The step under way panics when it is done.
    pub(super) doomed: bool,
    /// This one panics the next time, too.
    pub(super) cursed: Option<Input>,
    pub(super) wake_cursed: bool,
    /// Nothing can be written until then.
    pub(super) broken_until: Time,
    pub(super) scheduling_paused: bool,
    pub(super) questions_answered: u64,
    pub(super) violation: Option<Violation>,
}

#[derive(Debug)]
pub(super) enum InboxMessage {
    /// From a client, or from the operator, who does not wait.
    Ask(Input, Option<Ticket>),
    Node(Input),
    /// The operator acknowledges that scheduling is paused.
    Resume,
}

/// One input and what the core made of it.
#[derive(Debug)]
pub(super) struct Turn {
    /// By the daemon's clock.
    pub(super) at: Time,
    pub(super) input: Input,
    pub(super) from: Option<Ticket>,
    pub(super) step: Step,
}

impl EngineDriver {
    pub(super) fn new() -> EngineDriver {
        EngineDriver {
            life: 0,
            alive: false,
            engine: None,
            inbox: VecDeque::new(),
            batch_due: false,
            timer: 0,
            due_at: None,
            clock_offset: 0,
            lines: BTreeMap::new(),
            epoch: Epoch(1),
            restored: false,
            ids_from: 0,
            readers: Readers::default(),
            acts: Vec::new(),
            busy: false,
            turns: Vec::new(),
            hooks: Hooks::default(),
        }
    }

    pub(super) fn serves(&self) -> bool {
        self.engine.is_some() && !self.busy
    }

    /// The engine's state; `None` while it is down or recovers.
    pub(super) fn state(&self) -> Option<&State> {
        self.engine.as_ref()?.state()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.inbox.is_empty() && !self.busy
    }
}

impl World {
    pub(super) fn daemon_clock(&self) -> Time {
        Time(self.now.0 + self.daemon.clock_offset)
    }

    pub(super) fn post(&mut self, input: Input, from: Option<Ticket>) {
        self.post_message(InboxMessage::Ask(input, from));
    }

    pub(super) fn post_from_node(
        &mut self,
        node: NodeId,
        session: SessionId,
        message: NodeMessage,
    ) {
        self.post_message(InboxMessage::Node(Input::Node { node, session, message }));
    }

    pub(super) fn post_message(&mut self, message: InboxMessage) {
        if self.daemon.alive {
            self.daemon.inbox.push_back(message);
            self.wake_engine();
        }
    }

    pub(super) fn wake_engine(&mut self) {
        let daemon = &mut self.daemon;
        let ready = daemon.engine.is_some() && !daemon.busy;
        if ready && !daemon.batch_due && !daemon.inbox.is_empty() {
            daemon.batch_due = true;
            let at = self.now + self.dice.span(0, 30);
            self.agenda.at(at, Happening::Batch);
        }
    }

    pub(super) fn daemon_starts(&mut self) -> Verdict {
        if self.daemon.engine.is_some() {
            return Ok(());
        }
        self.daemon.alive = true;
        let epoch = self.daemon.epoch;
        self.note("daemon", format_args!("starts in epoch {epoch}"));
        self.oracle.disk_is_complete(&self.disk)?;
        let (restored, ids_from) = (self.daemon.restored, self.daemon.ids_from);
        let life = Life { epoch, restored, ids_from, slice: ARRAY_SLICE };
        match Engine::start(self, life, Notes::default()) {
            Ok(engine) => {
                self.daemon.engine = Some(engine);
                self.work(|_, _| ())
            }
            Err(cause) => {
                self.no_violation()?;
                self.daemon_crashes(&format!("as it cannot start: {cause}"));
                Ok(())
            }
        }
    }

    pub(super) fn batch(&mut self) -> Verdict {
        self.daemon.batch_due = false;
        let limit = usize::try_from(self.dice.scale(1, 32)).unwrap_or(1);
        let count = limit.min(self.daemon.inbox.len());
        if count == 0 || self.daemon.engine.is_none() || self.daemon.busy {
            return Ok(());
        }
        let messages: Vec<InboxMessage> = self.daemon.inbox.drain(..count).collect();
        self.process(messages)
    }

    pub(super) fn timer(&mut self, number: u64) -> Verdict {
        let due = number == self.daemon.timer && !self.daemon.busy;
        if due { self.process(Vec::new()) } else { Ok(()) }
    }

    fn process(&mut self, messages: Vec<InboxMessage>) -> Verdict {
        let asks = self.dice.chance(50);
        self.work(|engine, world| {
            for message in messages {
                let message = world.message(message);
                engine.take(world, message);
            }
            if asks {
                let answered = world.daemon.hooks.questions_answered;
                engine.take(world, Message::Question(()));
                if world.daemon.hooks.questions_answered == answered {
                    let violation = Violation("a question gets no answer".to_owned());
                    world.daemon.hooks.violation.get_or_insert(violation);
                }
            }
            engine.turn(world, false);
        })
    }

    fn message(&mut self, message: InboxMessage) -> Message<World> {
        match message {
            InboxMessage::Ask(input, caller) => {
                self.oracle.asked(caller);
                Message::Ask { input, extras: Notes::default(), caller }
            }
            InboxMessage::Node(input) => Message::Node(input),
            InboxMessage::Resume => Message::Keep { extras: Notes::resumed(), caller: None },
        }
    }

    /// The engine does something; then it happens, at once or when the commit is done.
    fn work(&mut self, work: impl FnOnce(&mut Engine<World>, &mut World)) -> Verdict {
        let Some(mut engine) = self.daemon.engine.take() else {
            return Ok(());
        };
        work(&mut engine, self);
        let due = engine.due_in(self);
        self.daemon.engine = Some(engine);
        self.no_violation()?;
        let later = |due: std::time::Duration| self.now + Span(due.as_millis() as u64);
        self.daemon.due_at = due.map(later);
        if self.daemon.acts.iter().any(EngineAction::is_commit) && self.strikes(Fault::LateCommit) {
            self.tally.late_commits += 1;
            self.note("daemon", format_args!("a commit takes long"));
            self.daemon.busy = true;
            let at = self.now + Span(self.dice.scale(5, 5000));
            let life = self.daemon.life;
            self.agenda.at(at, Happening::CommitEnds { life });
            return Ok(());
        }
        self.happen_all()
    }

    pub(super) fn commit_ends(&mut self, life: u64) -> Verdict {
        if life != self.daemon.life {
            return Ok(());
        }
        self.daemon.busy = false;
        self.happen_all()
    }

    fn happen_all(&mut self) -> Verdict {
        let acts = std::mem::take(&mut self.daemon.acts);
        let commits = acts.iter().any(EngineAction::is_commit);
        self.play(acts)?;
        if !self.daemon.alive {
            return Ok(());
        }
        self.oracle.nobody_is_forgotten()?;
        if self.daemon.state().is_none() || self.dice.chance(100) {
            self.readers_see_what_is_durable()?;
        }
        if commits && self.dice.chance(10) {
            self.readers_know_why()?;
        }
        self.hang_up_on_removed_nodes();
        self.set_timer();
        self.wake_engine();
        Ok(())
    }

    fn no_violation(&mut self) -> Verdict {
        self.daemon.hooks.violation.take().map_or(Ok(()), Err)
    }

    pub(super) fn daemon_crashes(&mut self, when: &str) {
        self.note("daemon", format_args!("crashes {when}"));
        let daemon = &mut self.daemon;
        daemon.alive = false;
        daemon.life += 1;
        daemon.engine = None;
        daemon.inbox.clear();
        daemon.batch_due = false;
        daemon.timer += 1;
        daemon.lines.clear();
        daemon.readers = Readers::default();
        daemon.acts.clear();
        daemon.busy = false;
        daemon.turns.clear();
        daemon.hooks = Hooks { broken_until: daemon.hooks.broken_until, ..Hooks::default() };
        self.oracle.daemon_is_gone();
        for session in self.network.open_at(End::Daemon) {
            self.cut(session, Some(End::Daemon));
        }
        let at = self.now + Span(self.dice.scale(50, 20_000));
        self.agenda.at(at, Happening::DaemonStarts);
    }

    fn set_timer(&mut self) {
        self.daemon.timer += 1;
        if let Some(due_at) = self.daemon.due_at {
            let at = due_at.max(self.now) + self.dice.span(1, 20);
            self.agenda.at(at, Happening::Timer { number: self.daemon.timer });
        }
    }

    fn hang_up_on_removed_nodes(&mut self) {
        let Some(state) = self.daemon.state() else {
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
