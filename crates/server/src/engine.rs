//! The one thread that changes the state: takes inputs in batches, decides, commits, answers, acts.
//!
//! Invariant: nothing is answered and no effect is carried out before the batch is committed.

use crate::audit;
use crate::backend::Backends;
use crate::clock;
use crate::disk::Disk;
use crate::epoch::Witness;
use crate::handle::{Answer, Handle, Message, NotNow};
use crate::model::{Publisher, Reader};
use crate::store::{Batch, Deed, Environment, RecordChange, Store, StoreError};
use danlu_core::{Effect, Epoch, Event, Input, Reply, RowKey, State, Step, Time, step};
use std::collections::BTreeSet;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{error, info, warn};

/// Inputs that are decided and committed together, at most.
const MOST_IN_A_BATCH: usize = 1_000;
/// Short tasks begin and end in one commit.
const NEWS_WAIT: Duration = Duration::from_millis(10);
/// How often a store that cannot be written is tried again.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Engine {
    state: State,
    store: Store,
    disk: Disk,
    epoch: Epoch,
    witness: Witness,
    inbox: Receiver<Message>,
    publisher: Publisher,
    backends: Backends,
    /// Nothing is started any more.
    closed: bool,
}

/// What an input leads to, kept back until it is committed.
#[derive(Default)]
struct Pending {
    changed: BTreeSet<RowKey>,
    events: Vec<(Time, Event)>,
    environments: Vec<Environment>,
    records: Vec<RecordChange>,
    deeds: Vec<(Time, Deed)>,
    replies: Vec<(oneshot::Sender<Answer>, Answer)>,
    effects: Vec<Effect>,
    /// Since when there has been nothing but news.
    news_since: Option<Instant>,
}

impl Engine {
    /// Take over what the store holds and start the thread. It ends when told to stop.
    pub fn start(
        store: Store,
        disk: Disk,
        (epoch, witness): (Epoch, Witness),
        backends: impl FnOnce(&Handle) -> Backends,
    ) -> Result<(Handle, JoinHandle<()>), StoreError> {
        let state = load(&store)?;
        let (sender, inbox) = mpsc::channel();
        let (publisher, reader): (Publisher, Reader) = Publisher::new(&state);
        let handle = Handle::new(sender, reader);
        let backends = backends(&handle);
        let mut engine = Engine {
            state,
            store,
            disk,
            epoch,
            witness,
            inbox,
            publisher,
            backends,
            closed: false,
        };
        engine.boot()?;
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || engine.run())
            .expect("a thread can be started at boot");
        Ok((handle, thread))
    }

    fn run(mut self) {
        let mut pending = Pending::default();
        while let Some(first) = self.next_message(pending.is_only_news()) {
            let mut stop = None;
            for message in std::iter::once(first).chain(self.inbox.try_iter()).take(MOST_IN_A_BATCH)
            {
                match message {
                    Message::Stop(done) => {
                        stop = Some(done);
                        break;
                    }
                    Message::CloseQueue => self.closed = true,
                    Message::ConnectLocal => self.backends.reconnect(&self.state),
                    message => {
                        take(&mut self.state, &self.store, &self.disk, message, &mut pending);
                    }
                }
            }
            if !self.closed {
                // A pass refuses nothing.
                let _ = decide(&mut self.state, Input::Schedule, &mut pending);
            }
            if pending.is_only_news() && stop.is_none() && self.may_wait(&mut pending) {
                continue;
            }
            let mut pending = std::mem::take(&mut pending);
            let batch = pending.take_batch(&self.state);
            match self.store.commit(&batch) {
                Ok(()) => {
                    self.witness.note(self.store.newest_event());
                    self.carry_out(&batch, pending);
                }
                Err(error) => self.recover(&error, pending),
            }
            if let Some(done) = stop {
                info!("engine stopped");
                let _ = done.send(());
                return;
            }
        }
    }

    /// News that lead to nothing share the commit of what comes next, if that comes soon.
    fn may_wait(&self, pending: &mut Pending) -> bool {
        let since = *pending.news_since.get_or_insert_with(Instant::now);
        since.elapsed() < NEWS_WAIT
    }

    /// `None` when nobody is left who could send one.
    fn next_message(&self, news_wait: bool) -> Option<Message> {
        let now = clock::now();
        // Nothing is started any more, so nothing is due.
        let wake = self.state.wake_at(now).filter(|_| !self.closed);
        let wake = wake.map(|at| Duration::from_millis(at.since(now).0));
        let wait = wake.into_iter().chain(news_wait.then_some(NEWS_WAIT)).min();
        let Some(wait) = wait else { return self.inbox.recv().ok() };
        match self.inbox.recv_timeout(wait) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => Some(Message::Wake),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn carry_out(&mut self, batch: &Batch, pending: Pending) {
        self.publisher.publish(batch);
        for (waiting, answer) in pending.replies {
            // Whoever asked may have gone; what was asked for has happened all the same.
            let _ = waiting.send(answer);
        }
        for effect in pending.effects {
            self.backends.carry_out(&self.state, &self.store, effect);
        }
    }

    /// The batch is not durable, so it has not happened: back to what the store holds.
    fn recover(&mut self, cause: &StoreError, pending: Pending) {
        error!(%cause, "commit failed; starting again from the store");
        refuse_all(pending.replies, cause);
        loop {
            match load(&self.store).and_then(|state| {
                self.state = state;
                self.boot()
            }) {
                Ok(()) => return info!("the store can be written again"),
                Err(error) => warn!(%error, "the store still cannot be written"),
            }
            // Shims go on without us. People get an answer at once, nodes are asked again later.
            if let Ok(message) = self.inbox.recv_timeout(RETRY) {
                message.refuse(&NotNow::from(cause));
            }
        }
    }

    fn boot(&mut self) -> Result<(), StoreError> {
        let mut pending = Pending::default();
        decide(
            &mut self.state,
            Input::Boot { epoch: self.epoch, restored: false, ids_from: 0 },
            &mut pending,
        )
        .map_err(|refusal| self.store.damaged(refusal.to_string()))?;
        self.store.commit(&pending.take_batch(&self.state))?;
        self.publisher.publish_all(&self.state);
        self.backends.reconnect(&self.state);
        Ok(())
    }
}

