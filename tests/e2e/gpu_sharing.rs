//! Several tasks on one GPU, and GPUs that are not given out.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use serde_json::{Value, json};
use std::fs;

const GIGABYTE: u64 = 1 << 30;

/// Simulated GPUs have 24 GB each.
fn start(gpus: usize) -> Daemon {
    Daemon::start_with(Setup::simulated(gpus))
}

fn gpu(daemon: &Daemon, index: usize) -> Value {
    daemon.json(&["gpus", "--json"])["gpus"][index].clone()
}

#[test]
fn tasks_share_a_gpu_by_count() {
    let daemon = start(1);
    daemon.say(&["gpu", "slots", "0=2"]);
    let ids: Vec<String> = (0..3).map(|_| daemon.submit("-g 1", "sleep 1000")).collect();
    ids[..2].iter().for_each(|id| daemon.wait_until(id, "running"));
    assert_eq!(daemon.state(&ids[2]), "queued");
    let shown = gpu(&daemon, 0);
    assert_eq!((&shown["state"], &shown["slots"]), (&json!("shared"), &json!(2)), "{shown}");
    assert_eq!(shown["tasks"].as_array().map(Vec::len), Some(2), "{shown}");
    let alone = daemon.submit("-g 1 --exclusive", "true");
    daemon.say(&["cancel", &ids[2], "--yes"]);
    daemon.say(&["cancel", &ids[0], "--yes"]);
    daemon.wait_until(&ids[0], "cancelled");
    assert_eq!(daemon.state(&alone), "queued", "a slot is free, the GPU is not");
    daemon.say(&["cancel", &ids[1], "--yes"]);
    assert_eq!(daemon.ask(&["wait", &alone]).status, 0);
}

#[test]
fn tasks_share_a_gpu_by_its_memory() {
    let daemon = start(1);
    let options = "-g 1 --shared --vram 10G";
    let ids: Vec<String> = (0..3).map(|_| daemon.submit(options, "sleep 1000")).collect();
    ids[..2].iter().for_each(|id| daemon.wait_until(id, "running"));
    until("their memory is seen", || gpu(&daemon, 0)["memory_used"] == json!(20 * GIGABYTE));
    assert_eq!(daemon.state(&ids[2]), "queued", "10 of 24 GB are not left");
    assert_eq!(gpu(&daemon, 0)["state"], "shared");
    let whole = daemon.submit("-g 1", "true");
    assert_eq!(daemon.state(&whole), "queued");
    daemon.say(&["cancel", &ids[0], "--yes"]);
    daemon.wait_until(&ids[2], "running");
}

#[test]
fn what_a_run_has_used_is_told_at_its_end() {
    let daemon = start(1);
    let seen =
        r#"while ! danlu gpus --json | grep -q '"memory_used":10737418240'; do sleep 0.05; done"#;
    let seen = seen.replacen("danlu", danlu::BUILT, 1);
    let run = ["run", "--shared", "--vram", "10G", "--shell", &seen];
    let told = daemon.ask(&run);
    assert!(told.status == 0 && told.stderr.contains("--vram 10G"), "{told:?}");
    assert!(daemon.say(&["show", "1"]).contains("--vram 10G"));
    let again = daemon.say(&["submit", "--dry-run", "--shell", &seen]);
    assert!(again.contains("--vram 10G"), "{again}");
}

