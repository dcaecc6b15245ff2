//! The thread that keeps samples: takes them into memory, and stores them every minute or every few megabytes.

use super::file::{FileResult, UsageFile};
use super::open_blocks::{Sealed, window_start};
use super::rollup::Tier;
use super::subject::{self, Subject};
use super::{SampleSource, UsageMessage, UsageShared};
use crate::daemon::clock;
use danlu_core::{RunId, Span};
use danlu_wire::samples::Samples;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::{info, warn};

/// After a crash no more than this is missing.
const STORE_EVERY: Duration = Duration::from_secs(60);
/// Numbers in memory that are stored before that: four megabytes.
const STORE_ABOVE: usize = (4 << 20) / size_of::<i64>();
/// Slices of old blocks that are taken away at a time.
const SLICES: usize = 8;

/// Samples that nobody writes yet.
#[derive(Debug)]
pub struct Unwritten {
    shared: Arc<UsageShared>,
    received: Receiver<UsageMessage>,
}

/// The thread. [`UsageWriter::stop`] stores all there is.
#[derive(Debug)]
pub struct UsageWriter {
    inbox: SyncSender<UsageMessage>,
    thread: Option<JoinHandle<()>>,
    aside: Option<PathBuf>,
}

struct Writer {
    shared: Arc<UsageShared>,
    /// `None` while it cannot be opened.
    file: Option<UsageFile>,
    /// The runs that each has listed last.
    listed: BTreeMap<SampleSource, BTreeSet<RunId>>,
    /// Not listed any more.
    ended: BTreeSet<RunId>,
    /// A failure is told once.
    failed: bool,
}

impl Unwritten {
    pub(super) fn new(shared: Arc<UsageShared>, received: Receiver<UsageMessage>) -> Unwritten {
        Unwritten { shared, received }
    }

    /// Opens the file before it returns.
    pub fn start(self) -> UsageWriter {
        let Unwritten { shared, received } = self;
        let inbox = shared.inbox.clone();
        let mut writer = Writer {
            shared,
            file: None,
            listed: BTreeMap::new(),
            ended: BTreeSet::new(),
            failed: false,
        };
        let aside = writer.open();
        let thread = std::thread::Builder::new()
            .name("usage".into())
            .spawn(move || writer.run(&received))
            .inspect_err(|cause| warn!(%cause, "the history of use is not kept"))
            .ok();
        UsageWriter { inbox, thread, aside }
    }
}

impl UsageWriter {
    /// Where a file is now that could not be used, for the administrator.
    pub fn set_aside(&self) -> Option<&PathBuf> {
        self.aside.as_ref()
    }

