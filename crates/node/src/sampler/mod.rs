//! Samples of this machine, its GPUs and its runs, at the pace that the server has ordered.

mod gpu_use;
mod machine;
mod probe_output;
mod probes;
mod run_use;

use crate::clock;
use crate::gpu::{GpuDetails, RunShare};
use crate::rundir::RunRoot;
use danlu_core::RunId;
use danlu_core::input::NodeReport;
use danlu_core::run::ReportedState;
use danlu_wire::FromAgent;
use danlu_wire::samples::{MetricProbe, RunReading, Samples, SamplingOrder};
use gpu_use::Holding;
use machine::MachineSampler;
use probes::{Cards, ProbeRunner};
use run_use::MeasuredRun;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tracing::warn;

/// Samples closer together tell nothing more.
const SHORTEST: Duration = Duration::from_millis(100);
/// More runs at a time are not measured one by one.
const MOST_RUNS: usize = 1_000;

/// The GPUs as they were seen last: the driver is not asked again.
pub(crate) type SeenGpus = Box<dyn Fn() -> (Arc<Vec<GpuDetails>>, Vec<RunShare>) + Send>;

/// The runs that live here, as the agent reports them. Clones share the same data.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveRuns(Arc<Mutex<BTreeSet<RunId>>>);

impl LiveRuns {
    pub(crate) fn started(&self, run: RunId) {
        self.lock().insert(run);
    }

    pub(crate) fn ended(&self, run: RunId) {
        self.lock().remove(&run);
    }

    /// Says all there is, those included that lived before this agent did.
    pub(crate) fn reported(&self, report: &NodeReport) {
        let alive = report.runs.iter().filter(|run| match run.state {
            ReportedState::Alive { .. } => true,
            ReportedState::Ended(_) => false,
        });
        *self.lock() = alive.map(|run| run.run).collect();
    }