#[test]
fn a_shared_task_says_how_much_memory_it_needs() {
    let daemon = start(1);
    let refused = daemon.ask(&["submit", "--shared", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    assert!(refused.stderr.contains("--vram"), "{refused:?}");
    let refused = daemon.ask(&["submit", "--shared", "--vram", "25G", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");
}

/// Each takes three seconds to reach its memory: the next one waits until it has.
#[test]
fn the_next_one_waits_until_the_last_one_has_its_memory() {
    let daemon = start(1);
    let script = daemon.data().join("simulated/gpus.json");
    fs::write(script, r#"{"growth": 3}"#).expect("a script");
    let ids: Vec<String> =
        (0..2).map(|_| daemon.submit("-g 1 --shared --vram 10G", "sleep 1000")).collect();
    daemon.wait_until(&ids[0], "running");
    let why = daemon.say(&["why", &ids[1]]);
    assert!(why.contains("memory on the shared GPU to settle"), "{why}");
    daemon.wait_until(&ids[1], "running");
    let used = gpu(&daemon, 0)["memory_used"].as_u64().unwrap_or(0);
    assert!(used >= 10 * GIGABYTE, "the first has all of its memory before: {used}");
}

/// 18 % of a GPU each: 80 of them fit on 16 GPUs.
#[test]
fn a_hundred_at_once_fill_the_gpus_and_overcommit_none() {
    let daemon = start(16);
    let script = daemon.data().join("simulated/gpus.json");
    fs::write(script, r#"{"growth": 0.5}"#).expect("a script");
    let share = 24 * GIGABYTE * 18 / 100;
    let options = format!("-g 1 --shared --vram {}M -a 0-99", share >> 20);
    daemon.submit(&options, "sleep 1000");
    until("nine tenths of what fits run", || {
        let shown = daemon.json(&["gpus", "--json"]);
        let gpus = shown["gpus"].as_array().expect("a list");
        let on_each = gpus.iter().map(|gpu| {
            let tasks = gpu["tasks"].as_array().map_or(0, Vec::len);
            let used = gpu["memory_used"].as_u64().expect("a number");
            assert!(tasks <= 5 && used <= 24 * GIGABYTE, "overcommitted: {gpu}");
            tasks
        });
        on_each.sum::<usize>() >= 72
    });
}

#[test]
fn a_disabled_gpu_is_given_to_nobody() {
    let daemon = start(2);
    let pinned = daemon.submit("--gpu-ids 1", "sleep 1000");
    daemon.wait_until(&pinned, "running");
    let waiting = daemon.submit("--gpu-ids 1", "true");
    daemon.say(&["gpu", "disable", "1"]);
    assert_eq!(gpu(&daemon, 1)["state"], "disabled");
    assert_eq!(daemon.state(&pinned), "running", "who is there stays");
    let why = daemon.say(&["why", &waiting]);
    assert!(why.contains("danlu gpu enable 1"), "{why}");
    let refused = daemon.ask(&["submit", "-g", "2", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    daemon.say(&["cancel", &pinned, "--yes"]);
    daemon.say(&["gpu", "enable", "1"]);
    assert_eq!(daemon.ask(&["wait", &waiting]).status, 0);
    assert_eq!(daemon.ask(&["gpu", "enable", "9"]).status, 69);
}

#[test]
fn a_gpu_with_a_hardware_error_is_quarantined_and_stays_so() {
    let mut daemon = start(1);
    let script = daemon.data().join("simulated/gpus.json");
    fs::write(&script, r#"{"gpus": {"0": {"xid": 79}}}"#).expect("a script");
    until("it is quarantined", || gpu(&daemon, 0)["state"] == "quarantined");
    assert_eq!(gpu(&daemon, 0)["why"], "Xid 79");
    fs::remove_file(&script).expect("no script");
    daemon.terminate();
    daemon.start_again();
    assert_eq!(gpu(&daemon, 0)["state"], "quarantined");
    let task = daemon.submit("-g 1", "true");
    assert_eq!(daemon.state(&task), "queued");
    daemon.say(&["gpu", "enable", "0"]);
    assert_eq!(daemon.ask(&["wait", &task]).status, 0);
}

#[test]
fn a_machine_short_of_memory_gets_nothing_new() {
    let daemon = start(1);
    let script = daemon.data().join("simulated/gpus.json");
    fs::write(&script, r#"{"free_memory": 1}"#).expect("a script");
    let waits = || {
        let task = daemon.submit("-g 1", "true");
        let why = daemon.say(&["why", &task]);
        why.contains("too little free memory").then_some(task)
    };
    let mut task = None;
    until("it is noticed", || {
        task = waits();
        task.is_some()
    });
    daemon.say(&["set", "keep_memory", "0"]);
    assert_eq!(daemon.ask(&["wait", &task.expect("one waits")]).status, 0);
}
