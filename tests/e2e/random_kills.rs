//! Server, tasks, shims and launchers are killed, cancelled and paused at random; the rules are checked from outside.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, processes};
use crate::support::seeded_random::SeededRandom;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// `$1` is the directory of the test, `$2` how long it takes. It has a lock on each of its GPUs, which ends with the
/// last of its processes, and leaves a child behind that has it too.
const TASK: &str = r#"
at=$1
echo "$DANLU_RUN" >> "$at/began"
for gpu in $(echo "$CUDA_VISIBLE_DEVICES" | tr , ' '); do
    exec 9>> "$at/gpu$gpu" || exit 98
    if ! flock -n 9; then
        echo "run $DANLU_RUN found GPU $gpu taken" >> "$at/collisions"
    fi
done
(setsid sh -c 'trap "" TERM; sleep 30' &)
sleep "$2"
echo "$DANLU_RUN" >> "$at/ended"
exit 5
"#;

const LENGTH: Duration = Duration::from_secs(8);

#[test]
fn no_gpu_is_used_twice_and_no_run_begins_twice_whatever_is_killed() {
    let mut daemon = Daemon::start_with(Setup::simulated(4));
    let mut random = SeededRandom::new();
    daemon.say(&["set", "stop_grace", "200ms"]);
    daemon.say(&["set", "max_losses", "100"]);
    let at = daemon.directory().to_path_buf();
    let directory = at.to_str().expect("it is UTF-8").to_owned();
    for (count, seconds, limit) in [(40, "0.1", "none"), (14, "0.4", "none"), (6, "60", "1s")] {
        let array = format!("1-{count}");
        let options = ["submit", "-q", "-g", "1", "-t", limit, "--array", &array, "--"];
        daemon.say(&[&options[..], &["sh", "-c", TASK, "task", &directory, seconds]].concat());
    }
    let tasks: Vec<String> = (1..=60).map(|id: u32| id.to_string()).collect();
    let since = Instant::now();
    let mut cancelled = BTreeSet::new();
    while since.elapsed() < LENGTH {
        thread::sleep(random.up_to(Duration::from_millis(150)));
        let task = random.one_of(&tasks).expect("there are some");
        match random.below(10) {
            0 | 1 => daemon.crash_and_restart(),
            2 => {
                daemon.terminate();
                daemon.start_again();
            }
            3 if daemon.ask(&["cancel", task]).status == 0 => drop(cancelled.insert(task.clone())),
            4 => drop(daemon.ask(&["pause", task])),
            5 | 6 => drop(daemon.ask(&["resume", "--all"])),
            _ => kill_one(&mut random, &daemon.data()),
        }
    }
    daemon.ask(&["resume", "--all"]);
    daemon.ask(&["wait", "--all"]);

    let lines = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(at.join(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    assert_eq!(lines("collisions"), [""; 0], "two runs on one GPU");
    let began = lines("began");
    let runs: BTreeSet<&String> = began.iter().collect();
    assert_eq!(runs.len(), began.len(), "a run began twice");
    println!("{} runs, {} cancelled", began.len(), cancelled.len());
    let ended: BTreeSet<String> = lines("ended").into_iter().collect();
    let listed = daemon.json(&["ls", "-a", "--json"]);
    for task in listed["tasks"].as_array().expect("a list") {
        let id = task["id"].to_string();
        let state = task["state"].as_str().expect("a state");
        let shown = daemon.show(&id);
        let last = shown["runs"].as_array().and_then(|runs| runs.last()?["run"].as_str());
        let came_to_its_end = last.is_some_and(|run| ended.contains(run));
        match task["exit_code"].as_i64() {
            Some(5) => assert!(came_to_its_end, "nobody can know that: {task}"),
            // Killed after its last words, or cancelled.
            _ if came_to_its_end => println!("{state}, {}", task["exit_code"]),
            _ => {}
        }
        assert!(state != "cancelled" || cancelled.contains(&id), "nobody cancelled it: {task}");
        assert!(["failed", "cancelled", "timed_out"].contains(&state), "{task}");
    }
    let left = processes::with(&format!("{directory}/data/node/runs"));
    assert!(left.is_empty(), "still there: {left:?}");
}

/// A command, a shim, or the launcher.
fn kill_one(random: &mut SeededRandom, data: &Path) {
    let found = processes::with(&data.join("node").display().to_string());
    if let Some(one) = random.one_of(&found) {
        let _ = kill(Pid::from_raw(one.pid), Signal::SIGKILL);
    }
}
