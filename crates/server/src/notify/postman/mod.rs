//! The thread that turns events into messages and hands them to workers. It waits for news, results and times.

mod filing;
mod monthly;
mod notices;
mod reading;
mod watches;

use super::channels::{Channels, Delivered};
use super::digest::Collected;
use super::lanes::Lanes;
use super::letter::{Letter, Matter};
use super::outbox::{BundleKey, Cursor, Outbox, OutboxError, Post, PostState};
use super::service::Shared;
use super::when_free::WatchRow;
use super::worker;
use crate::api::WeakApi;
use crate::daemon::clock;
use crate::read_model::News;
use crate::store::{EventReader, set_aside};
use danlu_core::{NodeId, RunId, Span, Time, UserId};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;
use tracing::{info, warn};

/// What wakes the postman.
pub(crate) enum Wake {
    News(Arc<News>),
    /// There were more news than it was told.
    Behind,
    Returned {
        number: i64,
        outcome: Delivered,
    },
    Ask(Box<dyn FnOnce(&mut Postman) + Send>),
    Stop,
}

pub(super) struct PostmanParts {
    pub(super) api: WeakApi,
    pub(super) shared: Arc<Shared>,
    pub(super) path: PathBuf,
    pub(super) events: EventReader,
    /// The newest event before the engine has begun.
    pub(super) newest: i64,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) inbox: Receiver<Wake>,
    pub(super) own: Sender<Wake>,
}

/// Messages that wait; the oldest is dropped for one more.
const MOST_WAITING: usize = 20_000;
/// Events that are read at once.
const PAGE: u32 = 500;
/// A file that could not be written is tried again.
const TRY_AGAIN: Span = Span::from_secs(10);
/// Without messages the cursor may lag behind by this: the events are looked at again after a crash.
const CURSOR_LAG: Span = Span::from_secs(1);
/// A machine that comes back sooner is nothing to tell of.
const AWAY: Span = Span::from_secs(60);

pub(crate) struct Postman {
    parts: PostmanParts,
    outbox: Option<Outbox>,
    /// When to open the file, or to read the event table, again.
    retry_at: Option<Time>,
    /// It has been opened before: what happened until a channel was configured is not told.
    started: bool,
    cursor: Option<Cursor>,
    /// When the cursor has to be written.
    save_at: Option<Time>,
    announced: String,
    lanes: Lanes,
    bundles: BTreeMap<BundleKey, (Option<UserId>, Collected)>,
    /// When single messages went to a target of late.
    recent: BTreeMap<String, VecDeque<Time>>,
    /// Runs whose limit is near at a time.
    limits: BTreeMap<(Time, RunId), Time>,
    /// Machines that are away, and when they are told of if they still are.
    away: BTreeMap<NodeId, Time>,
    watches: Vec<WatchRow>,
    /// GPUs may have become free.
    look: bool,
    /// When to look at the last month; `None`: now.
    month_at: Option<Time>,
}

impl Postman {
    pub(super) fn new(parts: PostmanParts) -> Postman {
        Postman {
            parts,
            outbox: None,
            retry_at: None,
            started: false,
            cursor: None,
            save_at: None,
            announced: String::new(),
            lanes: Lanes::default(),
            bundles: BTreeMap::new(),
            recent: BTreeMap::new(),
            limits: BTreeMap::new(),
            away: BTreeMap::new(),
            watches: Vec::new(),
            look: false,
            month_at: None,
        }
    }

