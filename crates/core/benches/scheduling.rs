//! What one decision costs: a full cluster and a long queue, over the number of queued tasks, of GPUs and of users.
//!
//! `cargo xtask bench core` runs it; `--json` prints one document instead of the table, and a name is that of the only
//! policy to be measured.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark reads the clock"
)]
#![allow(clippy::disallowed_macros, reason = "a benchmark prints")]

use danlu_core::gpu::GpuReport;
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::quota::Quota;
use danlu_core::run::{Ending, Exit};
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::user::UserChange;
use danlu_core::{
    Actor, Effect, Epoch, GpuId, Input, NodeId, NodeMessage, Reply, Request, RunId, SessionId,
    Settings, Span, State, Step, Time, UserId, step,
};
use std::time::{Duration, Instant};

const GPUS_PER_NODE: u32 = 8;
const QUEUES: [usize; 3] = [1_000, 10_000, 100_000];
const NODES: [u32; 3] = [1, 100, 1_000];
const USERS: [u32; 3] = [10, 100, 1_000];
const ROUNDS: usize = 51;
const NOW: Time = Time::from_secs(100_000);
/// What makes it harder than a plain queue, with its name at the end of a policy's.
type Twist = (&'static str, fn(&mut Cluster));

const TWISTS: [Twist; 4] = [
    ("/tasks-quota", Cluster::limit_tasks),
    ("/gpus-quota", Cluster::limit_gpus),
    ("/project-quota", Cluster::limit_project),
    ("/groups", Cluster::group_users),
];
const PROJECT: &str = "llm";
/// What lab users give as time limits, in seconds.
const LIMITS: [u64; 8] = [900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 172_800];

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let mut results = Vec::new();
    let policies = [
        ("balance", Order::Balance, Backfill::None),
        ("balance+skip", Order::Balance, Backfill::Skip),
        ("balance+easy", Order::Balance, Backfill::Easy),
        ("fair", Order::Fair, Backfill::None),
        ("fair+skip", Order::Fair, Backfill::Skip),
        ("fair+easy", Order::Fair, Backfill::Easy),
        ("fifo", Order::Fifo, Backfill::None),
        ("fifo+skip", Order::Fifo, Backfill::Skip),
        ("fifo+easy", Order::Fifo, Backfill::Easy),
        ("sjf", Order::Sjf, Backfill::None),
        ("sjf+skip", Order::Sjf, Backfill::Skip),
        ("sjf+easy", Order::Sjf, Backfill::Easy),
        ("auto", Order::Auto, Backfill::None),
        ("auto/tasks-quota", Order::Auto, Backfill::None),
        ("auto/gpus-quota", Order::Auto, Backfill::None),
        ("auto/project-quota", Order::Auto, Backfill::None),
        ("balance/tasks-quota", Order::Balance, Backfill::None),
        ("balance+skip/gpus-quota", Order::Balance, Backfill::Skip),
        ("balance/project-quota", Order::Balance, Backfill::None),
        ("fair/gpus-quota", Order::Fair, Backfill::None),
        ("fair/groups", Order::Fair, Backfill::None),
        ("fifo/tasks-quota", Order::Fifo, Backfill::None),
        ("srtf", Order::Srtf, Backfill::None),
        ("las", Order::Las, Backfill::None),
    ];
    let only = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let wanted = |policy: &str| only.as_deref().is_none_or(|only| only == policy);
    for (policy, order, backfill) in policies.into_iter().filter(|it| wanted(it.0)) {
        let largest = Size { queued: QUEUES[2], nodes: NODES[2], users: USERS[0] };
        let queues = QUEUES.map(|queued| Size { queued, ..largest });
        let nodes = [NODES[0], NODES[1]].map(|nodes| Size { nodes, ..largest });
        let users = [USERS[1], USERS[2]].map(|users| Size { users, ..largest });
        for size in queues.into_iter().chain(nodes).chain(users) {
            let mut cluster = Cluster::full(order, backfill, size);
            let twist = TWISTS.iter().find(|(name, _)| policy.ends_with(name));
            if let Some((_, twist)) = twist {
                twist(&mut cluster);
            }
            let mut add = |what, times| results.push(Figure::new(what, policy, size, times));
            add("pass_nothing_free", cluster.passes());
            add("pass_one_gpu_freed", cluster.freed_passes());
            add("submit", cluster.submits());
        }
    }
    if json { print_json(&results) } else { print_table(&results) }
}

