//! The server is killed at random moments: every task runs exactly once, to its own end, on GPUs of its own.

use std::{collections::BTreeMap, fs, path::Path, thread, time::Duration};

use crate::support::daemon::{Daemon, Setup};
use crate::support::seeded_random::SeededRandom;
use serde_json::Value;

/// `$1` is the directory of the test, `$2` how long it takes. What it prints and how it ends follows from its index.
const TASK: &str = r#"
at=$1
echo "$DANLU_RUN $$" >> "$at/ran/$DANLU_TASK_ID"
gpus=$(echo "$CUDA_VISIBLE_DEVICES" | tr , ' ')
for gpu in $gpus; do
    mkdir "$at/locks/$gpu" || echo "task $DANLU_TASK_ID found GPU $gpu taken" >> "$at/collisions"
done
seq 1 "$DANLU_ARRAY_INDEX"
sleep "$2"
seq 1 "$DANLU_ARRAY_INDEX" >&2
for gpu in $gpus; do rmdir "$at/locks/$gpu"; done
echo "$DANLU_RUN $$" >> "$at/ended/$DANLU_TASK_ID"
exit $((DANLU_ARRAY_INDEX % 7))
"#;

/// How many, on how many GPUs each, for how many seconds.
const KINDS: [(u32, &str, &str); 6] = [
    (6, "1", "3"),
    (80, "1", "0.01"),
    (50, "1", "0.15"),
    (30, "2", "0.1"),
    (8, "4", "0.05"),
    (26, "0", "0.2"),
];

#[test]
fn every_task_runs_once_whenever_the_server_is_killed() {
    let mut daemon = Daemon::start_with(Setup::simulated(4));
    let mut random = SeededRandom::new();
    let at = daemon.directory().to_path_buf();
    for name in ["ran", "ended", "locks"] {
        fs::create_dir(at.join(name)).expect("it can be made");
    }
    let tasks = submit_all(&daemon);
    assert_eq!(tasks.len(), 200);

    for kill in 0..30 {
        // Some of them before it takes requests, or even before it has looked at what runs.
        if kill % 3 == 0 {
            daemon.crash();
            daemon.begin_again();
            thread::sleep(random.up_to(Duration::from_millis(120)));
        } else {
            thread::sleep(random.up_to(Duration::from_millis(350)));
        }
        daemon.crash();
        daemon.start_again();
        // An upgrade.
        match kill % 10 {
            4 => drop(daemon.say(&["down"])),
            // It has only just said that it is there.
            9 => daemon.terminate(),
            _ => continue,
        }
        daemon.start_again();
    }
    daemon.ask(&["wait", "--all"]);

    let ended = daemon.json(&["ls", "-a", "--json"]);
    for task in ended["tasks"].as_array().expect("a list") {
        check(&daemon, task, tasks[&task["id"].as_u64().expect("an id")]);
    }
    assert_eq!(ended["tasks"].as_array().map(Vec::len), Some(200));
    let collisions = fs::read_to_string(at.join("collisions")).unwrap_or_default();
    assert_eq!(collisions, "", "two tasks on one GPU");
}

/// Ids and indices.
fn submit_all(daemon: &Daemon) -> BTreeMap<u64, u32> {
    let directory = daemon.directory().to_str().expect("it is UTF-8");
    let mut tasks = BTreeMap::new();
    for (count, gpus, seconds) in KINDS {
        let array = format!("1-{count}");
        let options = ["submit", "-q", "-g", gpus, "--array", &array, "--"];
        let first =
            daemon.say(&[&options[..], &["sh", "-c", TASK, "task", directory, seconds]].concat());
        let first: u64 = first.trim().parse().expect("an id");
        tasks.extend((first..).zip(1..=count));
    }
    tasks
}

fn check(daemon: &Daemon, task: &Value, index: u32) {
    let id = task["id"].to_string();
    let code = index % 7;
    let state = if code == 0 { "succeeded" } else { "failed" };
    assert_eq!((task["state"].as_str(), &task["exit_code"]), (Some(state), &code.into()), "{task}");
    let ran = read(&daemon.directory().join("ran").join(&id));
    assert_eq!(ran.lines().count(), 1, "task {id} ran more than once: {ran}");
    let ended = read(&daemon.directory().join("ended").join(&id));
    assert_eq!(ended, ran, "task {id} ended as another run or process");
    let half: String = (1..=index).map(|line| format!("{line}\n")).collect();
    assert_eq!(daemon.say(&["logs", &id]), format!("{half}{half}"), "the log of task {id}");
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
