//! GPUs that are held and not used: shown to everybody, and told, asked about and released as the administrators wish.
//!
//! `verdict.rs`, `cpu.rs` and `run_record.rs` judge what the samples show, `ladder.rs` says what follows: all of them pure.
//! `watcher.rs` is the thread around them; `replay.rs` gives it the samples from before a restart.

mod cpu;
mod ladder;
mod least;
#[cfg(test)]
mod random_traces;
mod replay;
mod run_record;
#[cfg(test)]
mod traces;
mod verdict;
mod watcher;

pub(crate) use least::check_settings;

use crate::api::{Api, rfc3339};
use crate::daemon::clock;
use crate::read_model::ReadModel;
use arc_swap::ArcSwap;
use danlu_core::run::RunState;
use danlu_core::{GpuId, Run, RunId, Span, Task, Time};
use danlu_messages::idle as msg;
use danlu_wire::api::IdleView;
use imbl::OrdMap;
use run_record::RunVerdict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use verdict::Idleness;
use watcher::Watcher;

pub(crate) use watcher::IdleMessage;

/// What is known of idle GPUs. Clones share the same data; the default one knows nothing.
#[derive(Debug, Clone, Default)]
pub struct Idle {
    shared: Arc<IdleShared>,
}

#[derive(Debug, Default)]
struct IdleShared {
    /// Runs with idle GPUs, and when that was seen.
    found: ArcSwap<OrdMap<RunId, Arc<Found>>>,
    inbox: Mutex<Option<SyncSender<IdleMessage>>>,
    /// Reading old samples again must not delay the end of the server.
    ending: AtomicBool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Found {
    verdict: RunVerdict,
    seen_at: Time,
}

/// What was seen longer ago says nothing.
const STALE: Span = Span::from_secs(120);

impl Idle {
    /// Its thread hears of all samples from now on. It ends with `stop`.
    pub(crate) fn start(&self, api: &Api) -> Option<JoinHandle<()>> {
        let (watcher, inbox) = Watcher::new(api, self.clone());
        api.usage.on_samples(inbox.clone());
        *self.shared.inbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(inbox);
        std::thread::Builder::new().name("idle".into()).spawn(move || watcher.run()).ok()
    }

    pub(crate) fn stop(&self) {
        self.shared.ending.store(true, Ordering::Relaxed);
        let inbox = self.shared.inbox.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Its queue may be full: it takes what is there first.
        inbox.into_iter().for_each(|inbox| drop(inbox.send(IdleMessage::Stop)));
    }

    /// The whole task: `None` where a GPU of it is used, or nothing is known.
    pub(crate) fn of_task(&self, model: &ReadModel, task: &Task) -> Option<IdleView> {
        let run = model.runs.get(&task.trail().last_run?)?;
        view(self.found(run)?.verdict.whole?)
    }

    /// A GPU, which one run holds.
    pub(crate) fn of_gpu(&self, run: &Run, gpu: &GpuId) -> Option<IdleView> {
        view(*self.found(run)?.verdict.gpus.get(gpu)?)
    }

    fn is_ending(&self) -> bool {
        self.shared.ending.load(Ordering::Relaxed)
    }

    fn found(&self, run: &Run) -> Option<Arc<Found>> {
        let found = self.shared.found.load();
        let found = found.get(&run.id)?;
        let runs = matches!(run.state, RunState::Running { .. });
        (runs && clock::now().since(found.seen_at) < STALE).then(|| Arc::clone(found))
    }

    fn publish(&self, run: RunId, verdict: RunVerdict, seen_at: Time) {
        let known = self.shared.found.load().contains_key(&run);
        match verdict.gpus.is_empty() {
            true if known => drop(self.shared.found.rcu(|found| found.without(&run))),
            true => {}
            false => {
                let found = Arc::new(Found { verdict, seen_at });
                self.shared.found.rcu(|all| all.update(run, Arc::clone(&found)));
            }
        }
    }
}

fn view(Idleness { since, kind }: Idleness) -> Option<IdleView> {
    let time = clock::now().since(since);
    Some(IdleView { since: rfc3339(since), kind: kind.into(), why: msg::idle(time, kind) })
}
