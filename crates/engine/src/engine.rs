//! The engine: takes messages in batches, decides, commits, replies, carries out effects; reboots from the store when a
//! commit fails.
//!
//! Invariant: nothing is answered, published or carried out before the batch is committed.

use crate::batch::Batch;
use crate::outside::{Answer, Outside};
use crate::panics::guarded;
use crate::pending::{Halt, Job, Pending};
use crate::trouble::Trouble;
use danlu_core::{Effect, Epoch, Input, Mutant, NodeMessage, State, mutated};
use std::fmt;
use std::time::Duration;
use tracing::{error, info, warn};

/// How long events without replies and effects may wait for a shared commit (group commit).
const NEWS_WAIT: Duration = Duration::from_millis(10);
/// The interval between attempts to use a failed store.
const RETRY: Duration = Duration::from_secs(1);

pub struct Engine<O: Outside> {
    pub(crate) mode: Mode<O::Error>,
    pub(crate) life: Life,
    pub(crate) pending: Pending<O>,
    pub(crate) trouble: Trouble,
    /// No more tasks are started: the daemon is shutting down.
    closed: bool,
}

pub(crate) enum Mode<E> {
    Working(Box<State>),
    /// The store cannot be used. It is tried again then.
    Recovering {
        cause: E,
        retry_at: Duration,
    },
}

/// Which life of the store this is.
#[derive(Debug, Clone, Copy)]
pub struct Life {
    pub epoch: Epoch,
    /// The store is older than what was acknowledged. Reset after the first committed step.
    pub restored: bool,
    /// The lowest id for new tasks, whatever the store says.
    pub ids_from: u64,
    /// How many elements of an array are added at once.
    pub slice: usize,
}

pub enum Message<O: Outside> {
    /// A caller waits for an answer.
    Ask {
        input: Input,
        extras: O::Extras,
        caller: O::Caller,
    },
    /// Stored beside the rows; the core knows nothing of it.
    Keep {
        extras: O::Extras,
        caller: O::Caller,
    },
    /// A message from a node, without an answer.
    Node(Input),
    Question(O::Question),
    /// The fleet has changed: connect to all machines again.
    Reconnect,
    /// Start nothing more.
    Close,
}

impl<O: Outside> Engine<O> {
    /// Take over what the store holds. `extras` are committed with the first step.
    pub fn start(outside: &mut O, life: Life, extras: O::Extras) -> Result<Engine<O>, O::Error> {
        let mut life = life;
        let (state, batch) = boot(outside, &mut life, extras)?;
        outside.publish_all(&state, &batch);
        outside.reconnect(&state);
        Ok(Engine {
            mode: Mode::Working(Box::new(state)),
            life,
            pending: Pending::default(),
            trouble: Trouble::default(),
            closed: false,
        })
    }

    /// `None` while the store cannot be used. It may be ahead of the last commit.
    pub fn state(&self) -> Option<&State> {
        match &self.mode {
            Mode::Working(state) => Some(state),
            Mode::Recovering { .. } => None,
        }
    }

    /// Take a message. It is decided by the next [`Engine::turn`], together with all messages before that.
    pub fn take(&mut self, outside: &mut O, message: Message<O>) {
        match message {
            Message::Close => self.closed = true,
            Message::Question(question) => self.consider(outside, question),
            message => match &self.mode {
                Mode::Recovering { cause, .. } => refuse(outside, message, cause),
                Mode::Working(state) => match message {
                    Message::Ask { input, extras, caller } => {
                        self.pending.push(Job::ask(input, extras, caller));
                    }
                    Message::Keep { extras, caller } => {
                        self.pending.push(Job::Keep { extras, caller: Some(caller) });
                    }
                    Message::Node(input) => self.pending.push(Job::Node { input, panics: 0 }),
                    Message::Reconnect => outside.reconnect(state),
                    Message::Question(_) | Message::Close => {}
                },
            },
        }
    }

    /// Decide what has been taken so far, so that the driver knows how long that takes. The commit comes with the turn.
    pub fn decide(&mut self, outside: &mut O) {
        self.decide_all(outside);
    }