    pub fn stop(mut self) {
        let _ = self.inbox.send(UsageMessage::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Writer {
    fn open(&mut self) -> Option<PathBuf> {
        match UsageFile::open(&self.shared.path) {
            Ok((file, aside)) => {
                if let Err(cause) = self.shared.open().restore(&file) {
                    warn!(%cause, "the newest samples of the last process are not read");
                }
                self.file = Some(file);
                aside
            }
            Err(cause) => {
                warn!(%cause, "the history of use cannot be kept at the moment");
                self.failed = true;
                None
            }
        }
    }

    fn run(mut self, received: &Receiver<UsageMessage>) {
        let mut store_at = Instant::now() + STORE_EVERY;
        loop {
            let message = received.recv_timeout(store_at.saturating_duration_since(Instant::now()));
            let mut stored = None;
            match message {
                Ok(UsageMessage::Samples { from, at, samples }) => {
                    self.shared.waiting.fetch_sub(1, Ordering::Relaxed);
                    self.take(from, at, &samples);
                }
                Ok(UsageMessage::Forget(runs)) => self.forget(&runs),
                Ok(UsageMessage::Flush(now, done)) => stored = Some((now, done)),
                Ok(UsageMessage::Stop) | Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let much = self.shared.open().unsaved > STORE_ABOVE;
            if much || stored.is_some() || Instant::now() >= store_at {
                self.store(stored.as_ref().map_or_else(|| clock::now().0, |(now, _)| *now));
                store_at = Instant::now() + STORE_EVERY;
            }
            drop(stored);
        }
        self.store(clock::now().0);
        if let Some(file) = &self.file {
            file.settle();
        }
    }

    fn take(&mut self, from: SampleSource, at: i64, samples: &Samples) {
        let SampleSource { node, .. } = from;
        let interval = i64::try_from(self.shared.settings.load().interval.0).unwrap_or(2_000);
        let mut open = self.shared.open();
        if let Some(machine) = &samples.machine {
            open.add(Subject::Machine(node), at, subject::of_machine(machine));
        }
        for gpu in &samples.gpus {
            open.add(Subject::Gpu(gpu.gpu.clone()), at, subject::of_gpu(gpu));
        }
        for custom in &samples.custom {
            let name = custom.metric.clone();
            let of = match &custom.gpu {
                Some(gpu) => Subject::GpuMetric { gpu: gpu.clone(), name },
                None => Subject::MachineMetric { node, name },
            };
            open.add(of, at, vec![custom.value]);
        }
        for reading in &samples.runs {
            let run = reading.run;
            open.add(Subject::Part { run, node }, at, subject::of_part(reading));
            for gpu in &reading.gpus {
                let of = Subject::RunGpu { run, gpu: gpu.gpu.clone() };
                open.add(of, at, subject::of_load(&gpu.load));
            }
            // It may have been measured by an earlier process.
            let earlier = || self.file.as_ref()?.summary(run).ok().flatten();
            let summary = open.runs.entry(run).or_insert_with(|| earlier().unwrap_or_default());
            summary.add(node, reading, at, interval);
            open.changed_runs.insert(run);
        }
        drop(open);
        let now: BTreeSet<RunId> = samples.runs.iter().map(|reading| reading.run).collect();
        let before = self.listed.insert(from, now).unwrap_or_default();
        let listed = |run: &RunId| self.listed.values().any(|runs| runs.contains(run));
        let gone: Vec<RunId> = before.into_iter().filter(|run| !listed(run)).collect();
        self.ended.extend(gone);
        self.ended.retain(|run| !self.listed.values().any(|runs| runs.contains(run)));
    }

    fn forget(&mut self, runs: &[RunId]) {
        runs.iter().for_each(|run| self.shared.open().forget(*run));
        let forgotten = self.file.as_mut().map(|file| {
            file.transaction(|file| runs.iter().try_for_each(|run| file.forget_run(*run)))
        });
        if let Some(Err(cause)) = forgotten {
            self.complain(&cause);
        }
    }

    fn store(&mut self, now: i64) {
        if self.file.is_none() {
            self.open();
        }
        let Some(mut file) = self.file.take() else { return };
        match self.store_in(&mut file, now).and_then(|()| self.prune(&mut file, now)) {
            Ok(()) if self.failed => {
                self.failed = false;
                info!("the history of use is kept again");
            }
            Ok(()) => {}
            Err(cause) => self.complain(&cause),
        }
        self.file = Some(file);
    }

    fn store_in(&mut self, file: &mut UsageFile, now: i64) -> FileResult<()> {
        let mut open = self.shared.open();
        let sealed: Vec<Sealed> = open.seal(now, &self.ended);
        let journal = open.journal(file)?;
        let summaries: Vec<_> = std::mem::take(&mut open.changed_runs)
            .into_iter()
            .filter_map(|run| Some((run, open.runs.get(&run)?.clone())))
            .collect();
        drop(open);
        let stored = file.transaction(|file| {
            for Sealed { subject, blocks } in &sealed {
                let id = file.subject(subject)?;
                blocks.iter().try_for_each(|block| file.close(id, block))?;
            }
            if let Some((newest, entry)) = &journal {
                file.add_to_journal(*newest, entry)?;
            }
            summaries.iter().try_for_each(|(run, summary)| file.put_summary(*run, summary))?;
            file.drop_journal(window_start(now))
        });
        let mut open = self.shared.open();
        match stored {
            Ok(()) => {
                open.stored(&sealed);
                open.journalled();
                for run in std::mem::take(&mut self.ended) {
                    open.runs.remove(&run);
                }
                Ok(())
            }
            Err(cause) => {
                open.changed_runs.extend(summaries.iter().map(|(run, _)| *run));
                Err(cause)
            }
        }
    }

    /// A slice at a time: by age, and beyond the size the oldest samples, then the oldest minutes, then hours.
    fn prune(&mut self, file: &mut UsageFile, now: i64) -> FileResult<()> {
        let settings = self.shared.settings.load_full();
        let before = |keep: Span| now.saturating_sub(i64::try_from(keep.0).unwrap_or(i64::MAX));
        let mut pruned = 0;
        let kept = [
            (Tier::Raw, settings.keep_raw),
            (Tier::Minutes, settings.keep_minutes),
            (Tier::Hours, settings.keep_hours),
        ];
        for (tier, keep) in kept {
            pruned += file.prune(tier, before(keep))?;
        }
        for _ in 0..SLICES {
            if file.size()? <= settings.max_size {
                break;
            }
            let oldest = [Tier::Raw, Tier::Minutes, Tier::Hours].into_iter();
            let mut taken = 0;
            for tier in oldest {
                taken = file.prune(tier, i64::MAX)?;
                if taken > 0 {
                    break;
                }
            }
            pruned += taken;
            if taken == 0 {
                break;
            }
        }
        if pruned > 0 {
            file.prune_subjects()?;
            file.shrink()?;
        }
        Ok(())
    }

    fn complain(&mut self, cause: &rusqlite::Error) {
        if !std::mem::replace(&mut self.failed, true) {
            warn!(%cause, "the history of use cannot be stored; it is tried again every minute");
        }
    }
}
