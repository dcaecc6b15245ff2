//! The thread that turns events into messages and hands them to workers. It waits for news, results and times.

mod filing;
mod notices;
mod watches;

use super::channels::{Channels, Delivered};
use super::digest::Collected;
use super::expand::Surroundings;
use super::lanes::Lanes;
use super::letter::{Letter, Matter};
use super::outbox::{BundleKey, Cursor, Outbox, OutboxBatch, OutboxError, Post, PostState};
use super::service::Shared;
use super::when_free::WatchRow;
use super::{expand, expiring, worker};
use crate::api::{Api, WeakApi};
use crate::daemon::clock;
use crate::read_model::News;
use crate::store::{EventReader, StoredEvent};
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
    Returned { number: i64, outcome: Delivered },
    Ask(Box<dyn FnOnce(&mut Postman) + Send>),
    Stop,
}

pub(super) struct PostmanParts {
    pub(super) api: WeakApi,
    pub(super) shared: Arc<Shared>,
    pub(super) path: PathBuf,
    pub(super) events: EventReader,
    /// The newest event when it was started, before anybody could ask for anything.
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
    /// Machines that are away, since when, and the event that told so.
    away: BTreeMap<NodeId, (Time, String)>,
    watches: Vec<WatchRow>,
    /// GPUs may have become free.
    look: bool,
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
        }
    }

    pub(super) fn run(mut self) {
        self.open();
        loop {
            let now = clock::now();
            self.do_what_is_due(now);
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
            Wake::Returned { number, outcome } => self.settle(number, outcome),
            Wake::Ask(question) => question(self),
            Wake::Stop => {}
        }
    }

    fn channels(&self) -> Arc<Channels> {
        self.parts.shared.channels.load_full()
    }

    /// Opens the file where somebody can be told something, or something waits in it.
    pub(super) fn open(&mut self) {
        let has_channels = !self.channels().config().is_empty();
        self.open_with(has_channels);
        self.started = true;
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
        self.catch_up(&api);
    }

    fn give_up(&mut self, error: &OutboxError) {
        warn!(%error, "messages cannot be stored in notify.db; trying again");
        self.outbox = None;
        self.cursor = None;
        self.retry_at = Some(clock::now() + TRY_AGAIN);
    }

    fn read_news(&mut self, news: &News) {
        let (Some(cursor), Some(api)) = (self.cursor, self.parts.api.upgrade()) else { return };
        if news.first() > cursor.event + 1 {
            return self.catch_up(&api);
        }
        let numbered = (news.first()..).zip(&news.events);
        let new = numbered.filter(|(number, _)| *number > cursor.event);
        let events: Vec<StoredEvent> = new
            .map(|(number, (at, event))| StoredEvent { number, at: *at, event: event.clone() })
            .collect();
        self.expand(&api, &events);
    }

    /// From the event table.
    fn catch_up(&mut self, api: &Api) {
        while let Some(cursor) = self.cursor {
            match self.parts.events.after(cursor.event, PAGE) {
                Ok(events) if events.is_empty() => return,
                Ok(events) => self.expand(api, &events),
                Err(error) => {
                    warn!(%error, "events cannot be read; trying again");
                    self.retry_at = Some(clock::now() + TRY_AGAIN);
                    return;
                }
            }
        }
    }

    fn expand(&mut self, api: &Api, events: &[StoredEvent]) {
        let (Some(cursor), Some(last)) = (self.cursor, events.last()) else { return };
        let now = clock::now();
        for event in events {
            self.note(api, event);
        }
        let interesting: Vec<&StoredEvent> =
            events.iter().filter(|it| expand::is_of_interest(&it.event)).collect();
        let mut batch = OutboxBatch::default();
        if !interesting.is_empty() {
            let tasks: Vec<_> =
                interesting.iter().filter_map(|it| expand::tasks_of(&it.event)).collect();
            let live = api.handle.model();
            let known = tasks.iter().all(|task| live.tasks.contains_key(task));
            // After a pause the tasks may have left memory.
            let model = match known {
                true => live,
                false => self.parts.runtime.block_on(api.model_with(&tasks)).unwrap_or(live),
            };
            let (known, wanted) = (self.channels().known(), |user| api.auth.notify(user));
            for event in interesting {
                let around = Surroundings {
                    model: &model,
                    wanted: &wanted,
                    known: &known,
                    announced: &self.announced,
                };
                let told = expand::expand(event, &around);
                if event.event == danlu_core::Event::SettingsChanged {
                    let text = &model.ledger.settings.announcement;
                    self.announced.clone_from(text);
                    batch.announced = Some(text.clone());
                }
                told.into_iter().for_each(|told| self.file(api, told, &mut batch, now));
            }
        }
        let cursor = Cursor { event: last.number, ..cursor };
        self.cursor = Some(cursor);
        if batch.new.is_empty() && batch.bundles.is_empty() && batch.announced.is_none() {
            self.save_at = self.save_at.or(Some(now + CURSOR_LAG));
        } else {
            batch.cursor = Some(cursor);
            self.commit(batch, now);
        }
    }

    /// Times that follow from an event.
    fn note(&mut self, api: &Api, stored: &StoredEvent) {
        use danlu_core::Event::{NodeLost, NodeReady, NodeRemoved, PartStarted, TaskExtended};
        self.look |= super::when_free::may_change(&stored.event);
        match &stored.event {
            PartStarted { run, .. } | TaskExtended { run: Some(run), .. } => {
                self.watch_limit(api, *run);
            }
            NodeLost { node } => {
                let since = (stored.at, stored.number.to_string());
                self.away.entry(*node).or_insert(since);
            }
            NodeReady { node } | NodeRemoved { node } => drop(self.away.remove(node)),
            _ => {}
        }
    }

    fn watch_limits(&mut self, api: &Api) {
        let runs: Vec<RunId> = api.handle.model().active_runs().map(|run| run.id).collect();
        runs.into_iter().for_each(|run| self.watch_limit(api, run));
    }

    fn watch_limit(&mut self, api: &Api, run: RunId) {
        self.limits.retain(|(_, it), _| *it != run);
        let model = api.handle.model();
        let found = model.runs.get(&run);
        let task = found.and_then(|run| model.tasks.get(&run.task));
        let warning = found.zip(task).and_then(|(run, task)| expiring::warning(task, run));
        self.limits.extend(warning.map(|(at, ends)| ((at, run), ends)));
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
            let post = match outbox.post(number) {
                Ok(Some(post)) => post,
                Ok(None) | Err(_) => {
                    self.lanes.remove(number, false);
                    continue;
                }
            };
            let (api, runtime) = (self.parts.api.clone(), self.parts.runtime.clone());
            let (channels, own) = (self.channels(), self.parts.own.clone());
            let work = move || {
                let outcome = worker::deliver(&api, &runtime, &channels, &post);
                let _ = own.send(Wake::Returned { number, outcome });
            };
            if let Err(error) = std::thread::Builder::new().name("notify-send".into()).spawn(work) {
                let outcome = Delivered::Later { answer: error.to_string(), after: None };
                self.settle(number, outcome);
            }
        }
    }

    fn drop_oldest(&mut self, now: Time) {
        let mut dropped = 0;
        while self.lanes.len() > MOST_WAITING {
            let (Some(oldest), Some(outbox)) = (self.lanes.oldest(), &self.outbox) else { break };
            let answer = danlu_messages::notify::channels::dropped_full();
            let _ = outbox.settle(oldest, PostState::Dropped, answer, now);
            self.lanes.remove(oldest, false);
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
