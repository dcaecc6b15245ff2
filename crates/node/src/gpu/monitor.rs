//! Turns samples of a probe into reports: which GPUs are idle, used by foreign processes, or unknown.

use super::baseline::Baselines;
use super::error::ProbeError;
use super::history::History;
use super::process_identity::{Identities, ProcessIdentity};
use super::sample::{GpuProcess, GpuSample, Live, ProcessKind};
use super::{Probe, Reading};
use danlu_core::gpu::{ForeignProcess, GpuCondition, GpuReport, GpuUsage, GpuVendor, RunMemory};
use danlu_core::ids::{GpuId, RunId};
use danlu_wire::gpu::{ForeignDetails, GpuDetails, OwnProcess, Vendor};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::time::Duration;

/// While GPUs are held or wanted.
pub const BUSY_PERIOD: Duration = Duration::from_secs(1);
/// A foreign process must be noticed within two seconds, also while no task waits.
pub const IDLE_PERIOD: Duration = Duration::from_millis(1800);
const FALLEN: &str = "it has fallen off the bus";
/// Smaller changes are no news.
const MEMORY_STEP: u64 = 64 << 20;
const BUSY_STEP: u8 = 5;
/// Of hundreds of processes on a GPU, not all are listed.
const MOST_FOREIGN: usize = 64;

#[derive(Debug)]
pub struct Monitor {
    probe: Probe,
    period: Duration,
    identities: Identities,
    baselines: Baselines,
    histories: BTreeMap<GpuId, History>,
    /// As of the last answer.
    gpus: Vec<GpuSample>,
    problems: Vec<String>,
    /// Processes of runs at the last look.
    own: BTreeSet<u32>,
    /// Pids that `/proc` did not know, at the last answer and at the one before it.
    strangers: BTreeSet<u32>,
    known_strangers: BTreeSet<u32>,
    /// The most that runs which are there were seen to use, by GPU.
    peaks: BTreeMap<GpuId, BTreeMap<RunId, u64>>,
    reports: Vec<GpuReport>,
}

#[derive(Debug, Clone)]
pub struct Sampled {
    /// By index.
    pub reports: Vec<GpuReport>,
    /// For the same GPUs in the same order.
    pub details: Vec<GpuDetails>,
    /// The reports differ from the last ones.
    pub changed: bool,
    /// What an administrator should know, in words.
    pub problems: Vec<String>,
    /// What runs use of GPUs, as far as the probe can tell one from another.
    pub shares: Vec<RunShare>,
}

/// What the processes of one run have of one GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunShare {
    pub run: RunId,
    pub gpu: GpuId,
    /// Bytes; `None` where the driver does not tell.
    pub memory: Option<u64>,
    /// Percent; `None` where the probe knows only the GPU as a whole.
    pub utilization: Option<u8>,
}

impl Monitor {
    /// `proc` is `/proc`; `baselines` are those of an earlier monitor, or empty.
    pub fn new(probe: Probe, proc: PathBuf, baselines: Baselines) -> Self {
        Monitor {
            probe,
            period: BUSY_PERIOD,
            identities: Identities::new(proc),
            baselines,
            histories: BTreeMap::new(),
            gpus: Vec::new(),
            problems: Vec::new(),
            own: BTreeSet::new(),
            strangers: BTreeSet::new(),
            known_strangers: BTreeSet::new(),
            peaks: BTreeMap::new(),
            reports: Vec::new(),
        }
    }