#[derive(Clone, Copy)]
struct Size {
    queued: usize,
    nodes: u32,
    users: u32,
}

struct Cluster {
    users: u32,
    state: State,
    running: Vec<RunId>,
    submitted: usize,
}

impl Cluster {
    /// Every GPU is in use and `queued` tasks wait.
    fn full(order: Order, backfill: Backfill, size: Size) -> Cluster {
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
        for number in 0..queued {
            cluster.submit([1, 1, 2, 4, 8][number % 5], LIMITS[number % LIMITS.len()] + 1);
        }
        cluster
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
        self.submitted += 1;
        let spec = TaskSpec {
            command: vec!["train".into()],
            request: Request::gpus(gpus),
            expected: Some(Span::from_secs(seconds)),
            preemptible: true,
            project: Some(PROJECT.to_owned()),
            ..TaskSpec::default()
        };
        let by = UserId(self.submitted as u32 % self.users + 1);
        self.act(Input::Submit { by, spec, key: None });
    }

    /// Everybody runs as many tasks as they may.
    fn limit_tasks(&mut self) {
        self.configure(|settings| settings.quota.user.running_tasks = Some(1));
    }

    /// … or has a GPU or two left, too few for most of what waits.
    fn limit_gpus(&mut self) {
        let most = self.running.len() as u64 / u64::from(self.users) + 1;
        let most = most.max(8);
        self.configure(|settings| settings.quota.user.running_gpus = Some(most));
    }

    fn limit_project(&mut self) {
        let quota = Quota { running_tasks: Some(1), ..Quota::default() };
        self.configure(|settings| {
            settings.quota.project.insert(PROJECT.to_owned(), quota);
        });
    }

    fn group_users(&mut self) {
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

    fn passes(&mut self) -> Vec<Duration> {
        (0..ROUNDS).map(|_| self.timed(|cluster| drop(cluster.act(Input::Schedule)))).collect()
    }

    /// One run ends; what does the pass cost that gives its GPU to somebody else?
    fn freed_passes(&mut self) -> Vec<Duration> {
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

    fn submits(&mut self) -> Vec<Duration> {
        (0..ROUNDS).map(|_| self.timed(|cluster| cluster.submit(8, 172_800))).collect()
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

struct Figure {
    what: &'static str,
    policy: &'static str,
    size: Size,
    low_us: f64,
    median_us: f64,
    high_us: f64,
}

impl Figure {
    fn new(
        what: &'static str,
        policy: &'static str,
        size: Size,
        mut times: Vec<Duration>,
    ) -> Figure {
        times.sort();
        let at =
            |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
        let (low_us, median_us, high_us) = (at(0.1), at(0.5), at(0.9));
        Figure { what, policy, size, low_us, median_us, high_us }
    }
}

fn print_table(results: &[Figure]) {
    println!("all GPUs in use; microseconds, {ROUNDS} rounds");
    println!(
        "{:<20} {:<23} {:>8} {:>6} {:>6} {:>10} {:>10} {:>10}",
        "what", "policy", "queued", "GPUs", "users", "median", "p10", "p90"
    );
    for Figure { what, policy, size, low_us, median_us, high_us } in results {
        let Size { queued, nodes, users } = size;
        let gpus = nodes * GPUS_PER_NODE;
        println!(
            "{what:<20} {policy:<23} {queued:>8} {gpus:>6} {users:>6} {median_us:>10.1} {low_us:>10.1} {high_us:>10.1}"
        );
    }
}

fn print_json(results: &[Figure]) {
    let rows: Vec<String> = results
        .iter()
        .map(|Figure { what, policy, size, low_us, median_us, high_us }| {
            let Size { queued, nodes, users } = size;
            let gpus = nodes * GPUS_PER_NODE;
            format!(
                r#"{{"what":"{what}","policy":"{policy}","queued":{queued},"gpus":{gpus},"users":{users},"median_us":{median_us:.1},"p10_us":{low_us:.1},"p90_us":{high_us:.1}}}"#
            )
        })
        .collect();
    println!(r#"{{"v":1,"bench":"core","results":[{}]}}"#, rows.join(","));
}
