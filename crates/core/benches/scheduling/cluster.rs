//! A cluster in which every GPU is in use and tasks wait, and what is done to it while the clock runs.

use danlu_core::gpu::GpuReport;
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::quota::Quota;
use danlu_core::run::{Ending, Exit};
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::{ArraySpec, LaunchSpec, TaskSpec};
use danlu_core::user::UserChange;
use danlu_core::{
    Actor, Effect, Epoch, GpuId, Input, NodeId, NodeMessage, Reply, Request, RunId, SessionId,
    Settings, Span, State, Step, Time, UserId, step,
};
use std::time::{Duration, Instant};

pub(crate) const GPUS_PER_NODE: u32 = 8;
pub(crate) const ROUNDS: usize = 51;
const NOW: Time = Time::from_secs(100_000);
const PROJECT: &str = "llm";
/// What lab users ask for.
const GPUS: [u32; 5] = [1, 1, 2, 4, 8];
/// What lab users give as time limits, in seconds.
const LIMITS: [u64; 8] = [900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 172_800];

#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) queued: usize,
    pub(crate) nodes: u32,
    pub(crate) users: u32,
}

pub(crate) struct Cluster {
    users: u32,
    state: State,
    running: Vec<RunId>,
    submitted: usize,
}

impl Cluster {
    /// Every GPU is in use and `queued` tasks wait.
    pub(crate) fn full(order: Order, backfill: Backfill, size: Size) -> Cluster {
        let Size { queued, nodes, users } = size;
        let mut cluster = Cluster { users, state: State::new(), running: Vec::new(), submitted: 0 };
        cluster.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 });
        let by = Actor::Daemon;
        for number in 1..=users {
            cluster.act(Input::AddUser { by, name: format!("user{number}"), admin: false });
        }
        cluster.act(Input::Configure { by, settings: settings(order, backfill) });
        for number in 1..=nodes {
            cluster.add_node(number);
        }
        // One-GPU tasks of 900 s, the shortest there is: no order wants to preempt them.
        for _ in 0..nodes * GPUS_PER_NODE {
            cluster.submit(1, 900);
        }
        let started = cluster.act(Input::Schedule);
        cluster.running = launched(&started);
        assert_eq!(cluster.running.len(), (nodes * GPUS_PER_NODE) as usize);
        if backfill != Backfill::None || order.is_preemptive() {
            // A head that has to wait, so that the others are measured overtaking it.
            cluster.submit(8, 900);
        }
        cluster.submit_single(queued);
        cluster
    }

    pub(crate) fn submit_single(&mut self, queued: usize) {
        for number in 0..queued {
            self.submit(GPUS[number % GPUS.len()], LIMITS[number % LIMITS.len()] + 1);
        }
    }

    /// … as one array of `elements` after the other, in turn of their users.
    pub(crate) fn submit_arrays(&mut self, queued: usize, elements: u32) {
        for number in 0..queued / elements as usize {
            let gpus = GPUS[number % GPUS.len()];
            let indices = (0..elements).collect();
            let array = Some(ArraySpec { indices, at_once: None, grid: Vec::new() });
            let spec = self.spec(gpus, LIMITS[number % LIMITS.len()] + 1);
            self.hand_in(TaskSpec { array, ..spec });
        }
    }

    fn act(&mut self, input: Input) -> Step {
        let step = step(&mut self.state, input, NOW);
        assert!(step.reply.is_ok(), "{:?}", step.reply);
        step
    }

    fn add_node(&mut self, number: u32) {
        let (by, name) = (Actor::Daemon, format!("n{number}"));
        let added = self.act(Input::AddNode { by, name, labels: Default::default() });
        let Ok(Reply::Node(node)) = added.reply else { panic!("no node was added") };
        let gpus = (0..GPUS_PER_NODE).map(|index| {
            let id = GpuId::from(format!("GPU-{number:04}-{index}").as_str());
            GpuReport::new(id, index, "NVIDIA A100-SXM4-80GB", 80 << 30)
        });
        let capacity = Capacity { cpus: 64, memory: 512 << 30 };
        let report = NodeReport {
            capacity,
            free_memory: None,
            gpus: gpus.collect(),
            runs: vec![],
            trouble: None,
        };
        self.hear(node, NodeMessage::Connected);
        self.hear(node, NodeMessage::Report(report));
    }

    fn hear(&mut self, node: NodeId, message: NodeMessage) {
        self.act(Input::Node { node, session: SessionId(1), message });
    }

    fn submit(&mut self, gpus: u32, seconds: u64) {
        let spec = self.spec(gpus, seconds);
        self.hand_in(spec);
    }

    fn hand_in(&mut self, spec: TaskSpec) {
        let by = UserId(self.submitted as u32 % self.users + 1);
        self.act(Input::Submit { by, spec, key: None });
    }

    /// No two have the same command, as in a lab.
    fn spec(&mut self, gpus: u32, seconds: u64) -> TaskSpec {
        self.submitted += 1;
        let seed = self.submitted.to_string();
        let command = ["python", "train.py", "--data", "imagenet", "--seed", &seed];
        let launch = LaunchSpec {
            directory: String::from("/home/ann/vision/experiments"),
            environment: Some("6b8e0f6b9f0c4d0e".repeat(4)),
            ..LaunchSpec::default()
        };
        TaskSpec {
            name: format!("resnet-{seed}"),
            command: command.map(String::from).to_vec(),
            launch: launch.into(),
            request: Request::gpus(gpus).into(),
            expected: Some(Span::from_secs(seconds)),
            preemptible: true,
            project: Some(PROJECT.to_owned()),
            ..TaskSpec::default()
        }
    }

    /// Everybody runs as many tasks as they may.
    pub(crate) fn limit_tasks(&mut self) {
        self.configure(|settings| settings.quota.user.running_tasks = Some(1));
    }

    /// … or has a GPU or two left, too few for most of what waits.
    pub(crate) fn limit_gpus(&mut self) {
        let most = self.running.len() as u64 / u64::from(self.users) + 1;
        let most = most.max(8);
        self.configure(|settings| settings.quota.user.running_gpus = Some(most));
    }

    pub(crate) fn limit_project(&mut self) {
        let quota = Quota { running_tasks: Some(1), ..Quota::default() };
        self.configure(|settings| {
            settings.quota.project.insert(PROJECT.to_owned(), quota);
        });
    }

    pub(crate) fn group_users(&mut self) {
        for number in 1..=self.users {
            let group = Some(format!("group{}", number % 10));
            let change = UserChange { group, ..UserChange::default() };
            self.act(Input::SetUser { by: Actor::Daemon, user: UserId(number), change });
        }
    }

    fn configure(&mut self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.state.settings().clone();
        change(&mut settings);
        self.act(Input::Configure { by: Actor::Daemon, settings });
    }

    pub(crate) fn passes(&mut self) -> Vec<Duration> {
        (0..ROUNDS).map(|_| self.timed(|cluster| drop(cluster.act(Input::Schedule)))).collect()
    }

    /// One run ends; what does the pass cost that gives its GPU to somebody else?
    pub(crate) fn freed_passes(&mut self) -> Vec<Duration> {
        let mut times = Vec::with_capacity(ROUNDS);
        // A single node empties when the others have to wait for a large one.
        for _ in 0..ROUNDS.min(self.running.len() - 1) {
            let run = self.running.remove(self.running.len() / 2);
            let node = self.state.runs[&run].parts[0].node;
            let exit = Exit::Code(0);
            let ending = Ending::new(exit, NOW);
            self.hear(node, NodeMessage::Ended { run, ending });
            let begun = Instant::now();
            let step = self.act(Input::Schedule);
            times.push(begun.elapsed());
            self.running.extend(launched(&step));
        }
        times
    }

    pub(crate) fn submits(&mut self) -> Vec<Duration> {
        let mut submit = |_| {
            let spec = self.spec(8, 172_800);
            self.timed(|cluster| cluster.hand_in(spec))
        };
        (0..ROUNDS).map(&mut submit).collect()
    }

    fn timed(&mut self, act: impl FnOnce(&mut Cluster)) -> Duration {
        let begun = Instant::now();
        act(self);
        begun.elapsed()
    }
}

fn settings(order: Order, backfill: Backfill) -> Settings {
    Settings { order, backfill, min_run_before_preemption: Span::ZERO, ..Settings::default() }
}

fn launched(step: &Step) -> Vec<RunId> {
    let run = |effect: &Effect| match effect {
        Effect::Launch(launch) => Some(launch.run),
        _ => None,
    };
    step.effects.iter().filter_map(run).collect()
}