    /// When it is readable, a sample has something new. May be another one after every sample.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.probe.fd()
    }

    /// How often to sample besides; `None`: not at all.
    pub fn period(&self) -> Option<Duration> {
        self.probe.period(self.period)
    }

    pub fn set_period(&mut self, period: Duration) {
        self.period = period;
    }

    pub fn probe(&mut self) -> &mut Probe {
        &mut self.probe
    }

    pub fn baselines(&self) -> &Baselines {
        &self.baselines
    }

    /// Takes the memory that is in use now as the idle baseline of the GPU.
    pub fn accept_baseline(&mut self, gpu: &GpuId) {
        let sample = self.gpus.iter().find(|sample| &sample.facts.id == gpu);
        if let Some(Ok(live)) = sample.map(|sample| &sample.live) {
            self.baselines.accept(gpu, live);
        }
    }

    /// Looks at all GPUs. `own` says which run a process belongs to.
    pub fn sample(&mut self, own: &dyn Fn(u32) -> Option<RunId>) -> Sampled {
        match self.probe.sample() {
            Ok(Some(reading)) => self.take(reading),
            Ok(None) => {}
            Err(error) => self.fail(&error),
        }
        self.judge(own)
    }

    fn take(&mut self, reading: Reading) {
        self.gpus = reading.gpus;
        self.gpus.sort_by_key(|sample| sample.index);
        self.problems = reading.problems;
        self.known_strangers = std::mem::take(&mut self.strangers);
        let mut histories = std::mem::take(&mut self.histories);
        for GpuSample { facts, live, .. } in &self.gpus {
            let mut history = histories.remove(&facts.id).unwrap_or_default();
            if let Ok(live) = live {
                history.push(live.utilization);
                self.baselines.learn(&facts.id, live);
            }
            self.histories.insert(facts.id.clone(), history);
        }
        self.baselines.limit(|gpu| self.histories.contains_key(gpu));
        let listed: Vec<u32> = self.processes().map(|process| process.pid).collect();
        self.identities.forget_all_but(&listed);
    }

    /// No answer at all: no GPU is known to be free.
    fn fail(&mut self, error: &ProbeError) {
        for sample in &mut self.gpus {
            sample.live = Err(error.clone());
        }
        self.problems = vec![error.to_string()];
    }

    fn processes(&self) -> impl Iterator<Item = &GpuProcess> {
        self.gpus.iter().filter_map(|sample| sample.live.as_ref().ok()).flat_map(|l| &l.processes)
    }

    fn judge(&mut self, own: &dyn Fn(u32) -> Option<RunId>) -> Sampled {
        let gpus = std::mem::take(&mut self.gpus);
        let own_before = std::mem::take(&mut self.own);
        let mut shares = Vec::new();
        let mut details = Vec::with_capacity(gpus.len());
        let mut reports = Vec::with_capacity(gpus.len());
        for sample in &gpus {
            let told = self.details(sample, own, &own_before);
            self.note_peaks(&told);
            add_shares(&told, sample, &mut shares);
            let none = BTreeMap::new();
            reports.push(report(&told, self.peaks.get(&told.uuid).unwrap_or(&none)));
            details.push(told);
        }
        self.gpus = gpus;
        let changed = reports != self.reports;
        self.reports.clone_from(&reports);
        Sampled { reports, details, changed, problems: self.problems.clone(), shares }
    }

    /// Runs that are on the GPU now, with the most they were seen to use of it.
    fn note_peaks(&mut self, told: &GpuDetails) {
        let mut using: BTreeMap<RunId, u64> = BTreeMap::new();
        for process in &told.own {
            let bytes = process.memory.unwrap_or(0);
            let all = using.entry(process.run).or_default();
            *all = all.saturating_add(bytes);
        }
        let before = self.peaks.remove(&told.uuid).unwrap_or_default();
        let peak = |(run, bytes): (RunId, u64)| {
            let now = bytes.next_multiple_of(MEMORY_STEP);
            (run, now.max(before.get(&run).copied().unwrap_or(0)))
        };
        let peaks: BTreeMap<RunId, u64> = using.into_iter().map(peak).collect();
        if !peaks.is_empty() {
            self.peaks.insert(told.uuid.clone(), peaks);
        }
    }

    fn details(
        &mut self,
        sample: &GpuSample,
        own: &dyn Fn(u32) -> Option<RunId>,
        own_before: &BTreeSet<u32>,
    ) -> GpuDetails {
        let facts = &sample.facts;
        let unread = Live::default();
        let (live, read) = match &sample.live {
            Ok(live) => (live, true),
            Err(_) => (&unread, false),
        };
        let mut told = GpuDetails {
            uuid: facts.id.clone(),
            index: sample.index,
            pci_bus_id: facts.pci.to_string(),
            vendor: facts.vendor,
            model: facts.model.clone(),
            memory_total: facts.memory_total,
            memory_used: read.then_some(live.memory_used),
            used_above_baseline: self.baselines.above(&facts.id, live).filter(|_| read),
            utilization: live.utilization,
            utilization_history: self
                .histories
                .get(&facts.id)
                .map(History::to_vec)
                .unwrap_or_default(),
            temperature: live.temperature,
            power: live.power.map(|watts| watts.round() as u32),
            foreign: Vec::new(),
            own: Vec::new(),
            health: live.health.clone(),
            mig: facts.mig.clone(),
            neighbours: facts.neighbours.clone(),
            lost: sample.live.as_ref().is_err_and(ProbeError::is_lost),
            fault: sample.live.as_ref().err().map(ToString::to_string),
        };
        for process in &live.processes {
            self.sort_in(process, own, own_before, &mut told);
        }
        // The driver's order may change without a reason.
        told.foreign.sort_by_key(|foreign| foreign.pid);
        told
    }

    /// Processes that only draw are neither ours nor foreign.
    fn sort_in(
        &mut self,
        process: &GpuProcess,
        own: &dyn Fn(u32) -> Option<RunId>,
        own_before: &BTreeSet<u32>,
        told: &mut GpuDetails,
    ) {
        let GpuProcess { pid, memory, .. } = *process;
        if let Some(run) = own(pid) {
            self.own.insert(pid);
            told.own.push(OwnProcess { run, pid, memory });
        } else if process.kind == ProcessKind::Compute
            && let Some(foreign) = self.foreign(process, own_before)
            && told.foreign.len() < MOST_FOREIGN
        {
            told.foreign.push(foreign);
        }
    }

    /// A listed process that `/proc` does not know has just ended, unless it stays listed: then it lives where
    /// the daemon cannot see it.
    fn foreign(
        &mut self,
        process: &GpuProcess,
        own_before: &BTreeSet<u32>,
    ) -> Option<ForeignDetails> {
        let GpuProcess { pid, memory, .. } = *process;
        if let Some(who) = process.told.clone().or_else(|| self.identities.look_up(pid)) {
            return Some(foreign(pid, memory, who));
        }
        if own_before.contains(&pid) {
            // It was a run's until a moment ago: keep it in mind until the driver has noticed too.
            self.own.insert(pid);
            return None;
        }
        self.strangers.insert(pid);
        let seen_before = self.known_strangers.contains(&pid);
        seen_before.then(|| foreign(pid, memory, ProcessIdentity::unknown()))
    }
}