    pub(super) fn run(mut self) {
        self.open();
        loop {
            let now = clock::now();
            self.do_what_is_due(now);
            self.parts.shared.counts.wait(self.lanes.len());
            let wake = match self.wake_at() {
                Some(at) => {
                    let wait = Duration::from_millis(at.since(clock::now()).0);
                    self.parts.inbox.recv_timeout(wait)
                }
                None => self.parts.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match wake {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return self.save_cursor(),
                Ok(wake) => self.take(wake),
            }
        }
    }

    fn take(&mut self, wake: Wake) {
        match wake {
            Wake::News(news) => {
                self.parts.shared.pending_news.fetch_sub(1, Ordering::Relaxed);
                self.read_news(&news);
            }
            Wake::Behind => {
                // Before reading: what is missed from now on is told of again.
                self.parts.shared.is_behind.store(false, Ordering::Release);
                if let Some(api) = self.parts.api.upgrade() {
                    self.catch_up(&api);
                }
            }
            Wake::Returned { number, outcome } => self.settle(number, &outcome),
            Wake::Ask(question) => question(self),
            Wake::Stop => {}
        }
    }

    /// A test message has arrived there.
    pub(super) fn recovered(&mut self, target: &str) -> Option<()> {
        self.lanes.recovered(target, clock::now());
        self.note_state(target, &Delivered::Yes { answer: String::new() });
        Some(())
    }

    /// There are other channels now: what waited for the old ones is tried with them.
    pub(super) fn reopen(&mut self) -> Option<()> {
        self.open();
        self.lanes.all_recovered(clock::now());
        Some(())
    }

    fn channels(&self) -> Arc<Channels> {
        self.parts.shared.channels.load_full()
    }

    /// Opens the file where somebody can be told something, or something waits in it.
    pub(super) fn open(&mut self) {
        let has_channels = !self.channels().config().is_empty();
        self.open_with(has_channels);
        self.started = true;
        self.month_at = None;
    }

    fn open_with(&mut self, has_channels: bool) {
        if self.outbox.is_none() && (has_channels || self.parts.path.exists()) {
            match Outbox::open(&self.parts.path).and_then(|outbox| self.load(outbox)) {
                Ok(()) => {}
                Err(error) => return self.give_up(&error),
            }
        }
        let was = self.parts.shared.active.swap(has_channels, Ordering::Relaxed);
        if has_channels {
            self.begin();
        } else if was {
            // What happens now is nobody's news, also after channels are configured again.
            self.cursor = None;
            let forgotten = self.outbox.as_ref().map_or(Ok(()), Outbox::forget_cursor);
            let _ = forgotten.inspect_err(|error| warn!(%error, "notify.db"));
        }
    }

    fn load(&mut self, outbox: Outbox) -> Result<(), OutboxError> {
        let mut lanes = Lanes::default();
        for (number, waiting) in outbox.waiting()? {
            lanes.add(number, waiting);
        }
        self.bundles = outbox.bundles()?;
        self.watches = outbox.watches()?;
        self.announced = outbox.announced()?.unwrap_or_default();
        (self.lanes, self.outbox, self.look) = (lanes, Some(outbox), true);
        Ok(())
    }

    /// The cursor of this database, else its newest event: nothing old is told again.
    fn begin(&mut self) {
        let Some(api) = self.parts.api.upgrade() else { return };
        let Some(outbox) = &self.outbox else { return };
        if self.cursor.is_some() {
            return;
        }
        let epoch = api.handle.model().ledger.epoch;
        let stored = outbox.cursor().ok().flatten();
        let newest = self.parts.events.newest().unwrap_or(0);
        let known = stored.filter(|it| it.epoch == epoch && it.event <= newest);
        let from = if self.started { newest } else { self.parts.newest.min(newest) };
        self.cursor = Some(known.unwrap_or(Cursor { epoch, event: from }));
        if known.is_none() {
            self.announced.clone_from(&api.handle.model().ledger.settings.announcement);
        }
        self.save_at = Some(clock::now());
        self.watch_limits(&api);
        self.watch_machines(&api, known.is_some());
        self.catch_up(&api);
    }

    fn give_up(&mut self, error: &OutboxError) {
        warn!(%error, "messages cannot be stored in notify.db; trying again");
        self.outbox = None;
        self.cursor = None;
        let aside = if error.is_of_the_file() { set_aside(&self.parts.path) } else { None };
        let pause = if aside.is_some() { Span::ZERO } else { TRY_AGAIN };
        self.retry_at = Some(clock::now() + pause);
        aside.into_iter().for_each(|aside| self.show_file(&aside));
    }

    pub(super) fn posts(&mut self, failed: bool, limit: u32) -> Option<Vec<Post>> {
        match &self.outbox {
            Some(outbox) => outbox.posts(failed, limit).ok(),
            None if self.retry_at.is_none() => Some(Vec::new()),
            None => None,
        }
    }

    fn dispatch(&mut self, now: Time) {
        for number in self.lanes.start(now) {
            let Some(outbox) = &self.outbox else { return };
            let Ok(Some(post)) = outbox.post(number) else {
                self.lanes.remove(number);
                continue;
            };
            let (api, runtime) = (self.parts.api.clone(), self.parts.runtime.clone());
            let (channels, own) = (self.channels(), self.parts.own.clone());
            let work = move || {
                let outcome = worker::deliver(&api, &runtime, &channels, &post);
                let _ = own.send(Wake::Returned { number, outcome });
            };
            if let Err(error) = std::thread::Builder::new().name("notify-send".into()).spawn(work) {
                let outcome = Delivered::Later { answer: error.to_string(), after: None };
                self.settle(number, &outcome);
            }
        }
    }

    fn drop_oldest(&mut self, now: Time) {
        let mut dropped = 0;
        while self.lanes.len() > MOST_WAITING {
            let (Some(oldest), Some(outbox)) = (self.lanes.oldest(), &self.outbox) else { break };
            let answer = danlu_messages::notify::channels::dropped_full();
            let _ = outbox.settle(oldest, PostState::Dropped, answer, now);
            self.parts.shared.counts.settled(PostState::Dropped);
            self.lanes.remove(oldest);
            dropped += 1;
        }
        if dropped > 0 {
            info!(dropped, "too many messages wait: the oldest were dropped");
            self.tell_of_dropped(dropped, now);
        }
    }

    fn tell_of_dropped(&mut self, count: u64, now: Time) {
        let Some(api) = self.parts.api.upgrade() else { return };
        let letter = Letter { at: now, matter: Matter::Dropped { count } };
        self.tell_admins(&api, &format!("dropped.{}", now.0), &letter, now);
    }
}
