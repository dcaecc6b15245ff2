//! Fills a cluster with tasks that never end, through the scheduler itself.

use super::read::{Machine, PackingError, Pod};
use danlu_core::gpu::GpuReport;
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::resources::Sharing;
use danlu_core::settings::{Backfill, Order, PlacementRule};
use danlu_core::task::TaskSpec;
use danlu_core::{
    Actor, Epoch, GpuId, Input, NodeMessage, Reply, Request, SessionId, Settings, Span, State,
    TaskId, Time, UserId, step,
};
use oorandom::Rand64;
use std::collections::BTreeMap;

/// How it went with one seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    pub seed: u64,
    /// Percent of all GPUs that were given out when tasks had asked for as much as there is, and at the end.
    pub at_100: f64,
    pub at_end: f64,
    pub tasks: usize,
    /// Those that found no place and were turned away.
    pub unplaced: usize,
}

/// Simulated GPUs have so much memory that a thousandth of it is a whole number.
const THOUSANDTH: u64 = 1 << 20;
const SESSION: SessionId = SessionId(1);

/// Draws tasks until they ask for `demand` percent of all GPUs. Each is placed when it comes, or never.
pub fn fill(
    pods: &[Pod],
    machines: &[Machine],
    placement: PlacementRule,
    demand: u32,
    seed: u64,
) -> Result<Filled, PackingError> {
    let total: u64 = machines.iter().map(|machine| 1000 * u64::from(machine.gpus)).sum();
    if total == 0 || pods.iter().all(|pod| pod.gpus == 0) {
        return Err(PackingError::NoGpus);
    }
    let mut world = PackedCluster::new(machines, placement)?;
    let mut dice = Rand64::new(u128::from(seed));
    let (mut asked, mut given, mut at_100) = (0, 0, 0);
    let (mut tasks, mut unplaced) = (0, 0);
    while asked * 100 < total * u64::from(demand) {
        let pick = dice.rand_range(0..pods.len() as u64);
        let pod = &pods[usize::try_from(pick).unwrap_or(0)];
        let amount = u64::from(pod.gpus) * u64::from(pod.gpu_milli);
        asked += amount;
        tasks += 1;
        match world.place(pod)? {
            true => given += amount,
            false => unplaced += 1,
        }
        if asked <= total {
            at_100 = given;
        }
    }
    let percent = |part: u64| part as f64 * 100.0 / total as f64;
    Ok(Filled { seed, at_100: percent(at_100), at_end: percent(given), tasks, unplaced })
}

struct PackedCluster {
    state: State,
    user: UserId,
    now: Time,
}

impl PackedCluster {
    fn new(machines: &[Machine], placement: PlacementRule) -> Result<PackedCluster, PackingError> {
        let mut world =
            PackedCluster { state: State::new(), user: UserId(0), now: Time::default() };
        world.ask(Input::Boot { epoch: Epoch(0), restored: false, ids_from: 0 })?;
        let settings = Settings {
            order: Order::Fifo,
            backfill: Backfill::None,
            placement,
            // Everybody has the memory they asked for at once.
            settle_time: Span::ZERO,
            ..Settings::default()
        };
        world.ask(Input::Configure { by: Actor::Daemon, settings })?;
        let name = "everybody".to_owned();
        if let Reply::User(user) =
            world.ask(Input::AddUser { by: Actor::Daemon, name, admin: false })?
        {
            world.user = user;
        }
        for (number, machine) in machines.iter().enumerate() {
            world.add(number, machine)?;
        }
        Ok(world)
    }

    fn add(&mut self, number: usize, machine: &Machine) -> Result<(), PackingError> {
        let (name, labels) = (format!("n{number}"), BTreeMap::new());
        let Reply::Node(node) = self.ask(Input::AddNode { by: Actor::Daemon, name, labels })?
        else {
            return Ok(());
        };
        let gpu = |index: u32| {
            let id = GpuId::from(format!("{number}-{index}").as_str());
            GpuReport::new(id, index, machine.model.as_str(), 1000 * THOUSANDTH)
        };
        let report = NodeReport {
            capacity: Capacity { cpus: machine.cpu_milli, memory: machine.memory_mib << 20 },
            free_memory: None,
            gpus: (0..machine.gpus).map(gpu).collect(),
            runs: Vec::new(),
            trouble: None,
        };
        for message in [NodeMessage::Connected, NodeMessage::Report(report)] {
            self.ask(Input::Node { node, session: SESSION, message })?;
        }
        Ok(())
    }

    /// Answers whether there was room for it.
    fn place(&mut self, pod: &Pod) -> Result<bool, PackingError> {
        let shares = pod.gpu_milli < 1000 && pod.gpus > 0;
        let request = Request {
            cpus: pod.cpu_milli,
            memory: pod.memory_mib << 20,
            gpu_memory: if shares { u64::from(pod.gpu_milli) * THOUSANDTH } else { 0 },
            sharing: match shares {
                true => Sharing::Shared { idle_utilization: 0 },
                false => Sharing::Slot,
            },
            gpu_model: pod.model.clone(),
            ..Request::gpus(pod.gpus)
        };
        let command = vec!["task".to_owned()];
        let spec = TaskSpec { command, request: request.into(), ..TaskSpec::default() };
        let Reply::Task(task) = self.ask(Input::Submit { by: self.user, spec, key: None })? else {
            return Ok(false);
        };
        self.now = self.now + Span(1);
        self.ask(Input::Schedule)?;
        if self.waits(task) {
            self.ask(Input::Cancel { by: Actor::Daemon, task })?;
            return Ok(false);
        }
        Ok(true)
    }

    fn waits(&self, task: TaskId) -> bool {
        self.state.tasks.get(&task).is_some_and(|task| task.is_queued())
    }

    fn ask(&mut self, input: Input) -> Result<Reply, PackingError> {
        step(&mut self.state, input, self.now).reply.map_err(PackingError::Refused)
    }
}
