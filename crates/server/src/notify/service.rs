//! The way into this room for the rest of the server: news for the postman, questions of the API, configuration.

use super::channels::{Channels, Delivered, Outgoing};
use super::letter::{ForeignFacts, Letter, Matter};
use super::outbox::{Post, PostState};
use super::postman::{Postman, PostmanParts, Wake};
use super::recipients::Target;
use super::render::{RenderContext, render};
use super::subject::subject;
use super::when_free::{FreeWatch, WatchRow};
use crate::api::Api;
use crate::daemon::clock;
use crate::read_model::News;
use crate::store::EventReader;
use arc_swap::ArcSwap;
use danlu_core::{Span, Time, UserId};
use danlu_messages::Language;
use danlu_messages::notify::channels as msg;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use thiserror::Error;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, oneshot};

/// Clones share the same postman.
#[derive(Debug, Clone)]
pub struct Notifier {
    shared: Arc<Shared>,
    inbox: Sender<Wake>,
}

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) channels: ArcSwap<Channels>,
    /// Somebody could be told something.
    pub(super) active: AtomicBool,
    /// News that the postman has not taken yet.
    pub(super) pending_news: AtomicUsize,
    /// Some were too many for it: it has been told to read the event table.
    pub(super) is_behind: AtomicBool,
    /// Targets whose last attempts failed: how many, and what was said last.
    pub(super) failing: ArcSwap<BTreeMap<String, (u32, String)>>,
    pub(super) counts: PostCounts,
    waiting: Mutex<Option<Receiver<Wake>>>,
    /// When each user has sent test messages of late.
    tests: Mutex<BTreeMap<UserId, Vec<Time>>>,
}

/// For monitoring systems; since the server was started.
#[derive(Debug, Default)]
pub(crate) struct PostCounts {
    waiting: AtomicU64,
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

impl PostCounts {
    pub(super) fn wait(&self, count: usize) {
        self.waiting.store(count as u64, Ordering::Relaxed);
    }

