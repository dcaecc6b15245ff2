//! One thread looks after the GPUs of this machine: woken by events where there are any, by a timer elsewhere.

use arc_swap::ArcSwap;
use danlu_core::gpu::GpuReport;
use danlu_core::ids::GpuId;
use danlu_node::gpu::{Baselines, GpuDetails, Monitor, Probe, ProbeConfig};
use danlu_node::{RunRoot, run_of_process};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;
use tracing::{info, warn};

/// What was seen last, for reports and for people.
#[derive(Debug, Clone, Default)]
pub struct LiveGpus {
    seen: Arc<ArcSwap<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    reports: Vec<GpuReport>,
    details: BTreeMap<GpuId, GpuDetails>,
}

impl LiveGpus {
    pub(super) fn reports(&self) -> Vec<GpuReport> {
        self.seen.load().reports.clone()
    }

    pub fn details(&self, gpu: &GpuId) -> Option<GpuDetails> {
        self.seen.load().details.get(gpu).cloned()
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

/// The first look is taken before this returns, so that the first report knows the GPUs.
pub(super) fn start(
    config: &ProbeConfig,
    runs: RunRoot,
    live: LiveGpus,
    say: impl Fn(Vec<GpuReport>) + Send + 'static,
) -> ProbeThread {
    let probe = match Probe::detect(config) {
        Ok(probe) => probe,
        Err(reason) => {
            info!(%reason, "no GPUs on this machine");
            return ProbeThread::default();
        }
    };
    let mut monitor = Monitor::new(probe, config.proc.clone(), Baselines::default());
    look(&mut monitor, &runs, &live);
    let Ok((woken, wake)) = nix::unistd::pipe2(nix::fcntl::OFlag::O_CLOEXEC) else {
        warn!("the GPUs are not watched: no pipe could be made");
        return ProbeThread::default();
    };
    let (after, waiting) = mpsc::channel::<AfterLook>();
    // Simulated GPUs say themselves when something has changed: nobody need look.
    let after = monitor.period().is_some().then_some(after);
    let watch = move || {
        while wait(&monitor, &woken) {
            let waited: Vec<AfterLook> = waiting.try_iter().collect();
            if look(&mut monitor, &runs, &live) {
                say(live.reports());
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

/// Returns when there is something to look at; false when it is time to end.
fn wait(monitor: &Monitor, woken: &OwnedFd) -> bool {
    let mut fds = vec![PollFd::new(woken.as_fd(), PollFlags::POLLIN)];
    fds.extend(monitor.fd().map(|fd| PollFd::new(fd, PollFlags::POLLIN)));
    let period = monitor.period().and_then(|period| PollTimeout::try_from(period).ok());
    // An interrupted wait is only an early look.
    let _ = poll(&mut fds, period.unwrap_or(PollTimeout::NONE));
    if fds[0].revents().is_none_or(|events| events.is_empty()) {
        return true;
    }
    nix::unistd::read(woken, &mut [0; 256]).is_ok_and(|count| count > 0)
}

fn look(monitor: &mut Monitor, runs: &RunRoot, live: &LiveGpus) -> bool {
    let sampled = monitor.sample(&|pid| run_of_process(runs, pid).is_some());
    for problem in &sampled.problems {
        warn!(problem, "GPU probe");
    }
    let details = sampled.details.into_iter().map(|gpu| (gpu.uuid.clone(), gpu)).collect();
    live.seen.store(Arc::new(Seen { reports: sampled.reports, details }));
    sampled.changed
}

impl Drop for ProbeThread {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
