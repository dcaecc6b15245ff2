//! History of use: samples of machines, GPUs and runs, kept in `usage.db` beside the main database.
//!
//! Samples come in by [`Usage::note`], which never waits. One thread keeps them (`writer.rs`): the newest in memory
//! (`open_blocks.rs`), older ones in compressed blocks (`codec.rs`, `file.rs`), summed up by minutes and hours
//! (`rollup.rs`). After a crash the last minute is missing.

mod card;
mod codec;
mod file;
mod open_blocks;
mod query;
mod rollup;
mod subject;
mod summary;
#[cfg(test)]
mod tests;
mod writer;

pub use card::{AskedFor, Card, card};
pub use query::{SeriesPoint, SubjectSeries};
pub use rollup::Spread;
pub use subject::{Metric, Subject};
pub use summary::{Average, GpuSummary, PartSummary, RunSummary};
pub use writer::{Unwritten, UsageWriter};

use crate::daemon::clock;
use crate::daemon::config::Sampling;
use crate::idle::IdleMessage;
use arc_swap::ArcSwap;
use danlu_core::{GpuId, NodeId, RunId, Time, UserId};
use danlu_node::SamplingOrders;
use danlu_wire::samples::{CustomReading, Samples};
use file::UsageFile;
use imbl::OrdMap;
use open_blocks::OpenBlocks;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The history of use, and what was measured last. Clones share the same data; the default one keeps nothing.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    shared: Option<Arc<UsageShared>>,
}

#[derive(Debug)]
struct UsageShared {
    path: PathBuf,
    inbox: SyncSender<UsageMessage>,
    open: Mutex<OpenBlocks>,
    /// Connections that nobody uses at the moment.
    readers: Mutex<Vec<UsageFile>>,
    live: ArcSwap<OrdMap<NodeId, Arc<Samples>>>,
    custom: ArcSwap<NewestCustom>,
    /// Messages that the writer has not taken yet, and samples that there was no room for.
    waiting: AtomicU64,
    dropped: AtomicU64,
    settings: ArcSwap<Sampling>,
    /// What is measured on the server's own machine.
    local: OnceLock<SamplingOrders>,
    /// Who hears of all samples as well.
    listener: OnceLock<SyncSender<IdleMessage>>,
}

/// Who has measured: the agent of a machine, or a person's own agent there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampleSource {
    pub node: NodeId,
    pub user: Option<UserId>,
}

#[derive(Debug)]
enum UsageMessage {
    Samples {
        from: SampleSource,
        at: i64,
        samples: Arc<Samples>,
    },
    Forget(Vec<RunId>),
    /// Store what there is, as of this time, then say so.
    Flush(i64, SyncSender<()>),
    Stop,
}

/// Of the administrator's probes, in thousandths of their unit; without a GPU: of the machine.
pub(crate) type NewestCustom = OrdMap<(NodeId, String, Option<GpuId>), i64>;

pub(crate) const FILE: &str = "usage.db";
/// Samples that may wait for the disk; more are dropped, for nobody may wait for samples.
const WAITING: usize = 4_096;

impl Usage {
    /// The second writes what the first takes, once it is started.
    pub fn new(data: &Path, settings: &Sampling) -> (Usage, Unwritten) {
        let (inbox, received) = sync_channel(WAITING);
        let shared = Arc::new(UsageShared {
            path: data.join(FILE),
            inbox,
            open: Mutex::default(),
            readers: Mutex::default(),
            live: ArcSwap::default(),
            custom: ArcSwap::default(),
            waiting: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            settings: ArcSwap::from_pointee(settings.clone()),
            local: OnceLock::new(),
            listener: OnceLock::new(),
        });
        (Usage { shared: Some(Arc::clone(&shared)) }, Unwritten::new(shared, received))
    }

    /// By the clock of the server, so that all machines have one time.
    pub fn note(&self, from: SampleSource, samples: Samples) {
        self.note_at(from, samples, clock::now().0);
    }