fn add_shares(told: &GpuDetails, sample: &GpuSample, shares: &mut Vec<RunShare>) {
    let listed = sample.live.as_ref().map_or(&[][..], |live| &live.processes);
    let first = shares.len();
    for OwnProcess { run, pid, memory } in &told.own {
        let process = listed.iter().find(|process| process.pid == *pid);
        let utilization = process.and_then(|process| process.utilization);
        let (run, memory) = (*run, *memory);
        match shares[first..].iter_mut().find(|share| share.run == run) {
            Some(share) => {
                share.memory = both(share.memory, memory, u64::saturating_add);
                let sum = |one: u8, other: u8| one.saturating_add(other).min(100);
                share.utilization = both(share.utilization, utilization, sum);
            }
            None => {
                let gpu = told.uuid.clone();
                shares.push(RunShare { run, gpu, memory, utilization });
            }
        }
    }
}

/// Unknown as soon as one of them is.
fn both<T>(one: Option<T>, other: Option<T>, sum: impl FnOnce(T, T) -> T) -> Option<T> {
    one.zip(other).map(|(one, other)| sum(one, other))
}

fn report(told: &GpuDetails, peaks: &BTreeMap<RunId, u64>) -> GpuReport {
    let condition = if told.fault.is_some() {
        GpuCondition::Unknown
    } else if told.foreign.is_empty() && told.own.is_empty() && told.is_dirty() {
        GpuCondition::Dirty
    } else if told.foreign.is_empty() {
        GpuCondition::Idle
    } else {
        let process =
            |one: &ForeignDetails| ForeignProcess { pid: one.pid, user: one.user.clone() };
        GpuCondition::Foreign { processes: told.foreign.iter().map(process).collect() }
    };
    let usage = GpuUsage {
        other_memory: told.other_memory().map(|bytes| bytes.next_multiple_of(MEMORY_STEP)),
        busy: told.busiest().next_multiple_of(BUSY_STEP),
    };
    let run = |(run, peak): (&RunId, &u64)| RunMemory { run: *run, peak: *peak };
    GpuReport {
        condition,
        usage,
        runs: peaks.iter().map(run).collect(),
        broken: told.health.broken().or_else(|| told.lost.then(|| FALLEN.to_owned())),
        neighbours: told.neighbours.clone(),
        vendor: match told.vendor {
            Vendor::Amd => GpuVendor::Amd,
            Vendor::Nvidia | Vendor::Simulated | Vendor::Other => GpuVendor::Nvidia,
        },
        ..GpuReport::new(told.uuid.clone(), told.index, told.model.as_str(), told.memory_total)
    }
}

fn foreign(pid: u32, memory: Option<u64>, who: ProcessIdentity) -> ForeignDetails {
    let ProcessIdentity { user, command, container, stopped } = who;
    ForeignDetails { pid, user, command, memory, container, stopped }
}
