//! One thread looks after the GPUs of this machine: woken by events where there are any, by a timer elsewhere.

use super::history::{History, Sample};
use super::memory::{self, FreeMemory};
use super::tenants::Tenants;
use arc_swap::ArcSwap;
use danlu_core::gpu::GpuReport;
use danlu_core::ids::GpuId;
use danlu_node::gpu::{
    Baselines, GpuDetails, Monitor, Probe, ProbeConfig, ProbeError, ProbeKind, Sampled,
};
use danlu_node::{RunRoot, boot_id, run_of_process};
use danlu_wire::FromAgent;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use std::time::Duration;
use tracing::{info, warn};

/// What was seen last, for reports and for people.
#[derive(Debug, Clone, Default)]
pub struct LiveGpus {
    seen: Arc<ArcSwap<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    reports: Vec<GpuReport>,
    free_memory: Option<u64>,
    details: BTreeMap<GpuId, GpuDetails>,
    history: History,
}

impl LiveGpus {
    pub(super) fn reports(&self) -> Vec<GpuReport> {
        self.seen.load().reports.clone()
    }

    pub(super) fn free_memory(&self) -> Option<u64> {
        self.seen.load().free_memory
    }

    pub fn details(&self, gpu: &GpuId) -> Option<GpuDetails> {
        self.seen.load().details.get(gpu).cloned()
    }

    pub fn history(&self, gpu: &GpuId) -> Vec<Sample> {
        self.seen.load().history.of(gpu)
    }
}

/// Looks after the GPUs until it is dropped.
#[derive(Debug, Default)]
pub(super) struct ProbeThread {
    /// What is written here wakes the thread; when it is closed, the thread ends.
    wake: Option<OwnedFd>,
    after: Option<Sender<AfterLook>>,
    thread: Option<JoinHandle<()>>,
}

type AfterLook = Box<dyn FnOnce() + Send>;

/// A driver that is loaded late is noticed this much later.
const LOOK_FOR_GPUS: Duration = Duration::from_secs(30);

/// The first look is taken before this returns, so that the first report knows the GPUs.
pub(super) fn start(
    config: &ProbeConfig,
    runs: RunRoot,
    live: LiveGpus,
    tenants: Tenants,
    say: impl Fn(FromAgent) + Send + 'static,
) -> ProbeThread {
    let mut eye = Eye {
        monitor: None,
        config: config.clone(),
        memory: BaselineFile::beside(runs.path()),
        runs,
        live,
        tenants,
        free_memory: FreeMemory::default(),
        total_memory: super::local::capacity().memory,
    };
    if let Err(reason) = eye.open() {
        info!(%reason, "no GPUs on this machine");
    }
    eye.look();
    let Ok((woken, wake)) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC) else {
        warn!("the GPUs are not watched: no pipe could be made");
        return ProbeThread::default();
    };
    let (after, waiting) = mpsc::channel::<AfterLook>();
    // Simulated GPUs say themselves when something has changed: nobody need look.
    let after = (config.kind != Some(ProbeKind::Sim)).then_some(after);
    let watch = move || {
        while eye.wait(&woken) {
            let waited: Vec<AfterLook> = waiting.try_iter().collect();
            let news = eye.look();
            if let Some(free) = news.free_memory {
                say(FromAgent::Memory { free });
            }
            if news.gpus_changed {
                say(FromAgent::Gpus(eye.live.reports()));
            }
            waited.into_iter().for_each(|then| then());
        }
    };
    match std::thread::Builder::new().name("gpu-probe".into()).spawn(watch) {
        Ok(thread) => ProbeThread { wake: Some(wake), after, thread: Some(thread) },
        Err(cause) => {
            warn!(%cause, "the GPUs are not watched");
            ProbeThread::default()
        }
    }
}

impl ProbeThread {
    /// Something has changed that the GPUs do not tell by themselves.
    pub(super) fn wake(&self) {
        if let Some(wake) = &self.wake {
            let _ = nix::unistd::write(wake, &[0]);
        }
    }

    /// `then` follows a look at the GPUs that begins after this call, and what that look leads to.
    pub(super) fn look_first(&self, then: impl FnOnce() + Send + 'static) {
        match (&self.after, &self.wake) {
            (Some(after), Some(wake)) => {
                if let Err(mpsc::SendError(then)) = after.send(Box::new(then)) {
                    return then();
                }
                let _ = nix::unistd::write(wake, &[0]);
            }
            _ => then(),
        }
    }
}