    /// Decide all messages and what starts; commit, unless the commit may wait a little. `last`: there is no next
    /// turn.
    pub fn turn(&mut self, outside: &mut O, last: bool) {
        let Mode::Working(state) = &self.mode else { return self.try_again(outside) };
        for (node, session) in self.trouble.due(outside.elapsed()) {
            // It counts as lost until it reports: it may no longer exist.
            let input = Input::Node { node, session, message: NodeMessage::Lost };
            self.pending.push(Job::Node { input, panics: 0 });
            outside.reconnect_one(state, node);
        }
        if self.schedules() {
            self.pending.push(Job::Schedule { panics: 0 });
        }
        if !self.decide_all(outside) {
            return;
        }
        let waits = !last && self.pending.is_only_news();
        if !waits || self.pending.news_wait(outside.elapsed()) >= NEWS_WAIT {
            self.commit(outside);
        }
    }

    /// When the next turn is due although nothing comes; `None` for never.
    pub fn due_in(&mut self, outside: &mut O) -> Option<Duration> {
        let elapsed = outside.elapsed();
        if let Mode::Recovering { retry_at, .. } = self.mode {
            return Some(retry_at.saturating_sub(elapsed));
        }
        if self.trouble.has_just_ended() {
            return Some(Duration::ZERO);
        }
        let now = outside.now();
        // Nothing is started any more, so nothing is due.
        let wake = if self.schedules() { self.wake_at(outside, now) } else { None };
        let wake = wake.map(|at| Duration::from_millis(at.since(now).0));
        let news = self.pending.is_only_news();
        let news = news.then(|| NEWS_WAIT.saturating_sub(self.pending.news_wait(elapsed)));
        let asks = self.trouble.next_due().map(|at| at.saturating_sub(elapsed));
        [wake, news, asks].into_iter().flatten().min()
    }

    fn schedules(&self) -> bool {
        !self.closed && !self.trouble.scheduling_is_paused()
    }

    /// After everything that came before it.
    fn consider(&mut self, outside: &mut O, question: O::Question) {
        self.decide_all(outside);
        let state = match &self.mode {
            Mode::Working(state) => Ok(&**state),
            Mode::Recovering { .. } if mutated(Mutant::QuestionsDropped) => return,
            Mode::Recovering { cause, .. } => Err(cause),
        };
        // A question that panics gets no answer; it has changed nothing.
        if let Err(panic) = guarded(|| outside.consider(question, state)) {
            error!(panic.message, panic.place, "internal error, please report it");
        }
    }

    fn commit(&mut self, outside: &mut O) {
        let Mode::Working(state) = &self.mode else { return };
        let mut pending = std::mem::take(&mut self.pending);
        let batch = pending.take_batch(state);
        if mutated(Mutant::PublishedBeforeCommit) {
            outside.publish(&batch);
        }
        if mutated(Mutant::EffectBeforeCommit) {
            carry_out(outside, state, pending.take_effects());
        }
        if mutated(Mutant::ReplyBeforeCommit) {
            pending.answer(outside);
        }
        match outside.commit(&batch) {
            Ok(()) => self.carry_out(outside, &batch, pending),
            Err(cause) => self.recover(outside, cause, pending),
        }
    }

    fn carry_out(&mut self, outside: &mut O, batch: &Batch<O::Extras>, mut pending: Pending<O>) {
        let Mode::Working(state) = &self.mode else { return };
        if !mutated(Mutant::PublishedBeforeCommit) {
            outside.publish(batch);
        }
        if self.trouble.scheduling_is_paused() {
            self.trouble.look_at(outside.scheduling_is_paused());
        }
        pending.answer(outside);
        let effects = pending.take_effects();
        if mutated(Mutant::EffectTwice) {
            carry_out(outside, state, effects.clone());
        }
        carry_out(outside, state, effects);
    }

