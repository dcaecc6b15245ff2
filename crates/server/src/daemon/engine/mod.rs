//! The engine thread: passes messages to the engine and wakes it when something is due.

mod adapters;

use crate::daemon::clock;
use crate::daemon::handle::{Handle, Message};
use crate::daemon::notices::{self, NoticeKind, Notices};
use crate::fleet::Backends;
use crate::read_model::Publisher;
use crate::store::disk::Disk;
use crate::store::restore_guard::Life;
use crate::store::{Extras, Store, StoreError};
use crate::usage::Usage;
use adapters::{EngineAdapters, ReplyTo};
use danlu_core::Input;
use danlu_engine::Message as ToEngine;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{info, warn};

/// Elements of an array that are added by one commit.
const ARRAY_SLICE: usize = danlu_core::state::growing::SLICE;
/// Inputs that are decided and committed together, at most.
const MOST_IN_A_BATCH: usize = 1_000;
/// And so long at most, without the commit: who comes next waits for all of it.
const LONGEST_BATCH: Duration = Duration::from_millis(4);

#[derive(Debug)]
pub struct Engine {
    engine: danlu_engine::Engine<EngineAdapters>,
    shell: EngineAdapters,
    inbox: Receiver<Message>,
}

impl Engine {
    /// Take over what the store holds and start the thread. It ends when told to stop.
    pub fn start(
        store: Store,
        disk: Disk,
        life: Life,
        usage: Usage,
        backends: impl FnOnce(&Handle) -> Backends,
    ) -> Result<(Handle, JoinHandle<()>), StoreError> {
        let (notices, over) = Notices::load(&store)?;
        let (sender, inbox) = mpsc::channel();
        let (publisher, reader) = Publisher::new();
        let history = store.history();
        let handle = Handle::new(sender, (reader, history.clone()), notices.clone());
        let Life { epoch, ids_from, loss, guard } = life;
        let mut extras = Extras { records: over, ..Extras::default() };
        if let Some(loss) = &loss {
            let now = clock::now();
            let (record, deed) = notices::record(NoticeKind::from(loss), now);
            warn!(what = deed.detail, "the database is older than it was");
            extras.records.push(record);
            extras.deeds.push((now, deed));
        }
        let mut shell = EngineAdapters::new(
            (store, history),
            disk,
            guard,
            publisher,
            notices,
            usage,
            backends(&handle),
        );
        let (restored, slice) = (loss.is_some(), ARRAY_SLICE);
        let life = danlu_engine::Life { epoch, restored, ids_from, slice };
        let engine = danlu_engine::Engine::start(&mut shell, life, extras)?;
        shell.settle();
        let engine = Engine { engine, shell, inbox };
        let thread = std::thread::Builder::new()
            .name("engine".into())
            .spawn(move || engine.run())
            .expect("a thread can be started at boot");
        Ok((handle, thread))
    }

    fn run(mut self) {
        while let Ok(first) = self.next_message() {
            let mut stop = None;
            let mut next = first;
            let since = Instant::now();
            for _ in 0..MOST_IN_A_BATCH {
                match next.take().or_else(|| self.inbox.try_recv().ok()) {
                    None => break,
                    Some(Message::Stop(done)) => {
                        stop = Some(done);
                        break;
                    }
                    Some(message) => self.take(message),
                }
                if since.elapsed() >= LONGEST_BATCH {
                    break;
                }
            }
            self.engine.turn(&mut self.shell, stop.is_some());
            if let Some(done) = stop {
                return self.end(done);
            }
        }
    }

    fn end(mut self, done: oneshot::Sender<()>) {
        self.shell.close();
        info!("engine stopped");
        let _ = done.send(());
    }

    /// `None` when something is due before a message comes, `Err` when all senders are gone.
    fn next_message(&mut self) -> Result<Option<Message>, RecvTimeoutError> {
        let due = self.engine.due_in(&mut self.shell);
        let Some(wait) = [due, self.shell.due_in()].into_iter().flatten().min() else {
            return self.inbox.recv().map(Some).map_err(|_| RecvTimeoutError::Disconnected);
        };
        match self.inbox.recv_timeout(wait) {
            Err(RecvTimeoutError::Timeout) => {
                self.shell.do_what_is_due();
                Ok(None)
            }
            received => received.map(Some),
        }
    }

    fn take(&mut self, message: Message) {
        let message = match message {
            Message::Ask { input, environment, by, reply } => {
                let adds = matches!(input, Input::Submit { .. });
                if let Some(full) = adds.then(|| self.shell.disk.full()).flatten() {
                    // The caller may have gone.
                    let _ = reply.send(Err(full.into()));
                    return;
                }
                let environments = environment.into_iter().collect();
                let extras = Extras { environments, ..Extras::default() };
                ToEngine::Ask { input, extras, caller: ReplyTo { by, reply } }
            }
            Message::Keep { extras, reply } => {
                ToEngine::Keep { extras: *extras, caller: ReplyTo { by: None, reply } }
            }
            Message::Node(input) => ToEngine::Node(input),
            Message::Look(question) => ToEngine::Question(question),
            Message::ConnectLocal => ToEngine::Reconnect,
            Message::CloseQueue => ToEngine::Close,
            // Ends the batch before it comes here.
            Message::Stop(_) => return,
        };
        self.engine.take(&mut self.shell, message);
        self.engine.decide(&mut self.shell);
    }
}