/// The monitor, where GPUs have been found, and what it needs.
struct Eye {
    monitor: Option<Monitor>,
    config: ProbeConfig,
    memory: BaselineFile,
    runs: RunRoot,
    live: LiveGpus,
    tenants: Tenants,
    free_memory: FreeMemory,
    total_memory: u64,
}

/// What is different since the last look.
#[derive(Default)]
struct News {
    gpus_changed: bool,
    free_memory: Option<u64>,
}

impl Eye {
    fn open(&mut self) -> Result<(), ProbeError> {
        let probe = Probe::detect(&self.config)?;
        self.monitor = Some(Monitor::new(probe, self.config.proc.clone(), self.memory.read()));
        Ok(())
    }

    /// Returns when there is something to look at; false when it is time to end.
    fn wait(&self, woken: &OwnedFd) -> bool {
        let mut fds = vec![PollFd::new(woken.as_fd(), PollFlags::POLLIN)];
        let period = match &self.monitor {
            Some(monitor) => {
                fds.extend(monitor.fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
                monitor.period()
            }
            None => Some(LOOK_FOR_GPUS),
        };
        let period = period.and_then(|period| PollTimeout::try_from(period).ok());
        // An interrupted wait is only an early look.
        let _ = poll(&mut fds, period.unwrap_or(PollTimeout::NONE));
        if fds[0].revents().is_none_or(|events| events.is_empty()) {
            return true;
        }
        nix::unistd::read(woken, &mut [0; 256]).is_ok_and(|count| count > 0)
    }

    fn look(&mut self) -> News {
        if self.monitor.is_none() && self.open().is_ok() {
            info!("GPUs have been found");
        }
        let mut free = memory::available();
        let mut news = News::default();
        if let Some(monitor) = &mut self.monitor {
            if let Probe::Sim(sim) = monitor.probe() {
                sim.set_tenants(self.tenants.now());
            }
            let sampled = monitor.sample(&|pid| run_of_process(&self.runs, pid));
            for problem in &sampled.problems {
                warn!(problem, "GPU probe");
            }
            self.memory.keep(monitor.baselines());
            // A simulated machine has as much memory as its script says.
            if let Probe::Sim(sim) = monitor.probe() {
                free = sim.free_memory();
            }
            news = News { gpus_changed: sampled.changed, free_memory: None };
            self.remember(sampled);
        }
        news.free_memory = self.free_memory.news(free, self.total_memory);
        if news.free_memory.is_some() {
            let seen = self.live.seen.load();
            let (reports, details) = (seen.reports.clone(), seen.details.clone());
            let (free_memory, history) = (self.free_memory.told(), seen.history.clone());
            self.live.seen.store(Arc::new(Seen { reports, free_memory, details, history }));
        }
        news
    }

    fn remember(&mut self, sampled: Sampled) {
        let (free_memory, reports) = (self.free_memory.told(), sampled.reports);
        let mut history = self.live.seen.load().history.clone();
        let now = crate::clock::now();
        sampled.details.iter().for_each(|gpu| history.note(gpu, now));
        let details = sampled.details.into_iter().map(|gpu| (gpu.uuid.clone(), gpu)).collect();
        self.live.seen.store(Arc::new(Seen { reports, free_memory, details, history }));
    }
}

/// How much memory the GPUs use when nobody does, for the next server: memory that a run did not give back
/// while this one was away is seen all the same.
struct BaselineFile {
    path: PathBuf,
    kept: Option<Baselines>,
}

#[derive(Serialize, Deserialize)]
struct StoredBaselines {
    /// After a reboot, perhaps with another driver, the GPUs begin anew.
    boot_id: String,
    bytes: Baselines,
}

impl BaselineFile {
    fn beside(runs: &Path) -> BaselineFile {
        BaselineFile { path: runs.join("gpu-baselines.json"), kept: None }
    }

    fn read(&self) -> Baselines {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        match serde_json::from_str::<StoredBaselines>(&text) {
            Ok(stored) if stored.boot_id == boot_id() => stored.bytes,
            _ => Baselines::default(),
        }
    }

    fn keep(&mut self, baselines: &Baselines) {
        if self.kept.as_ref() == Some(baselines) {
            return;
        }
        self.kept = Some(baselines.clone());
        let stored = StoredBaselines { boot_id: boot_id().to_owned(), bytes: baselines.clone() };
        let text = serde_json::to_string(&stored).unwrap_or_default();
        let fresh = self.path.with_extension("json.new");
        if let Err(cause) = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, &self.path)) {
            warn!(%cause, "the memory that idle GPUs use could not be noted");
        }
    }
}

impl Drop for ProbeThread {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