    pub(super) fn settled(&self, state: PostState) {
        let count = match state {
            PostState::Waiting => return,
            PostState::Sent => &self.sent,
            PostState::Failed => &self.failed,
            PostState::Dropped => &self.dropped,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn of(&self, state: PostState) -> u64 {
        match state {
            PostState::Waiting => self.waiting.load(Ordering::Relaxed),
            PostState::Sent => self.sent.load(Ordering::Relaxed),
            PostState::Failed => self.failed.load(Ordering::Relaxed),
            PostState::Dropped => self.dropped.load(Ordering::Relaxed),
        }
    }
}

/// The file of messages cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{}", msg::outbox_unavailable())]
pub(crate) struct NotifyUnavailable;

const TESTS_PER_MINUTE: usize = 20;
/// More are not kept in memory: they are in the event table.
const MOST_PENDING_NEWS: usize = 256;

impl Notifier {
    pub(crate) fn new(channels: Channels) -> Notifier {
        let (inbox, waiting) = channel();
        let shared = Shared {
            channels: ArcSwap::from_pointee(channels),
            active: AtomicBool::new(false),
            pending_news: AtomicUsize::new(0),
            is_behind: AtomicBool::new(false),
            failing: ArcSwap::default(),
            counts: PostCounts::default(),
            waiting: Mutex::new(Some(waiting)),
            tests: Mutex::default(),
        };
        Notifier { shared: Arc::new(shared), inbox }
    }

    /// Starts its thread, and a task that passes it the news. It ends with `stop`. `newest` is the newest event before the
    /// engine has begun: what its start brings about is news.
    pub(crate) fn start(
        &self,
        api: &Api,
        data: &Path,
        (events, newest): (EventReader, i64),
    ) -> Option<JoinHandle<()>> {
        let waiting = self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let news = api.handle.reader().news();
        let parts = PostmanParts {
            api: api.downgrade(),
            shared: Arc::clone(&self.shared),
            path: data.join("notify.db"),
            events,
            newest,
            runtime: tokio::runtime::Handle::current(),
            inbox: waiting,
            own: self.inbox.clone(),
        };
        let thread = std::thread::Builder::new().name("notify".into());
        let thread = thread.spawn(move || Postman::new(parts).run()).ok()?;
        tokio::spawn(forward(news, Arc::clone(&self.shared), self.inbox.clone()));
        Some(thread)
    }

    pub(crate) fn stop(&self) {
        let _ = self.inbox.send(Wake::Stop);
    }

    pub(crate) fn channels(&self) -> Arc<Channels> {
        self.shared.channels.load_full()
    }

    /// Takes effect for the next message.
    pub(crate) async fn configure(&self, channels: Channels) {
        self.shared.channels.store(Arc::new(channels));
        // What happens from now on is told over them. Where the file cannot be used, it is tried again.
        let _ = self.ask(Postman::reopen).await;
    }

    pub(crate) fn failing(&self) -> Arc<BTreeMap<String, (u32, String)>> {
        self.shared.failing.load_full()
    }

    pub(crate) fn counts(&self) -> &PostCounts {
        &self.shared.counts
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Postman) -> Option<T> + Send + 'static,
    ) -> Result<T, NotifyUnavailable> {
        let (reply, answer) = oneshot::channel();
        let asked = move |postman: &mut Postman| drop(reply.send(question(postman)));
        self.inbox.send(Wake::Ask(Box::new(asked))).map_err(|_| NotifyUnavailable)?;
        answer.await.ok().flatten().ok_or(NotifyUnavailable)
    }

    /// Newest first.
    pub(crate) async fn posts(
        &self,
        failed: bool,
        limit: u32,
    ) -> Result<Vec<Post>, NotifyUnavailable> {
        self.ask(move |postman| postman.posts(failed, limit)).await
    }

    /// Not more often than people press a button: a test goes to any address.
    pub(crate) fn may_test(&self, user: UserId) -> bool {
        let now = clock::now();
        let mut tests = self.shared.tests.lock().unwrap_or_else(PoisonError::into_inner);
        tests.retain(|_, times| {
            times.retain(|at| now.since(*at) < Span::from_secs(60));
            !times.is_empty()
        });
        let times = tests.entry(user).or_default();
        let may = times.len() < TESTS_PER_MINUTE;
        if may {
            times.push(now);
        }
        may
    }

    /// Both sides, once for each cause. Not waited for.
    pub(crate) fn tell_of_foreign(
        &self,
        cause: String,
        facts: ForeignFacts,
        owner: UserId,
        theirs: Option<UserId>,
        now: Time,
    ) {
        let told = move |postman: &mut Postman| {
            postman.tell_of_foreign(&cause, &facts, owner, theirs, now);
        };
        let _ = self.inbox.send(Wake::Ask(Box::new(told)));
    }

    /// At once, and not through the file: what the other side says.
    pub(crate) async fn test(&self, target: Target, user: String) -> Delivered {
        let channels = self.channels();
        let language = Language::current();
        let url = channels.config().url.clone();
        let tried = target.to_string();
        let send = move || {
            language.within(|| {
                let now = clock::now();
                let letter = Letter { at: now, matter: Matter::Test { user: user.clone() } };
                let context = RenderContext { url, user: Some(user), ..RenderContext::default() };
                let rendered = render(&letter, &context);
                let template = channels.config().email.as_ref().and_then(|it| it.subject.clone());
                let subject = subject(template.as_deref(), &letter, &rendered);
                let id = format!("test-{}", now.0);
                let (last_lines, efficiency) = (Vec::new(), None);
                let message =
                    Outgoing { id, letter, rendered, last_lines, efficiency, subject, now };
                channels.deliver(&target, &message)
            })
        };
        let failed = || Delivered::Later { answer: msg::timed_out().to_owned(), after: None };
        let outcome = tokio::task::spawn_blocking(send).await.unwrap_or_else(|_| failed());
        if let Delivered::Yes { .. } = outcome {
            let _ = self.ask(move |postman| postman.recovered(&tried)).await;
        }
        outcome
    }

    /// Its id, or `None` where the user has too many.
    pub(crate) async fn watch(
        &self,
        user: UserId,
        watch: FreeWatch,
    ) -> Result<Option<i64>, NotifyUnavailable> {
        self.ask(move |postman| postman.add_watch(user, watch)).await
    }

    pub(crate) async fn watches(&self) -> Result<Vec<WatchRow>, NotifyUnavailable> {
        self.ask(Postman::watches).await
    }

    pub(crate) async fn unwatch(&self, id: i64) -> Result<(), NotifyUnavailable> {
        self.ask(move |postman| postman.remove_watch(id)).await
    }
}

/// Passes on what is committed; what is too much now is read from the event table later.
async fn forward(
    mut news: broadcast::Receiver<Arc<News>>,
    shared: Arc<Shared>,
    inbox: Sender<Wake>,
) {
    loop {
        let piece = match news.recv().await {
            Ok(piece) => Some(piece),
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => return,
        };
        if !shared.active.load(Ordering::Relaxed) {
            continue;
        }
        let room = shared.pending_news.load(Ordering::Relaxed) < MOST_PENDING_NEWS;
        let wake = match piece.filter(|_| room) {
            Some(piece) => {
                shared.pending_news.fetch_add(1, Ordering::Relaxed);
                Wake::News(piece)
            }
            // They may have been the last for long: it is told that it has missed some, once.
            None if shared.is_behind.swap(true, Ordering::AcqRel) => continue,
            None => Wake::Behind,
        };
        if inbox.send(wake).is_err() {
            return;
        }
    }
}
