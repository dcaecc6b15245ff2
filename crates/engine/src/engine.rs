//! The one thread that changes the state: takes inputs in batches, decides, commits, answers, acts.
//!
//! Invariant: nothing is answered and no effect is carried out before the batch is committed.

mod pending;
mod trouble;

use crate::backend::Backends;
use crate::clock;
use crate::disk::Disk;
use crate::epoch::{Life, Loss, Witness};
use crate::handle::{Handle, Message, NotNow};
use crate::model::{Publisher, Reader};
use crate::notices::{self, NoticeKind, Notices};
use crate::panics;
use crate::store::{Batch, RecordChange, Store, StoreError};
use danlu_core::{Epoch, Input, State};
use pending::{Job, Pending};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::{error, info, warn};
use trouble::Trouble;

/// Inputs that are decided and committed together, at most.
const MOST_IN_A_BATCH: usize = 1_000;
/// Short tasks begin and end in one commit.
const NEWS_WAIT: Duration = Duration::from_millis(10);
/// How often a store that cannot be written is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// After so long without a commit what is in SQLite's log goes to the database itself: a copy of that alone is whole.
const IDLE: Duration = Duration::from_secs(1);
/// And never later than this.
const LONGEST: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Engine {
    state: State,
    store: Store,
    disk: Disk,
    epoch: Epoch,
    /// No task has a smaller number, whatever the store says.
    ids_from: u64,
    /// Until the first step has taken it over.
    loss: Option<Loss>,
    witness: Witness,
    inbox: Receiver<Message>,
    publisher: Publisher,
    notices: Notices,
    backends: Backends,
    /// For reports of our own bugs.
    data: PathBuf,
    trouble: Trouble,
    /// Nothing is started any more.
    closed: bool,
    /// When the log got what the database itself has not: the first of it, and the last.
    unsettled: Option<(Instant, Instant)>,
}

