//! What one decision costs: a full cluster of 1,000 nodes with 8 GPUs each, and a long queue.
//!
//! `cargo xtask bench core` runs it; `--json` prints one document instead of the table.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark reads the clock"
)]
#![allow(clippy::disallowed_macros, reason = "a benchmark prints")]

use danlu_core::gpu::GpuReport;
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::run::{Ending, Exit};
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::{
    Actor, Effect, Epoch, GpuId, Input, NodeId, NodeMessage, Reply, Request, RunId, SessionId,
    Settings, Span, State, Step, Time, UserId, step,
};
use std::time::{Duration, Instant};

const NODES: u32 = 1_000;
const GPUS_PER_NODE: u32 = 8;
const QUEUES: [usize; 3] = [1_000, 10_000, 100_000];
const ROUNDS: usize = 51;
const NOW: Time = Time::from_secs(100_000);
/// What lab users give as time limits, in seconds.
const LIMITS: [u64; 8] = [900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400, 172_800];

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let mut results = Vec::new();
    for (name, order, backfill) in [
        ("fifo", Order::Fifo, Backfill::None),
        ("fifo+skip", Order::Fifo, Backfill::Skip),
        ("fifo+easy", Order::Fifo, Backfill::Easy),
        ("sjf", Order::Sjf, Backfill::None),
        ("sjf+skip", Order::Sjf, Backfill::Skip),
        ("sjf+easy", Order::Sjf, Backfill::Easy),
        ("auto", Order::Auto, Backfill::None),
        ("srtf", Order::Srtf, Backfill::None),
        ("las", Order::Las, Backfill::None),
    ] {
        for queued in QUEUES {
            let mut cluster = Cluster::full(order, backfill, queued);
            results.push(Figure::new("pass_nothing_free", name, queued, cluster.passes()));
            results.push(Figure::new("pass_one_gpu_freed", name, queued, cluster.freed_passes()));
            results.push(Figure::new("submit", name, queued, cluster.submits()));
        }
    }
    if json { print_json(&results) } else { print_table(&results) }
}

struct Cluster {
    state: State,
    running: Vec<RunId>,
    submitted: usize,
}

impl Cluster {
    /// Every GPU is in use and `queued` tasks wait.
    fn full(order: Order, backfill: Backfill, queued: usize) -> Cluster {
        let mut cluster = Cluster { state: State::new(), running: Vec::new(), submitted: 0 };
        cluster.act(Input::Boot { epoch: Epoch(1) });
        let by = Actor::Daemon;
        cluster.act(Input::AddUser { by, name: "ann".into(), admin: false });
        cluster.act(Input::Configure { by, settings: settings(order, backfill) });
        for number in 1..=NODES {
            cluster.add_node(number);
        }
        // One-GPU tasks of 900 s, the shortest there is: no order wants to preempt them.
        for _ in 0..NODES * GPUS_PER_NODE {
            cluster.submit(1, 900);
        }
        let started = cluster.act(Input::Schedule);
        cluster.running = launched(&started);
        assert_eq!(cluster.running.len(), (NODES * GPUS_PER_NODE) as usize);
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
        let report = NodeReport { capacity, free_memory: None, gpus: gpus.collect(), runs: vec![] };
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
            ..TaskSpec::default()
        };
        self.act(Input::Submit { by: UserId(1), spec, key: None });
    }

    fn passes(&mut self) -> Vec<Duration> {
        (0..ROUNDS).map(|_| self.timed(|cluster| drop(cluster.act(Input::Schedule)))).collect()
    }

    /// One run ends; what does the pass cost that gives its GPU to somebody else?
    fn freed_passes(&mut self) -> Vec<Duration> {
        let mut times = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let run = self.running.remove(self.running.len() / 2);
            let node = self.state.runs[&run].parts[0].node;
            let exit = Exit::Code(0);
            let ending =
                Ending { exit, stopped: false, failure: None, started_at: None, ended_at: NOW };
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
    queued: usize,
    low_us: f64,
    median_us: f64,
    high_us: f64,
}

impl Figure {
    fn new(
        what: &'static str,
        policy: &'static str,
        queued: usize,
        mut times: Vec<Duration>,
    ) -> Figure {
        times.sort();
        let at =
            |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
        let (low_us, median_us, high_us) = (at(0.1), at(0.5), at(0.9));
        Figure { what, policy, queued, low_us, median_us, high_us }
    }
}

fn print_table(results: &[Figure]) {
    println!("{NODES} nodes x {GPUS_PER_NODE} GPUs, all in use; microseconds, {ROUNDS} rounds");
    println!(
        "{:<20} {:<10} {:>8} {:>10} {:>10} {:>10}",
        "what", "policy", "queued", "median", "p10", "p90"
    );
    for Figure { what, policy, queued, low_us, median_us, high_us } in results {
        println!(
            "{what:<20} {policy:<10} {queued:>8} {median_us:>10.1} {low_us:>10.1} {high_us:>10.1}"
        );
    }
}

fn print_json(results: &[Figure]) {
    let rows: Vec<String> = results
        .iter()
        .map(|Figure { what, policy, queued, low_us, median_us, high_us }| {
            format!(
                r#"{{"what":"{what}","policy":"{policy}","queued":{queued},"median_us":{median_us:.1},"p10_us":{low_us:.1},"p90_us":{high_us:.1}}}"#
            )
        })
        .collect();
    println!(r#"{{"v":1,"bench":"core","results":[{}]}}"#, rows.join(","));
}
