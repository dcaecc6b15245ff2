//! Sends points to InfluxDB: one thread takes them and puts them into a file, one for each database sends what waits there.

mod buffer;
mod line;
mod points;
mod request;
mod schedule;
mod threads;

pub(crate) use request::InfluxTarget;

use crate::api::Api;
use crate::daemon::notices::{self, NoticeKind};
use buffer::{PointBatch, PointBuffer};
use danlu_messages::server::metrics as msg;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Clones share the same threads. Without a database there are none.
#[derive(Debug, Clone, Default)]
pub(crate) struct Influx {
    running: Arc<Mutex<Option<Arc<InfluxRun>>>>,
}

/// One configuration, and its threads.
#[derive(Debug)]
struct InfluxRun {
    buffer: PointBuffer,
    sinks: Vec<Arc<InfluxSink>>,
    state: Mutex<InfluxState>,
    /// Something waits, or it is time to end.
    news: Condvar,
}

#[derive(Debug, Default)]
struct InfluxState {
    stopped: bool,
    /// How often points were taken.
    rounds: u64,
}

/// A database and how it goes.
#[derive(Debug)]
pub(crate) struct InfluxSink {
    /// Names it for people: address and database.
    label: String,
    target: InfluxTarget,
    /// It does not read compressed bodies.
    plain: AtomicBool,
    /// Points, as the next ones.
    waiting: AtomicU64,
    sent: AtomicU64,
    refused: AtomicU64,
    dropped: AtomicU64,
    failing: Mutex<SinkTrouble>,
}

/// Attempts in a row that failed, and what was said last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct SinkTrouble {
    failures: u32,
    answer: String,
}

/// Of one database, for people and monitoring systems.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct InfluxFigures {
    pub(crate) target: String,
    /// Points, as the next ones.
    pub(crate) waiting: u64,
    pub(crate) sent: u64,
    pub(crate) refused: u64,
    pub(crate) dropped: u64,
    /// What was said last, while it does not take points.
    pub(crate) failing: Option<String>,
}

impl Influx {
    /// Ends the threads of the old configuration and starts those of the new one. What waits for a database that both have is kept.
    pub(crate) fn configure(&self, api: &Api, data: &Path, targets: Vec<InfluxTarget>) {
        self.stop();
        // Of the old ones; who still fails is told of again.
        let runtime = tokio::runtime::Handle::current();
        notices::withdraw(&api.handle, &runtime, |it| {
            matches!(it, NoticeKind::ExportFailing { .. })
        });
        let path = data.join("influxdb.db");
        if targets.is_empty() && !path.exists() {
            return;
        }
        let buffer = PointBuffer::open(&path);
        let sinks: Vec<Arc<InfluxSink>> =
            targets.into_iter().map(|target| Arc::new(InfluxSink::new(target))).collect();
        buffer.keep_only(&sinks.iter().map(|sink| sink.label.as_str()).collect::<BTreeSet<_>>());
        if sinks.is_empty() {
            return;
        }
        let run = InfluxRun { buffer, sinks, state: Mutex::default(), news: Condvar::new() };
        run.sinks.iter().for_each(|sink| run.count(sink));
        let run = Arc::new(run);
        threads::start(&run, api);
        *self.lock() = Some(run);
    }

    /// What is under way is sent again by the next server: the points are the same, at the same times.
    pub(crate) fn stop(&self) {
        if let Some(run) = self.lock().take() {
            run.state().stopped = true;
            run.news.notify_all();
        }
    }

    pub(crate) fn figures(&self) -> Vec<InfluxFigures> {
        let Some(run) = self.lock().clone() else { return Vec::new() };
        run.sinks.iter().map(|sink| sink.figures()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<InfluxRun>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InfluxRun {
    fn state(&self) -> MutexGuard<'_, InfluxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Points were taken.
    fn tell(&self) {
        self.state().rounds += 1;
        self.news.notify_all();
    }

    /// Readers need not wait for the file.
    fn count(&self, sink: &InfluxSink) {
        sink.waiting.store(self.buffer.waiting(&sink.label), Ordering::Relaxed);
    }

    /// Until it is to end, or so long has passed. False where it is to end.
    fn rest(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let mut state = self.state();
        while !state.stopped {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            let waited = self.news.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// The oldest points for a database, once there are some; `None` where it is to end.
    fn next(&self, sink: &InfluxSink) -> Option<PointBatch> {
        loop {
            let seen = self.state().rounds;
            if let Some(batch) = self.buffer.oldest(&sink.label) {
                return Some(batch).filter(|_| !self.is_stopped());
            }
            let mut state = self.state();
            while !state.stopped && state.rounds == seen {
                state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.stopped {
                return None;
            }
        }
    }
}

impl InfluxSink {
    fn new(target: InfluxTarget) -> InfluxSink {
        InfluxSink {
            label: target.config.label(),
            target,
            plain: AtomicBool::new(false),
            waiting: AtomicU64::new(0),
            sent: AtomicU64::new(0),
            refused: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            failing: Mutex::default(),
        }
    }

    fn trouble(&self) -> MutexGuard<'_, SinkTrouble> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn figures(&self) -> InfluxFigures {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let trouble = self.trouble().clone();
        let answer = match trouble.answer.is_empty() {
            true => msg::no_answer().to_owned(),
            false => trouble.answer,
        };
        InfluxFigures {
            target: self.label.clone(),
            waiting: read(&self.waiting),
            sent: read(&self.sent),
            refused: read(&self.refused),
            dropped: read(&self.dropped),
            failing: (trouble.failures > 0).then_some(answer),
        }
    }
}