impl Engine {
    /// Take over what the store holds and start the thread. It ends when told to stop.
    pub fn start(
        store: Store,
        disk: Disk,
        life: Life,
        backends: impl FnOnce(&Handle) -> Backends,
    ) -> Result<(Handle, JoinHandle<()>), StoreError> {
        let state = load(&store)?;
        let (notices, over) = Notices::load(&store)?;
        let (sender, inbox) = mpsc::channel();
        let (publisher, reader): (Publisher, Reader) = Publisher::new(&state);
        let handle = Handle::new(sender, reader, notices.clone());
        let backends = backends(&handle);
        let Life { epoch, ids_from, loss, witness } = life;
        let mut engine = Engine {
            state,
            data: store.directory().to_owned(),
            store,
            disk,
            epoch,
            ids_from,
            loss,
            witness,
            inbox,
            publisher,
            notices,
            backends,
            trouble: Trouble::default(),
            closed: false,
            unsettled: None,
        };
        engine.disk.set_space_aside();
        engine.boot(over)?;
        engine.settle();
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || engine.run())
            .expect("a thread can be started at boot");
        Ok((handle, thread))
    }

    fn run(mut self) {
        let mut pending = Pending::default();
        while let Some(first) = self.next_message(&mut pending) {
            let mut stop = None;
            let mut next = Some(first);
            for _ in 0..MOST_IN_A_BATCH {
                let Some(message) = next.take().or_else(|| self.inbox.try_recv().ok()) else {
                    break;
                };
                match message {
                    Message::Stop(done) => {
                        stop = Some(done);
                        break;
                    }
                    Message::CloseQueue => self.closed = true,
                    Message::ConnectLocal => self.backends.reconnect(&self.state),
                    message => {
                        pending.add(message, &self.disk);
                        if pending.has_question() && !self.decide_all(&mut pending) {
                            pending = Pending::default();
                        }
                        pending.answer_question(&self.state, &self.store);
                    }
                }
            }
            if !self.closed && !self.trouble.scheduling_is_paused() {
                pending.push(Job::Schedule { panics: 0 });
            }
            if !self.decide_all(&mut pending) {
                pending = Pending::default();
                continue;
            }
            if pending.is_only_news() && stop.is_none() && pending.may_wait() {
                continue;
            }
            self.commit(std::mem::take(&mut pending));
            if let Some(done) = stop {
                self.settle();
                info!("engine stopped");
                let _ = done.send(());
                return;
            }
        }
    }

    /// `None` when nobody is left who could send one.
    fn next_message(&mut self, pending: &mut Pending) -> Option<Message> {
        if self.trouble.has_just_ended() {
            return Some(Message::Wake);
        }
        let now = clock::now();
        // Nothing is started any more, so nothing is due.
        let wakes = !self.closed && !self.trouble.scheduling_is_paused();
        let wake = if wakes { self.wake_at(now, pending) } else { None };
        let wake = wake.map(|at| Duration::from_millis(at.since(now).0));
        let news = pending.is_only_news().then_some(NEWS_WAIT);
        let due = [wake, news, self.settles_in(), self.trouble.next_due(), self.disk.looks_in()];
        let Some(wait) = due.into_iter().flatten().min() else { return self.inbox.recv().ok() };
        match self.inbox.recv_timeout(wait) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => {
                self.do_what_is_due();
                Some(Message::Wake)
            }
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    fn do_what_is_due(&mut self) {
        if self.settles_in().is_some_and(|wait| wait.is_zero()) {
            self.settle();
        }
        self.disk.set_space_aside();
        for node in self.trouble.due() {
            self.backends.reconnect_one(&self.state, node);
        }
    }

    fn settles_in(&self) -> Option<Duration> {
        let (first, last) = self.unsettled?;
        Some(IDLE.saturating_sub(last.elapsed()).min(LONGEST.saturating_sub(first.elapsed())))
    }

    fn note_commit(&mut self) {
        self.witness.note(self.store.newest_event(), &self.state.ledger);
        let now = Instant::now();
        self.unsettled = Some((self.unsettled.map_or(now, |(first, _)| first), now));
    }

    /// Nothing but the database itself is needed to read what has been committed.
    fn settle(&mut self) {
        self.unsettled = None;
        if let Err(cause) = self.store.settle() {
            warn!(%cause, "the database could not be brought up to date; its log has everything");
        }
    }

    fn commit(&mut self, mut pending: Pending) {
        let batch = pending.take_batch(&self.state);
        let mut committed = self.store.commit(&batch);
        if committed.as_ref().is_err_and(StoreError::is_full) && self.disk.give_up_reserve() {
            committed = self.store.commit(&batch);
        }
        match committed {
            Ok(()) => {
                if !batch.is_empty() {
                    self.note_commit();
                }
                self.carry_out(&batch, pending);
            }
            Err(error) => self.recover(&error, pending),
        }
    }

    fn carry_out(&mut self, batch: &Batch, pending: Pending) {
        self.publisher.publish(batch, self.store.newest_event());
        self.notices.take_over(&batch.records);
        self.trouble.look_at(&self.notices);
        let effects = pending.answer();
        for effect in effects {
            let Engine { backends, state, store, .. } = self;
            // What is lost here is repaired by the next report of that machine.
            let _ = panics::guarded(|| backends.carry_out(state, store, effect));
        }
    }

    /// The batch is not durable, so it has not happened: back to what the store holds.
    fn recover(&mut self, cause: &StoreError, pending: Pending) {
        error!(%cause, "commit failed; starting again from the store");
        pending.refuse(&NotNow::from(cause));
        loop {
            if cause.is_full() {
                self.disk.give_up_reserve();
            }
            match load(&self.store).and_then(|state| {
                self.state = state;
                self.boot(Vec::new())
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

    fn boot(&mut self, records: Vec<RecordChange>) -> Result<(), StoreError> {
        let mut pending = Pending::default();
        let (epoch, ids_from, restored) = (self.epoch, self.ids_from, self.loss.is_some());
        pending.push(Job::Keep { changes: records, deed: None, reply: None });
        if let Some(loss) = &self.loss {
            let (record, deed) = notices::record(NoticeKind::from(loss), clock::now());
            warn!(what = deed.detail, "the database is older than it was");
            pending.push(Job::Keep { changes: vec![record], deed: Some(deed), reply: None });
        }
        pending.push(Job::Boot(Input::Boot { epoch, restored, ids_from }));
        while pending.has_more() {
            let state = &mut self.state;
            let done = panics::guarded(|| pending.decide_next(state));
            done.map_err(|panic| panic.message)
                .and_then(|refused| refused.map_or(Ok(()), Err))
                .map_err(|what| self.store.damaged(what))?;
        }
        let batch = pending.take_batch(&self.state);
        self.store.commit(&batch)?;
        self.loss = None;
        self.note_commit();
        self.notices.take_over(&batch.records);
        self.publisher.publish_all(&self.state);
        self.backends.reconnect(&self.state);
        Ok(())
    }
}

fn load(store: &Store) -> Result<State, StoreError> {
    let rows = store.rows()?;
    let state = panics::guarded(|| State::from_rows(rows)).map_err(|panic| panic.message);
    state.and_then(|state| state).map_err(|what| store.damaged(what))
}