    /// The batch is not durable, so it has not happened: reload the state from the store.
    pub(crate) fn recover(&mut self, outside: &mut O, cause: O::Error, mut pending: Pending<O>) {
        error!(%cause, "commit failed; starting again from the store");
        if mutated(Mutant::FailedBatchAnswered) {
            pending.answer(outside);
        }
        if !mutated(Mutant::FailedBatchUnanswered) {
            pending.refuse(outside, &cause);
        }
        if let (Mode::Working(state), true) = (&self.mode, mutated(Mutant::FailedBatchCarriedOut)) {
            carry_out(outside, state, pending.take_effects());
        }
        if mutated(Mutant::FailedBatchKept) {
            return;
        }
        self.mode = Mode::Recovering { cause, retry_at: outside.elapsed() };
        self.try_again(outside);
    }

    /// Shims go on without the engine. Callers get an answer at once, nodes are asked again later.
    fn try_again(&mut self, outside: &mut O) {
        let elapsed = outside.elapsed();
        match self.mode {
            Mode::Recovering { retry_at, .. } if retry_at <= elapsed => {}
            Mode::Recovering { .. } | Mode::Working(_) => return,
        }
        self.mode = match boot(outside, &mut self.life, O::Extras::default()) {
            Ok((state, batch)) => {
                info!("the store can be written again");
                if !mutated(Mutant::StaleModel) {
                    outside.publish_all(&state, &batch);
                }
                if !mutated(Mutant::NotReconnected) {
                    outside.reconnect(&state);
                }
                Mode::Working(Box::new(state))
            }
            Err(cause) => {
                warn!(%cause, "the store still cannot be written");
                Mode::Recovering { cause, retry_at: elapsed + RETRY }
            }
        };
    }
}

/// The state as the store holds it.
pub(crate) fn load<O: Outside>(outside: &mut O, slice: usize) -> Result<State, O::Error> {
    let rows = outside.rows()?;
    let state = guarded(|| State::from_rows(rows)).map_err(|panic| panic.message);
    let mut state = state.and_then(|state| state).map_err(|what| outside.damaged(what))?;
    state.set_slice(slice);
    Ok(state)
}

/// The first step after a start: every node counts as lost until it reports.
fn boot<O: Outside>(
    outside: &mut O,
    life: &mut Life,
    extras: O::Extras,
) -> Result<(State, Batch<O::Extras>), O::Error> {
    let mut state = load(outside, life.slice)?;
    let mut pending: Pending<O> = Pending::default();
    let Life { epoch, restored, ids_from, .. } = *life;
    pending.push(Job::Keep { extras, caller: None });
    pending.push(Job::Boot(Input::Boot { epoch, restored, ids_from }));
    while pending.has_more() {
        let decided = guarded(|| pending.decide_next(&mut state, outside));
        match decided {
            Ok(Ok(())) => {}
            Ok(Err(Halt::Store(cause))) => return Err(cause),
            Ok(Err(Halt::Refused(refusal))) => return Err(outside.damaged(format!("{refusal:?}"))),
            Err(panic) => return Err(outside.damaged(panic.message)),
        }
    }
    let batch = pending.take_batch(&state);
    outside.commit(&batch)?;
    life.restored = false;
    Ok((state, batch))
}

fn carry_out<O: Outside>(outside: &mut O, state: &State, effects: Vec<Effect>) {
    for effect in effects {
        let node = effect.node();
        if let Err(panic) = guarded(|| outside.carry_out(state, effect)) {
            // The machine will never get it; its report on a new connection shows that.
            error!(panic.message, panic.place, "internal error, please report it");
            if !mutated(Mutant::LostOrderForgotten) {
                outside.reconnect_one(state, node);
            }
        }
    }
}

fn refuse<O: Outside>(outside: &mut O, message: Message<O>, cause: &O::Error) {
    match message {
        Message::Ask { caller, .. } | Message::Keep { caller, .. } => {
            outside.answer(caller, Answer::Unavailable(cause));
        }
        // All machines are asked anew when the engine works again.
        Message::Node(_) | Message::Reconnect | Message::Question(_) | Message::Close => {}
    }
}

impl<O: Outside> fmt::Debug for Engine<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("life", &self.life).finish_non_exhaustive()
    }
}

impl<O: Outside> fmt::Debug for Message<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Message")
    }
}
