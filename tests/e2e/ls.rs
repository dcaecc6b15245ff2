//! `danlu ls`, `show`, `why`, `gpus` and `nodes`, with a real server.

use crate::support::daemon;
use crate::support::daemon::Daemon;
use crate::support::danlu::answer;
use serde_json::{Value, json};

fn ids(document: &Value) -> Vec<u64> {
    let tasks = document["tasks"].as_array().expect("a list");
    tasks.iter().filter_map(|task| task["id"].as_u64()).collect()
}

#[test]
fn ls_filters_tasks_and_shows_an_array_as_one_row() {
    let daemon = Daemon::start();
    let done = daemon.submit("--label kind=short", "true");
    daemon.say(&["wait", &done]);
    let big = daemon.submit("-g 4 -J big", "sleep 60");
    daemon.wait_until(&big, "running");
    daemon.submit("--array 0-4 -J sweep --label kind=sweep", "true");
    daemon.submit("--hold -J later", "true");
    let all = daemon.json(&["ls", "--json"]);
    assert_eq!((ids(&all), &all["v"]), ((1..=8).collect(), &json!(1)));
    assert_eq!(all["tasks"][0].get("runs"), None, "lists leave out the runs");
    assert_eq!(ids(&daemon.json(&["ls", "--json", "--state", "running"])), [2]);
    assert_eq!(ids(&daemon.json(&["ls", "--json", "--state", "ended,held"])), [1, 8]);
    assert_eq!(ids(&daemon.json(&["ls", "--json", "--label", "kind=sweep"])), [3, 4, 5, 6, 7]);
    assert_eq!(ids(&daemon.json(&["ls", "--json", "--user", "nobody-here"])), [0_u64; 0]);
    assert_eq!(ids(&daemon.json(&["ps", "--json", "-n", "2"])), [8, 7]);

    let mut command = daemon.command(&["ls"]);
    let shown = answer(command.env("COLUMNS", "80").output().expect("it starts")).stdout;
    assert!(shown.starts_with("GPUs 0/4 free     you: 1 running (4 GPUs), 6 waiting\n"), "{shown}");
    assert!(shown.contains("sweep[0-4]") && shown.contains("3-7"), "{shown}");
    assert!(shown.contains("for a running task to end"), "{shown}");
    assert!(shown.contains("held: release it with danlu release"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn show_why_gpus_and_nodes_print_the_details() {
    let daemon = Daemon::start();
    let big = daemon.submit("-g 3 -t 2h -J big --description why-not", "sleep 60");
    daemon.wait_until(&big, "running");
    let waits = daemon.submit("-g 2", "true");
    let shown = daemon.say(&["show", &big]);
    for words in ["task 1 (big): running", "time limit    2h", "why-not", "3 GPU", "RUN  STATE"] {
        assert!(shown.contains(words), "`{words}` is missing:\n{shown}");
    }
    let why = daemon.say(&["why", &waits]);
    let needs = "task 2 (sh) waits: it needs 2 GPUs on one machine. 1st of 1 in line.\n";
    assert!(why.starts_with(needs), "{why}");
    assert!(why.contains("1 free · 3 held by 1 ("), "{why}");
    assert_eq!(daemon.json(&["why", &waits, "--json"])["why"]["task"]["id"], 2);
    let gpus = daemon.json(&["gpus", "--json"]);
    let held = gpus["gpus"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|gpu| gpu["state"] == "held")
        .count();
    assert_eq!((held, &gpus["gpus"][0]["tasks"]), (3, &json!([1])));
    assert_eq!(daemon.say(&["gpus"]).lines().count(), 5);
    let nodes = daemon.json(&["sinfo", "--json"]);
    assert_eq!(
        (&nodes["nodes"][0]["gpus"], &nodes["nodes"][0]["gpus_free"]),
        (&json!(4), &json!(1))
    );
    assert!(daemon.say(&["nodes"]).contains("1/4"));
    assert_eq!(daemon.ask(&["show", "99"]).status, 69);
    assert_eq!(daemon.ask(&["why", "99"]).status, 69);
}

/// Of a waiting task: the reason in words, and what its constraints are about.
fn why(daemon: &Daemon, id: &str) -> (String, Vec<Value>) {
    let document = daemon.json(&["why", id, "--json"]);
    let constraints = document["why"]["constraints"].as_array().expect("a list").clone();
    (daemon.say(&["why", id]), constraints)
}

#[test]
fn why_names_all_holders_that_have_to_end_the_place_in_line_and_what_would_start_now() {
    let daemon = Daemon::start();
    let limited = daemon.submit("-g 2 -t 2h", "sleep 1000");
    let endless = daemon.submit("-g 1", "sleep 1000");
    let aside = daemon.submit("-g 0", "sleep 1000");
    for id in [&limited, &endless, &aside] {
        daemon.wait_until(id, "running");
    }
    let all = daemon.submit("-g 4", "true");
    let (said, constraints) = why(&daemon, &all);
    let holders: Vec<u64> = constraints.iter().filter_map(|it| it["task"].as_u64()).collect();
    assert_eq!(holders, [1, 2], "neither fewer nor more: {constraints:?}");
    for words in [
        "it needs 4 GPUs on one machine. 1st of 1 in line.",
        "It starts when 1 (",
        ", end unknown) have ended.",
        "It would start now with: --gpus 1\n",
        "hint: danlu edit 4 --gpus 1\n",
    ] {
        assert!(said.contains(words), "`{words}` is missing:\n{said}");
    }
    assert!(!said.contains("expected start"), "nobody knows when task 2 ends:\n{said}");

    // Three of them come free when the first ends, whatever becomes of the one before it in line.
    let three = daemon.submit("-g 3", "true");
    let (said, constraints) = why(&daemon, &three);
    let holders: Vec<u64> = constraints.iter().filter_map(|it| it["task"].as_u64()).collect();
    assert_eq!(holders, [1], "{constraints:?}");
    assert!(said.contains("2nd of 2 in line."), "{said}");
    // What is said to start at once does.
    daemon.say(&["cancel", "-y", &three]);
    daemon.say(&["edit", &all, "--gpus", "1"]);
    assert_eq!(daemon.ask(&["wait", &all]).status, 0);
}

#[test]
fn why_names_the_pinned_gpu_and_the_cpus_that_are_missing() {
    let daemon = Daemon::start();
    let first = daemon.submit("--gpu-ids 2 -t 1h", "sleep 1000");
    let second = daemon.submit("--gpu-ids 3", "sleep 1000");
    daemon.wait_until(&first, "running");
    daemon.wait_until(&second, "running");
    let pinned = daemon.submit("--gpu-ids 2", "true");
    let (said, constraints) = why(&daemon, &pinned);
    assert!(said.contains("it needs GPU 2 on one machine, short of GPU 2."), "{said}");
    assert_eq!(constraints.len(), 1, "{constraints:?}");
    assert_eq!((&constraints[0]["task"], &constraints[0]["gpu_ids"]), (&json!(1), &json!([2])));
    assert!(said.contains(": expected start "), "{said}");

    let cpus = daemon.json(&["nodes", "--json"])["nodes"][0]["cpus"].as_u64().expect("a number");
    let greedy = daemon.submit(&format!("-g 0 -c {cpus}"), "sleep 1000");
    daemon.wait_until(&greedy, "running");
    let starved = daemon.submit("-g 1 -c 1", "true");
    let (said, constraints) = why(&daemon, &starved);
    assert!(said.contains("it needs 1 GPU and 1 CPU on one machine, short of CPUs."), "{said}");
    assert_eq!(constraints.len(), 1, "{constraints:?}");
    assert_eq!(constraints[0]["task"], json!(4));
    let mut chinese = daemon.command(&["why", &starved]);
    chinese.env("DANLU_LANG", "zh");
    let said = answer(chinese.output().expect("it starts")).stdout;
    for words in
        ["需要：同一台机器上的 1 块 GPU 和 1 个 CPU，缺少：CPU。", "以下条件全部满足后开始：4（"]
    {
        assert!(said.contains(words), "`{words}` is missing:\n{said}");
    }
}

#[test]
fn why_tells_memory_and_idleness_of_shared_gpus_from_strangers() {
    let daemon = Daemon::start_with(daemon::Setup::simulated(1));
    let large = daemon.submit("-g 1 --shared --vram 20G", "sleep 1000");
    daemon.wait_until(&large, "running");
    let memory = daemon.submit("-g 1 --shared --vram 20G", "true");
    let (said, constraints) = why(&daemon, &memory);
    assert!(said.contains("short of GPU memory."), "{said}");
    assert!(!said.contains("outside"), "{said}");
    assert_eq!(constraints[0]["task"], json!(1), "{constraints:?}");
}
