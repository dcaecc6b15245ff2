//! The thread that hears all samples, keeps a record of each run that holds GPUs, and asks the engine for what follows.

use super::ladder::{self, LadderStep};
use super::least::least;
use super::replay;
use super::run_record::{Pace, RunRecord};
use super::verdict::Look;
use super::{Idle, Idleness};
use crate::api::{Api, WeakApi};
use crate::daemon::clock;
use crate::daemon::handle::Asker;
use crate::usage::{SampleSource, Usage};
use danlu_core::run::RunState;
use danlu_core::{GpuId, Input, Run, RunId, Span, Time};
use danlu_wire::samples::{RunReading, Samples};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use tracing::{debug, info};

#[derive(Debug)]
pub(crate) enum IdleMessage {
    Samples { from: SampleSource, at: Time, samples: Arc<Samples> },
    Stop,
}

/// Samples that may wait; more are dropped, and count as not seen.
const WAITING: usize = 1_024;
/// The engine is not asked for the same again before.
const ASK_AGAIN: Span = Span::from_secs(20);
/// How often records of ended runs are looked for.
const TIDY_EVERY: Span = Span::from_secs(60);

pub(super) struct Watcher {
    api: WeakApi,
    idle: Idle,
    runtime: tokio::runtime::Handle,
    inbox: Receiver<IdleMessage>,
    records: BTreeMap<RunId, RunRecord>,
    /// Watts of each GPU while nothing is computed on it: the least that was seen.
    at_rest: BTreeMap<GpuId, u32>,
    asked: BTreeMap<RunId, (LadderStep, Time)>,
    tidied_at: Time,
}

impl Watcher {
    pub(super) fn new(api: &Api, idle: Idle) -> (Watcher, SyncSender<IdleMessage>) {
        let (sender, inbox) = sync_channel(WAITING);
        let watcher = Watcher {
            api: api.downgrade(),
            idle,
            runtime: tokio::runtime::Handle::current(),
            inbox,
            records: BTreeMap::new(),
            at_rest: BTreeMap::new(),
            asked: BTreeMap::new(),
            tidied_at: clock::now(),
        };
        (watcher, sender)
    }

    pub(super) fn run(mut self) {
        self.remember();
        while let Ok(IdleMessage::Samples { from, at, samples }) = self.inbox.recv() {
            let Some(api) = self.api.upgrade() else { return };
            self.learn(&samples);
            for reading in &samples.runs {
                self.take(&api, from, at, reading);
            }
            self.tidy(&api, at);
        }
    }

    /// What was seen before this server was started.
    fn remember(&mut self) {
        let Some(api) = self.api.upgrade() else { return };
        let (now, pace) = (clock::now(), pace(&api.usage));
        for run in api.handle.model().active_runs().filter(|run| is_judged(run)) {
            if self.idle.is_ending() {
                return;
            }
            self.records.insert(run.id, replay::record(&api.usage, run, now, pace));
        }
    }

    fn learn(&mut self, samples: &Samples) {
        for gpu in samples.gpus.iter().filter(|gpu| gpu.load.utilization == Some(0)) {
            if let Some(power) = gpu.load.power {
                let least = self.at_rest.entry(gpu.gpu.clone()).or_insert(power);
                *least = power.min(*least);
            }
        }
    }

    fn take(&mut self, api: &Api, from: SampleSource, at: Time, reading: &RunReading) {
        let model = api.handle.model();
        let Some(run) = model.runs.get(&reading.run).filter(|run| is_judged(run)) else {
            self.forget(reading.run);
            return;
        };
        let pace = pace(&api.usage);
        let record = self.records.entry(run.id).or_default();
        record.add_cpu(from.node, at, reading.cpu);
        for gpu in &reading.gpus {
            let look = Look {
                at,
                utilization: gpu.load.utilization,
                memory: gpu.load.memory,
                power: gpu.load.power,
                power_at_rest: self.at_rest.get(&gpu.gpu).copied(),
            };
            record.add(&gpu.gpu, &look, pace);
        }
        let held: Vec<GpuId> = run.parts.iter().flat_map(|part| part.gpus.clone()).collect();
        let verdict = record.verdict(&held, at, pace);
        let settings = &model.ledger.settings.idle;
        let task = model.tasks.get(&run.task);
        let owner = task.and_then(|task| model.users.get(&task.owner));
        let exempt = task.zip(owner).is_none_or(|(task, owner)| {
            let spec = &task.spec;
            settings.is_exempt(&owner.name, spec.project.as_deref(), &spec.labels)
        });
        let step = ladder::next(&verdict, &run.idle, settings, at).filter(|_| !exempt);
        self.idle.publish(run.id, verdict, at);
        match step {
            Some(step) => self.ask(api, run.id, step, at),
            None => drop(self.asked.remove(&run.id)),
        }
    }

    /// Not waited for: the engine may be slow. It refuses what is not true any more.
    fn ask(&mut self, api: &Api, run: RunId, step: LadderStep, at: Time) {
        if self.asked.get(&run).is_some_and(|(it, when)| *it == step && at.since(*when) < ASK_AGAIN)
        {
            return;
        }
        self.asked.insert(run, (step, at));
        let input = match step {
            LadderStep::Note(rung, Idleness { since, kind }) => {
                Input::NoteIdle { run, since, kind, rung }
            }
            LadderStep::Stop(Idleness { since, kind }) => {
                info!(%run, "holds GPUs and does not use them: it is stopped");
                Input::StopIdle { run, since, kind }
            }
            LadderStep::Used => Input::NoteUsed { run },
        };
        let by = Asker { name: "danlu".into(), origin: "automatic".into() };
        let asked = api.handle.begin(input, None, Some(by));
        self.runtime.spawn(async move {
            if let Err(cause) = asked.wait().await {
                debug!(%run, ?cause, "nothing is done about an idle run");
            }
        });
    }

    fn forget(&mut self, run: RunId) {
        if self.records.remove(&run).is_some() {
            self.asked.remove(&run);
            self.idle.publish(run, super::RunVerdict::default(), Time(0));
        }
    }

    fn tidy(&mut self, api: &Api, now: Time) {
        if now.since(self.tidied_at) < TIDY_EVERY {
            return;
        }
        self.tidied_at = now;
        let model = api.handle.model();
        let over = |run: &RunId| !model.runs.get(run).is_some_and(|run| is_judged(run));
        let over: Vec<RunId> = self.records.keys().copied().filter(over).collect();
        over.into_iter().for_each(|run| self.forget(run));
    }
}

/// What is paused, starts or stops uses nothing, and is not idle.
fn is_judged(run: &Run) -> bool {
    matches!(run.state, RunState::Running { .. }) && run.gpu_count() > 0
}

fn pace(usage: &Usage) -> Pace {
    Pace { interval: usage.settings().interval, least: least() }
}
