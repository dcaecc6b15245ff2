//! The thread that samples the GPUs of this machine: woken by events where the probe has any, else by a timer.

use super::capacity;
use super::memory::{self, FreeMemory};
use super::tenants::Tenants;
use crate::boot::boot_id;
use crate::gpu::{
    Baselines, GpuDetails, Monitor, Probe, ProbeConfig, ProbeError, ProbeKind, RunShare, Sampled,
};
use crate::private;
use crate::run_of_process::run_of_process;
use crate::rundir::RunRoot;
use danlu_core::gpu::GpuReport;
use danlu_wire::FromAgent;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use tracing::{info, warn};

/// The last sample, for reports.
#[derive(Debug, Clone, Default)]
pub(super) struct LatestReading(Arc<Mutex<LastReading>>);

#[derive(Debug, Default)]
struct LastReading {
    reports: Vec<GpuReport>,
    details: Arc<Vec<GpuDetails>>,
    shares: Vec<RunShare>,
    free_memory: Option<u64>,
    /// How the GPUs are asked, or why there are none.
    probe: String,
}

impl LatestReading {
    pub(super) fn probe(&self) -> String {
        self.lock().probe.clone()
    }

    pub(super) fn reports(&self) -> Vec<GpuReport> {
        self.lock().reports.clone()
    }

    pub(super) fn gpus(&self) -> (Arc<Vec<GpuDetails>>, Vec<RunShare>) {
        let last = self.lock();
        (Arc::clone(&last.details), last.shares.clone())
    }

    pub(super) fn free_memory(&self) -> Option<u64> {
        self.lock().free_memory
    }

    fn lock(&self) -> MutexGuard<'_, LastReading> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after the GPUs until it is dropped.
#[derive(Debug, Default)]
pub(super) struct ProbeThread {
    /// A byte wakes the thread; closing it ends the thread.
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
    seen: LatestReading,
    tenants: Tenants,
    say: impl Fn(FromAgent) + Send + 'static,
) -> ProbeThread {
    let mut watcher = GpuWatcher {
        monitor: None,
        config: config.clone(),
        memory: BaselineFile::beside(runs.path()),
        runs,
        seen,
        tenants,
        free_memory: FreeMemory::default(),
        total_memory: capacity().memory,
    };
    if let Err(reason) = watcher.open() {
        info!(%reason, "no GPUs on this machine");
    }
    watcher.look().tell(&say);
    let Ok((woken, wake)) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC) else {
        warn!("the GPUs are not watched: no pipe could be made");
        return ProbeThread::default();
    };
    let (after, waiting) = mpsc::channel::<AfterLook>();
    // Simulated GPUs report changes by events: no look is needed.
    let after = (config.kind != Some(ProbeKind::Sim)).then_some(after);
    let watch = move || {
        while watcher.wait(&woken) {
            let waited: Vec<AfterLook> = waiting.try_iter().collect();
            watcher.look().tell(&say);
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
struct GpuWatcher {
    monitor: Option<Monitor>,
    config: ProbeConfig,
    memory: BaselineFile,
    runs: RunRoot,
    seen: LatestReading,
    tenants: Tenants,
    free_memory: FreeMemory,
    total_memory: u64,
}

/// Changes since the last sample.
#[derive(Default)]
struct GpuChanges {
    gpus: Option<Vec<GpuReport>>,
    details: Option<Vec<GpuDetails>>,
    free_memory: Option<u64>,
}

impl GpuChanges {
    fn tell(self, say: impl Fn(FromAgent)) {
        self.free_memory.map(|free| FromAgent::Memory { free }).into_iter().for_each(&say);
        self.gpus.map(FromAgent::Gpus).into_iter().for_each(&say);
        self.details.map(FromAgent::Details).into_iter().for_each(&say);
    }
}

impl GpuWatcher {
    fn open(&mut self) -> Result<(), ProbeError> {
        let probe = Probe::detect(&self.config)
            .inspect_err(|reason| self.seen.lock().probe = reason.to_string())?;
        self.seen.lock().probe = match probe.kind() {
            ProbeKind::Nvml => "NVML",
            ProbeKind::Smi => "nvidia-smi",
            ProbeKind::Amd => "sysfs",
            ProbeKind::Sim => "simulated",
        }
        .to_owned();
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

    fn look(&mut self) -> GpuChanges {
        if self.monitor.is_none() && self.open().is_ok() {
            info!("GPUs have been found");
        }
        let mut free = memory::available();
        let mut changes = GpuChanges::default();
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
            let Sampled { reports, details, changed, shares, .. } = sampled;
            let mut seen = self.seen.lock();
            if details != *seen.details {
                seen.details = Arc::new(details.clone());
                changes.details = Some(details);
            }
            seen.reports.clone_from(&reports);
            seen.shares = shares;
            drop(seen);
            changes.gpus = changed.then_some(reports);
        }
        changes.free_memory = self.free_memory.change(free, self.total_memory);
        self.seen.lock().free_memory = self.free_memory.told();
        changes
    }
}

/// The memory that idle GPUs use, for the next server: memory that a run did not release
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
        if let Err(cause) = private::replace(&self.path, text.as_bytes()) {
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
