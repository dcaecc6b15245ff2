//! A host: the agent of one machine, and the watch over its GPUs and memory.
//!
//! The same code serves the server's own machine, the far end of an SSH connection, and an agent that dials in.

mod eviction;
mod facts;
mod gpu_watcher;
mod logs;
mod memory;
mod stdio;
mod takeover;
mod tenants;

pub use eviction::Evictions;
pub use facts::facts;
pub use stdio::{StdioError, serve};

use crate::agent::{Agent, AgentError, Inventory, SendError, Settings};
use crate::gpu::{ProbeConfig, ProbeKind};
use crate::rundir::RunRoot;
use crate::sampler::{LiveRuns, Sampler, SamplingOrders};
use danlu_core::node::Capacity;
use danlu_wire::rundir::ExitRecord;
use danlu_wire::{FromAgent, ToAgent};
use gpu_watcher::{LatestReading, ProbeThread};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use tenants::Tenants;
use tracing::warn;

#[derive(Debug, Clone)]
pub struct HostConfig {
    /// Where the run directories are: a directory on a local disk, of this machine alone.
    pub root: PathBuf,
    pub cgroups: bool,
    pub gpus: ProbeConfig,
}

/// When it is dropped it ends; its runs go on.
#[derive(Debug)]
pub struct Host {
    agent: Agent,
    relay: Arc<EventRelay>,
    seen: LatestReading,
    sampler: Sampler,
    evictions: Evictions,
}

#[derive(Debug, Default)]
struct EventRelay {
    probe: OnceLock<ProbeThread>,
    simulated: bool,
    /// Only where the GPUs are simulated.
    tenants: Tenants,
    alive: LiveRuns,
}

impl Host {
    /// Starts the agent, which adopts what runs already; best before the process has other threads. `say` gets all that
    /// there is to say, from several threads, and must not wait for long.
    pub fn start(
        config: &HostConfig,
        say: impl Fn(FromAgent) + Send + Sync + 'static,
    ) -> Result<Host, AgentError> {
        let say = Arc::new(say);
        let simulated = config.gpus.kind == Some(ProbeKind::Sim);
        let tenants = Tenants::new(simulated && config.gpus.sim_load);
        let relay = Arc::new(EventRelay { simulated, tenants, ..EventRelay::default() });
        let seen = LatestReading::default();
        let (inventory_of, speaker, observer) =
            (seen.clone(), Arc::clone(&say), Arc::clone(&relay));
        let agent = Agent::start(Settings {
            root: config.root.clone(),
            cgroups: config.cgroups,
            inventory: Box::new(move || Inventory {
                capacity: capacity(),
                free_memory: inventory_of.free_memory(),
                gpus: inventory_of.reports(),
            }),
            notice: Box::new(move |said| observer.pass_on(said, &speaker)),
        })?;
        let runs = RunRoot::open(&config.root)?;
        let tenants = relay.tenants.clone();
        if simulated {
            adopt_tenants(&runs, &tenants);
        }
        let (measured, seen_gpus, sampled) =
            (RunRoot::open(&config.root)?, seen.clone(), Arc::clone(&say));
        let gpus = Box::new(move || seen_gpus.gpus());
        let sampler =
            Sampler::start(measured, relay.alive.clone(), gpus, move |said| sampled(said));
        let probe =
            gpu_watcher::start(&config.gpus, runs, seen.clone(), tenants, move |said| say(said));
        let _ = relay.probe.set(probe);
        let evictions = Evictions::new(seen.clone());
        Ok(Host { agent, relay, seen, sampler, evictions })
    }

    /// In order, and without waiting. After an error the connection counts as lost.
    pub fn send(&self, order: ToAgent) -> Result<(), SendError> {
        if let ToAgent::Sampling(order) = order {
            self.sampler.orders().order(order);
            return Ok(());
        }
        if let ToAgent::EndForeign(order) = order {
            self.evictions.end(&order);
            return Ok(());
        }
        if let ToAgent::Launch(order) = &order
            && self.relay.simulated
        {
            self.relay.tenants.launched(order);
        }
        self.agent.send(order)
    }

    /// To end foreign processes later.
    pub fn evictions(&self) -> Evictions {
        self.evictions.clone()
    }

    /// To change later what is measured.
    pub fn sampling(&self) -> SamplingOrders {
        self.sampler.orders().clone()
    }

    /// How it asks about its GPUs, or why it has none.
    fn probe_in_words(&self) -> String {
        self.seen.probe()
    }
}

impl EventRelay {
    /// A run has ended: before its GPUs are given out again, see whether it has given back their memory.
    fn pass_on(&self, said: FromAgent, say: &Arc<impl Fn(FromAgent) + Send + Sync + 'static>) {
        let moved = match &said {
            FromAgent::Started { run, leader, .. } => {
                self.alive.started(*run);
                self.tenants.started(*run, *leader)
            }
            FromAgent::Ended { run, .. } => {
                self.alive.ended(*run);
                self.tenants.ended(*run)
            }
            FromAgent::Report(report) => {
                self.alive.reported(report);
                false
            }
            FromAgent::Hello(_)
            | FromAgent::LogDropped { .. }
            | FromAgent::Gpus(_)
            | FromAgent::Details(_)
            | FromAgent::Memory { .. }
            | FromAgent::Fitness { .. }
            | FromAgent::Facts(_)
            | FromAgent::Log(_)
            | FromAgent::Paths(_)
            | FromAgent::Samples(_) => false,
        };
        match self.probe.get().filter(|_| matches!(said, FromAgent::Ended { .. })) {
            Some(probe) => {
                let say = Arc::clone(say);
                probe.look_first(move || say(said));
            }
            None => say(said),
        }
        if let Some(probe) = self.probe.get().filter(|_| moved) {
            probe.wake();
        }
    }
}

/// Runs that were there before this host.
fn adopt_tenants(runs: &RunRoot, tenants: &Tenants) {
    for run in runs.list().unwrap_or_default() {
        let Ok(directory) = runs.dir(run) else { continue };
        let ended = directory.read::<ExitRecord>().is_ok_and(|record| record.is_some());
        if let Some(state) = directory.read().ok().flatten().filter(|_| !ended) {
            tenants.adopt(run, state);
        }
    }
}

/// The cores and the memory of this machine.
fn capacity() -> Capacity {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = match nix::sys::sysinfo::sysinfo() {
        Ok(info) => info.ram_total(),
        Err(cause) => {
            warn!(%cause, "the size of the memory is not known");
            0
        }
    };
    Capacity { cpus: u32::try_from(cpus).unwrap_or(u32::MAX), memory }
}
