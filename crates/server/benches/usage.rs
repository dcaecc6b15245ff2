//! A week of samples of 50 machines with 8 GPUs, through the real writer: how large it is, and how long questions take.
//!
//! `cargo xtask bench usage`. Arguments: machines, and hours.

use danlu_core::{GpuId, NodeId, RunId};
use danlu_server::daemon::config::Sampling;
use danlu_server::usage::{SampleSource, Subject, Usage};
use danlu_wire::samples::{
    GpuLoad, GpuReading, MachineReading, RunGpuReading, RunReading, Samples,
};
use std::time::Instant;

const GPUS: u64 = 8;
const INTERVAL: i64 = 2_000;
/// A run of each GPU is this long.
const RUN_HOURS: i64 = 6;
const QUESTIONS: u64 = 200;

fn main() {
    let numbers: Vec<u64> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let machines = numbers.first().copied().unwrap_or(50);
    let hours = i64::try_from(numbers.get(1).copied().unwrap_or(168)).unwrap_or(168);
    let directory = std::env::temp_dir().join(format!("danlu-usage-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let (usage, unwritten) = Usage::new(&directory, &Sampling::default());
    let writer = unwritten.start();
    let mut chance = Chance(7);
    // The newest samples are of now, so that what is too old is taken away as it would be.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let end = i64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(0) / INTERVAL * INTERVAL;
    let start = end - hours * 3_600_000;
    let began = Instant::now();
    let mut loads = vec![Load::default(); (machines * GPUS) as usize];
    let mut at = start;
    while at < end {
        for machine in 0..machines {
            let samples = samples(machine, at - start, &mut loads, &mut chance);
            let node = NodeId(machine as u32);
            usage.note_at(SampleSource { node, user: None }, samples, at);
        }
        // As often as the clock of the server would, and never more than may wait.
        if (at - start) % 60_000 == 0 {
            usage.flush_at(at);
        }
        at += INTERVAL;
    }
    usage.flush_at(end);
    let written = began.elapsed();
    let mut times: Vec<u128> = (0..QUESTIONS)
        .map(|_| {
            let subject = subject(&mut chance, machines, hours);
            let span = 1 + chance.below(hours as u64 * 3_600_000) as i64;
            let from = start + chance.below((end - start - span).max(1) as u64) as i64;
            let points = 100 + chance.below(1_900) as usize;
            let asked = Instant::now();
            let found = usage.range(&subject, from, from + span, points);
            assert!(found.moments.len() <= points, "{} of {points}", found.moments.len());
            asked.elapsed().as_micros()
        })
        .collect();
    times.sort_unstable();
    writer.stop();
    let size: u64 = ["usage.db", "usage.db-wal"]
        .iter()
        .filter_map(|name| Some(std::fs::metadata(directory.join(name)).ok()?.len()))
        .sum();
    let _ = std::fs::remove_dir_all(&directory);
    let count = machines * GPUS * hours as u64 * 1_800;
    println!("{machines} machines x {GPUS} GPUs, {hours} h, {count} samples of GPUs");
    println!("file        {:.1} MB", size as f64 / 1e6);
    println!("written in  {:.1} s", written.as_secs_f64());
    println!(
        "range       median {:.1} ms, worst {:.1} ms of {QUESTIONS}",
        ms(&times, 2),
        ms(&times, 1)
    );
}

/// The last of a part of them.
fn ms(times: &[u128], part: usize) -> f64 {
    times.get((times.len() / part).saturating_sub(1)).copied().unwrap_or(0) as f64 / 1_000.0
}

#[derive(Clone, Copy, Default)]
struct Load {
    temperature: f64,
}

fn samples(machine: u64, age: i64, loads: &mut [Load], chance: &mut Chance) -> Samples {
    let mut samples = Samples::default();
    let noise = |chance: &mut Chance, most: u64| chance.below(most) as u32;
    samples.machine = Some(MachineReading {
        cpu: Some(300 + noise(chance, 60)),
        memory_used: Some(200_000 + (age / 60_000 % 500) as u32 + noise(chance, 20)),
        memory_total: Some(515_000),
        load: Some(1_600 + (age / 10_000 % 90) as u32),
        disk_used: Some(900_000 + (age / 600_000) as u32),
        disk_total: Some(3_600_000),
        disk_read: Some(40_000 + noise(chance, 20_000)),
        disk_written: Some(noise(chance, 300)),
        received: Some(noise(chance, 2_000)),
        sent: Some(noise(chance, 400)),
    });
    for index in 0..GPUS {
        let place = machine * GPUS + index;
        // A third of the cards waits for work; the others train, with a pause every minute or so.
        let turn = (age / (RUN_HOURS * 3_600_000)) as u64;
        let busy = !(place + turn).is_multiple_of(3);
        let pauses = (age / 1_000 + place as i64 * 7) % (40 + place as i64 % 50) < 4;
        let percent = match (busy, pauses) {
            (false, _) => 0,
            (true, true) => 10 + noise(chance, 10),
            (true, false) => 88 + noise(chance, 11),
        };
        let load = &mut loads[place as usize];
        load.temperature += ((32.0 + f64::from(percent) * 0.4) - load.temperature) * 0.05;
        let watts = if busy { 80 + percent * 3 + noise(chance, 9) } else { 62 };
        let memory = if busy { 30_000 + (place * 997 % 40_000) as u32 } else { 4 };
        let gpu = GpuId::from(format!("GPU-{machine:04}-{index}").as_str());
        let seen = GpuLoad {
            utilization: Some(percent.min(100) as u8),
            memory: Some(memory),
            power: Some(watts),
        };
        samples.gpus.push(GpuReading {
            gpu: gpu.clone(),
            load: seen,
            temperature: Some(load.temperature as i32),
        });
        if busy {
            samples.runs.push(RunReading {
                run: run(place, turn),
                cpu: Some(3_800 + noise(chance, 400)),
                memory: Some(24_000 + (age / 60_000 % 200) as u32),
                gpus: vec![RunGpuReading { gpu, load: seen }],
            });
        }
    }
    samples
}

fn run(place: u64, turn: u64) -> RunId {
    RunId { number: turn * 10_000 + place, ..RunId::FIRST }
}

fn subject(chance: &mut Chance, machines: u64, hours: i64) -> Subject {
    let (machine, index) = (chance.below(machines), chance.below(GPUS));
    let gpu = GpuId::from(format!("GPU-{machine:04}-{index}").as_str());
    let turn = chance.below((hours / RUN_HOURS).max(1) as u64);
    match chance.below(3) {
        0 => Subject::Machine(NodeId(machine as u32)),
        1 => Subject::Gpu(gpu),
        _ => Subject::RunGpu { run: run(machine * GPUS + index, turn), gpu },
    }
}

/// The same numbers every time (SplitMix64).
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ (number >> 31)) % most.max(1)
    }
}