impl Pending {
    /// Nobody waits for it and nothing is to be done because of it: that a task has begun, for one.
    fn is_only_news(&self) -> bool {
        !self.events.is_empty() && self.replies.is_empty() && self.effects.is_empty()
    }

    /// The rows as they are now, after all inputs of the batch.
    fn take_batch(&mut self, state: &State) -> Batch {
        let changed = std::mem::take(&mut self.changed);
        Batch {
            rows: changed.into_iter().map(|key| (key, state.row(key))).collect(),
            events: std::mem::take(&mut self.events),
            environments: std::mem::take(&mut self.environments),
            records: std::mem::take(&mut self.records),
            deeds: std::mem::take(&mut self.deeds),
        }
    }
}

fn load(store: &Store) -> Result<State, StoreError> {
    State::from_rows(store.rows()?).map_err(|what| store.damaged(what))
}

fn take(state: &mut State, store: &Store, disk: &Disk, message: Message, pending: &mut Pending) {
    match message {
        Message::Ask { input, environment, by, reply } => {
            let adds = matches!(input, Input::Submit { .. });
            if let Some(not_now) = disk.full().filter(|_| adds) {
                pending.replies.push((reply, Err(not_now.into())));
                return;
            }
            pending.environments.extend(environment);
            let deed = by.and_then(|by| audit::deed(state, by, &input));
            let answer = decide(state, input, pending);
            if let (Some(deed), Ok(reply)) = (deed, &answer) {
                pending.deeds.push((clock::now(), audit::with_reply(deed, *reply)));
            }
            pending.replies.push((reply, answer));
        }
        Message::Keep { changes, deed, reply } => {
            pending.records.extend(changes);
            pending.deeds.extend(deed.map(|deed| (clock::now(), deed)));
            pending.replies.push((reply, Ok(Reply::Done)));
        }
        Message::Node(input) => drop(decide(state, input, pending)),
        Message::Look(look) => look(state, store, clock::now()),
        Message::Wake | Message::CloseQueue | Message::ConnectLocal | Message::Stop(_) => {}
    }
}

fn decide(state: &mut State, input: Input, pending: &mut Pending) -> Answer {
    let now = clock::now();
    let Step { events, effects, reply } = step(state, input, now);
    pending.changed.extend(events.iter().flat_map(Event::rows));
    pending.events.extend(events.into_iter().map(|event| (now, event)));
    pending.effects.extend(effects);
    reply.map_err(Into::into)
}

fn refuse_all(replies: Vec<(oneshot::Sender<Answer>, Answer)>, cause: &StoreError) {
    for (waiting, _) in replies {
        let _ = waiting.send(Err(NotNow::from(cause).into()));
    }
}