    fn now(&self) -> Vec<RunId> {
        self.lock().iter().copied().take(MOST_RUNS).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<RunId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that samples. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Sampler {
    orders: SamplingOrders,
    thread: Option<JoinHandle<()>>,
}

/// Says what to measure. Clones speak to the same thread.
#[derive(Debug, Clone, Default)]
pub struct SamplingOrders(Arc<OrderSlot>);

impl SamplingOrders {
    /// From now on.
    pub fn order(&self, order: SamplingOrder) {
        self.0.lock().order = order;
        self.0.changed.notify_all();
    }

    fn end(&self) {
        self.0.lock().ended = true;
        self.0.changed.notify_all();
    }
}

#[derive(Debug, Default)]
struct OrderSlot {
    newest: Mutex<Newest>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Newest {
    order: SamplingOrder,
    ended: bool,
}

impl Sampler {
    /// Sleeps until the first order.
    pub(crate) fn start(
        runs: RunRoot,
        alive: LiveRuns,
        gpus: SeenGpus,
        say: impl Fn(FromAgent) + Send + 'static,
    ) -> Sampler {
        let orders = SamplingOrders::default();
        let measuring = Measuring {
            runs,
            alive,
            gpus,
            machine: MachineSampler::default(),
            known: BTreeMap::new(),
            probes: None,
        };
        let heard = Arc::clone(&orders.0);
        let sample = move || measuring.until_ended(&heard, say);
        let thread = std::thread::Builder::new().name("sampler".into()).spawn(sample);
        let thread = thread.inspect_err(|cause| warn!(%cause, "nothing is measured")).ok();
        Sampler { orders, thread }
    }

    pub(crate) fn orders(&self) -> &SamplingOrders {
        &self.orders
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.orders.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl OrderSlot {
    fn lock(&self) -> MutexGuard<'_, Newest> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The order as of the next moment to sample, or one to stop while something is `busy`; `None` when it is time to end.
    fn next(&self, due: &mut Option<Instant>, busy: bool) -> Option<SamplingOrder> {
        let mut newest = self.lock();
        loop {
            if newest.ended {
                return None;
            }
            let interval = Duration::from_millis(newest.order.interval.0);
            if interval.is_zero() {
                *due = None;
                if busy {
                    return Some(newest.order.clone());
                }
                newest = self.changed.wait(newest).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let interval = interval.max(SHORTEST);
            let now = Instant::now();
            // A moment that was missed, as while the machine slept, is not made up for; a shorter interval counts at once.
            let at = due.map_or(now, |due| due.min(now + interval));
            if at <= now {
                *due = Some(if at + interval > now { at + interval } else { now + interval });
                return Some(newest.order.clone());
            }
            let woken = self.changed.wait_timeout(newest, at - now);
            newest = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

struct Measuring {
    runs: RunRoot,
    alive: LiveRuns,
    gpus: SeenGpus,
    machine: MachineSampler,
    known: BTreeMap<RunId, MeasuredRun>,
    /// With the order that they are from.
    probes: Option<(Vec<MetricProbe>, ProbeRunner)>,
}

impl Measuring {
    fn until_ended(mut self, orders: &OrderSlot, say: impl Fn(FromAgent)) {
        let mut due = None;
        while let Some(order) = orders.next(&mut due, self.probes.is_some()) {
            if order.interval.0 == 0 {
                self.probes = None;
                continue;
            }
            say(FromAgent::Samples(Box::new(self.sample(&order))));
        }
    }

    fn sample(&mut self, order: &SamplingOrder) -> Samples {
        let (at, now) = (clock::now(), Instant::now());
        let (gpus, shares) = (self.gpus)();
        let runs = self.sample_runs(&gpus, &shares);
        let mut samples = Samples { at, runs, ..Samples::default() };
        if !order.only_runs {
            samples.machine = Some(self.machine.sample(self.runs.path(), now));
            samples.gpus = gpu_use::of_gpus(&gpus);
            self.take_custom(order, &gpus, &mut samples);
        }
        samples
    }

    fn take_custom(&mut self, order: &SamplingOrder, gpus: &[GpuDetails], samples: &mut Samples) {
        let cards: Cards = gpus.iter().map(|gpu| (gpu.index, gpu.uuid.clone())).collect();
        if self.probes.as_ref().map_or(&[][..], |(probes, _)| probes) != order.probes {
            // The old ones end before the new ones begin.
            self.probes = None;
            let wanted = (!order.probes.is_empty()).then(|| order.probes.clone());
            self.probes =
                wanted.map(|probes| (probes.clone(), ProbeRunner::start(probes, cards.clone())));
        }
        if let Some((_, runner)) = &self.probes {
            (samples.custom, samples.failed_probes) = runner.take(cards);
        }
    }

    fn sample_runs(&mut self, gpus: &[GpuDetails], shares: &[RunShare]) -> Vec<RunReading> {
        let alive = self.alive.now();
        self.known.retain(|run, _| alive.binary_search(run).is_ok());
        for run in alive {
            if !self.known.contains_key(&run)
                && let Some(opened) = run_use::open(&self.runs, run)
            {
                self.known.insert(run, opened);
            }
        }
        let shims: Vec<u32> =
            self.known.values().filter(|run| run.needs_tree()).map(MeasuredRun::shim).collect();
        let trees = if shims.is_empty() { BTreeMap::new() } else { run_use::trees(&shims) };
        let (at, now) = (clock::now(), Instant::now());
        let on_gpus: Vec<_> = {
            let all = self.known.iter().map(|(run, known)| Holding::of(*run, known));
            let all: Vec<Holding<'_>> = all.collect();
            all.iter().map(|one| gpu_use::of_run(*one, &all, gpus, shares)).collect()
        };
        let measured = self.known.iter_mut().zip(on_gpus);
        measured
            .map(|((run, known), gpus)| {
                let used = known.consumed(&trees);
                let (cpu, memory) = known.reading(used, now, at);
                RunReading { run: *run, cpu, memory, gpus }
            })
            .collect()
    }
}
