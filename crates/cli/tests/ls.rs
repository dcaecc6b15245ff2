//! `danlu ls`, `show`, `why`, `gpus` and `nodes`, with a real server.

mod daemon;
mod danlu;

use daemon::Daemon;
use danlu::answer;
use serde_json::{Value, json};

fn ids(document: &Value) -> Vec<u64> {
    let tasks = document["tasks"].as_array().expect("a list");
    tasks.iter().filter_map(|task| task["id"].as_u64()).collect()
}

#[test]
fn lists_filters_and_folds() {
    let Some(daemon) = Daemon::start() else { return };
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
    assert!(shown.contains("until a running task ends"), "{shown}");
    assert!(shown.contains("held: danlu release ID"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn one_task_and_the_machine_in_detail() {
    let Some(daemon) = Daemon::start() else { return };
    let big = daemon.submit("-g 3 -t 2h -J big --description why-not", "sleep 60");
    daemon.wait_until(&big, "running");
    let waits = daemon.submit("-g 2", "true");
    let shown = daemon.say(&["show", &big]);
    for words in ["task 1 (big): running", "time limit    2h", "why-not", "3 GPU", "RUN  STATE"] {
        assert!(shown.contains(words), "`{words}` is missing:\n{shown}");
    }
    let why = daemon.say(&["why", &waits]);
    assert!(why.starts_with("task 2 (sh) waits: until a running task ends.\n"), "{why}");
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
