//! How many tasks per second a node starts and ends, and how much memory a shim uses.
//! `cargo bench -p danlu-node --bench starts [-- part of a name]`

use danlu_core::node::Capacity;
use danlu_core::{Epoch, RunId, Span, TaskId};
use danlu_node::{Agent, Inventory, Settings};
use danlu_wire::launch::{Command, Environment};
use danlu_wire::{FromAgent, LaunchOrder, StopWhy, ToAgent};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    if let Some(code) = danlu_node::dispatch() {
        return code;
    }
    println!("start and end of `true`, medians of {ROUNDS} rounds of {TASKS} (least, most)");
    report("bare spawn", || (bare(), None));
    for cgroups in [true, false] {
        for width in [1, 2, 4, 16] {
            let how = if cgroups { "with cgroups" } else { "without cgroups" };
            report(&format!("{how}, {width} at a time"), || rate(cgroups, width));
        }
    }
    println!("private memory of a shim: {} kB", shim_memory());
    ExitCode::SUCCESS
}

/// Other work on the machine slows the rate; processor time tells more then.
fn report(name: &str, measure: impl Fn() -> (f64, Option<f64>)) {
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    if wanted.is_some_and(|part| !name.contains(&part)) {
        return;
    }
    let (mut rates, mut costs): (Vec<f64>, Vec<Option<f64>>) =
        (0..ROUNDS).map(|_| measure()).unzip();
    rates.sort_by(f64::total_cmp);
    costs.sort_by(|a, b| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)));
    let (least, median, most) = (rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]);
    let cost = costs[ROUNDS / 2]
        .map_or_else(String::new, |cost| format!(", {cost:.2} ms of processor each"));
    println!("{name:>32}: {median:>6.0}/s ({least:.0}, {most:.0}){cost}");
}

/// For comparison: what the machine can do at all, one at a time.
fn bare() -> f64 {
    let begun = Instant::now();
    for _ in 0..TASKS {
        let ended = std::process::Command::new("/bin/true").status();
        assert!(ended.expect("it starts").success());
    }
    per_second(begun)
}

fn per_second(begun: Instant) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
    let tasks = TASKS as f64;
    tasks / begun.elapsed().as_secs_f64()
}

/// Milliseconds that this process, its launcher and all its runs have used; they are in one control group.
fn processor_time() -> Option<f64> {
    let own = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).ok()?;
    let milliseconds = |time: nix::sys::time::TimeVal| {
        #[allow(clippy::cast_precision_loss, reason = "a few hours")]
        let microseconds = (time.tv_sec() * 1_000_000 + time.tv_usec()) as f64;
        microseconds / 1000.0
    };
    let group = ["/sys/fs/cgroup/unified/danlu/cpu.stat", "/sys/fs/cgroup/danlu/cpu.stat"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok())?;
    let group: f64 =
        group.lines().find_map(|line| line.strip_prefix("usage_usec ")?.parse().ok())?;
    Some(milliseconds(own.user_time()) + milliseconds(own.system_time()) + group / 1000.0)
}

const TASKS: u64 = 2_000;
const ROUNDS: usize = 5;

fn rate(cgroups: bool, width: u64) -> (f64, Option<f64>) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (agent, notices) = start(directory.path(), cgroups);
    let (begun, before) = (Instant::now(), processor_time());
    let (mut launched, mut ended) = (0, 0);
    while ended < TASKS {
        while launched < TASKS && launched - ended < width {
            launched += 1;
            agent.send(launch(launched, &["/bin/true"])).expect("the agent lives");
        }
        if let Ok(FromAgent::Ended { run, .. }) = notices.recv() {
            ended += 1;
            agent.send(ToAgent::Forget { run }).expect("the agent lives");
        }
    }
    let rate = per_second(begun);
    #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
    let each = |spent: f64| spent / TASKS as f64;
    (
        rate,
        processor_time()
            .zip(before)
            .filter(|_| cgroups)
            .map(|(after, before)| each(after - before)),
    )
}

fn shim_memory() -> u64 {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (agent, notices) = start(directory.path(), true);
    agent.send(launch(1, &["/bin/sleep", "60"])).expect("the agent lives");
    let Ok(FromAgent::Started { run, leader, .. }) = notices.recv() else { panic!("not started") };
    let stat = std::fs::read_to_string(format!("/proc/{leader}/status")).expect("the task lives");
    let shim = stat.lines().find_map(|line| line.strip_prefix("PPid:")).expect("a parent").trim();
    let memory = std::fs::read_to_string(format!("/proc/{shim}/smaps_rollup")).expect("the shim");
    let private = memory
        .lines()
        .filter_map(|line| {
            line.strip_prefix("Private_")?.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .sum();
    agent
        .send(ToAgent::Stop { run, why: StopWhy::Cancelled, grace: Span::ZERO })
        .expect("the agent lives");
    let _ = notices.recv_timeout(Duration::from_secs(10));
    private
}

fn start(root: &Path, cgroups: bool) -> (Agent, Receiver<FromAgent>) {
    let (said, notices) = channel();
    let capacity = Capacity { cpus: 2, memory: 1 << 30 };
    let agent = Agent::start(Settings {
        root: root.to_owned(),
        cgroups,
        inventory: Box::new(move || Inventory { capacity, free_memory: None, gpus: Vec::new() }),
        notice: Box::new(move |notice| {
            let _ = said.send(notice);
        }),
    });
    (agent.expect("the agent starts"), notices)
}

fn launch(number: u64, argv: &[&str]) -> ToAgent {
    let run = RunId { epoch: Epoch(1), number };
    let command = Command::Argv(argv.iter().map(|&word| word.to_owned()).collect());
    let mut order = LaunchOrder::new(run, TaskId(number), command, "/tmp");
    // As large as an environment is on such machines.
    order.environment =
        Environment((0..60).map(|n| format!("VARIABLE_{n}={}", "x".repeat(50))).collect());
    ToAgent::Launch(Box::new(order))
}