    pub fn note_at(&self, from: SampleSource, samples: Samples, at: i64) {
        let Some(shared) = &self.shared else { return };
        let samples = Arc::new(samples);
        if from.user.is_none() {
            shared.live.rcu(|live| live.update(from.node, Arc::clone(&samples)));
            if !samples.custom.is_empty() {
                shared.note_custom(from.node, &samples.custom);
            }
        }
        if let Some(listener) = shared.listener.get() {
            let (at, samples) = (Time(at), Arc::clone(&samples));
            let _ = listener.try_send(IdleMessage::Samples { from, at, samples });
        }
        // Before the writer can take it.
        shared.waiting.fetch_add(1, Ordering::Relaxed);
        if shared.inbox.try_send(UsageMessage::Samples { from, at, samples }).is_err() {
            shared.waiting.fetch_sub(1, Ordering::Relaxed);
            shared.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// From now on; samples that it has no room for are not waited for.
    pub(crate) fn on_samples(&self, listener: SyncSender<IdleMessage>) {
        if let Some(shared) = &self.shared {
            let _ = shared.listener.set(listener);
        }
    }

    /// The machine is away: nothing of it is known at the moment.
    pub fn lost(&self, node: NodeId) {
        if let Some(shared) = &self.shared {
            shared.live.rcu(|live| live.without(&node));
            shared.custom.rcu(|custom| {
                let others = custom.iter().filter(|((on, _, _), _)| *on != node);
                others.map(|(key, value)| (key.clone(), *value)).collect::<NewestCustom>()
            });
        }
    }

    /// What each probe of the administrator's has measured last.
    pub(crate) fn newest_custom(&self) -> Arc<NewestCustom> {
        self.shared.as_ref().map_or_else(Arc::default, |shared| shared.custom.load_full())
    }

    /// How many samples wait to be kept, and how many were dropped since the start.
    pub(crate) fn backlog(&self) -> (u64, u64) {
        let Some(shared) = &self.shared else { return (0, 0) };
        (shared.waiting.load(Ordering::Relaxed), shared.dropped.load(Ordering::Relaxed))
    }

    /// What each machine has measured last.
    pub fn live(&self) -> Arc<OrdMap<NodeId, Arc<Samples>>> {
        self.shared.as_ref().map_or_else(Arc::default, |shared| shared.live.load_full())
    }

    /// Their tasks were removed.
    pub fn forget(&self, runs: Vec<RunId>) {
        if let Some(shared) = self.shared.as_ref().filter(|_| !runs.is_empty()) {
            // What is not forgotten now is forgotten by its age.
            let _ = shared.inbox.try_send(UsageMessage::Forget(runs));
        }
    }

    /// The server's own machine begins to measure.
    pub(crate) fn measure(&self, local: SamplingOrders) {
        if let Some(shared) = &self.shared {
            local.order(shared.settings.load().order());
            let _ = shared.local.set(local);
        }
    }

    /// From now on; other machines have to be told.
    pub(crate) fn set(&self, settings: &Sampling) {
        if let Some(shared) = &self.shared {
            shared.settings.store(Arc::new(settings.clone()));
            shared.local.get().into_iter().for_each(|local| local.order(settings.order()));
        }
    }

    pub fn settings(&self) -> Arc<Sampling> {
        self.shared.as_ref().map_or_else(Arc::default, |shared| shared.settings.load_full())
    }

    /// Returns when all that was noted before is in the file. By a clock of the caller's, in milliseconds, for what measures
    /// and tests it.
    pub fn flush_at(&self, now: i64) {
        let (done, stored) = sync_channel(1);
        let message = UsageMessage::Flush(now, done);
        let sent = self.shared.as_ref().map(|shared| shared.inbox.send(message));
        if let Some(Ok(())) = sent {
            let _ = stored.recv();
        }
    }
}

impl UsageShared {
    fn note_custom(&self, node: NodeId, read: &[CustomReading]) {
        self.custom.rcu(|custom| {
            let mut custom = NewestCustom::clone(custom);
            for CustomReading { metric, gpu, value } in read {
                custom.insert((node, metric.clone(), gpu.clone()), *value);
            }
            custom
        });
    }

    fn open(&self) -> MutexGuard<'_, OpenBlocks> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readers(&self) -> MutexGuard<'_, Vec<UsageFile>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
