//! A task that resists being stopped is gone after `cancel` and after its time limit, with every process it has started.

use std::fs;

use crate::support::daemon::{Daemon, Setup, processes, until};
use crate::support::danlu::LONGEST;
use jiff::Timestamp;

/// Ignores what it can, forks away twice into sessions of its own, without the environment that it was given, and goes
/// on forking. `$1` is a word to know all of it by.
const STUBBORN: &str = r#"
trap '' TERM HUP INT QUIT
(setsid sh -c 'trap "" TERM; (setsid env -i sh -c "while :; do sleep 0.05 & sleep 0.02; done" "$0" &) &' "$1" &)
(setsid env -i setsid sh -c 'sleep 1000; sleep 1000' "$1" &)
sh -c 'while :; do sh -c "sleep 0.1; :" "$0" & sleep 0.05; done' "$1" &
echo ready
while :; do wait; done
"#;

struct Stubborn {
    daemon: Daemon,
    id: String,
    word: String,
}

/// Runs, with all of its processes.
fn stubborn(options: &str, cgroups: bool) -> Stubborn {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, format!("cgroups = {cgroups}\n")).expect("it can be written");
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let word = format!("stubborn-{}", directory.path().display());
    let daemon = Daemon::start_in(directory, setup);
    daemon.say(&["set", "stop_grace", "300ms"]);
    let options: Vec<&str> = options.split_whitespace().collect();
    let command = ["--", "sh", "-c", STUBBORN, "task", &word];
    let id = daemon.say(&[&["submit", "-q"], &options[..], &command].concat()).trim().to_owned();
    daemon.wait_until(&id, "running");
    until("all of it runs", || {
        let found = processes::with(&word);
        let has = |part: &str| found.iter().any(|one| one.command.contains(part));
        has("while :; do sleep 0.05") && has("sleep 1000; sleep 1000") && has("sh -c sleep 0.1; :")
    });
    Stubborn { daemon, id, word }
}

impl Stubborn {
    #[track_caller]
    fn check_nothing_is_left(&self) {
        let left = processes::with(&self.word);
        assert!(left.is_empty(), "still there: {left:?}");
    }
}

fn check_cancel(cgroups: bool) {
    let task = stubborn("", cgroups);
    task.daemon.say(&["cancel", &task.id]);
    assert_eq!(task.daemon.ask(&["wait", &task.id]).status, 130);
    task.check_nothing_is_left();
    assert_eq!(task.daemon.state(&task.id), "cancelled");
    let next = task.daemon.submit("", "true");
    assert_eq!(task.daemon.ask(&["wait", &next]).status, 0, "its GPU is free again");
}

#[test]
fn cancel_leaves_nothing() {
    check_cancel(true);
}

#[test]
fn cancel_leaves_nothing_without_control_groups() {
    check_cancel(false);
}

#[test]
fn time_limit_leaves_nothing() {
    let task = stubborn("-t 2s", true);
    assert_eq!(task.daemon.ask(&["wait", &task.id]).status, 124);
    task.check_nothing_is_left();
    let shown = task.daemon.show(&task.id);
    assert_eq!(shown["state"], "timed_out", "{shown}");
    assert_eq!((&shown["exit_code"], &shown["failure"]["class"]), (&124.into(), &"timeout".into()));
}

#[test]
fn time_limit_is_kept_while_the_server_is_down() {
    let mut task = stubborn("-t 2s", false);
    task.daemon.crash();
    // The shim too, which is known by the directory in its command line.
    let root = task.daemon.data().join("node").display().to_string();
    until("nothing of it runs", || processes::with(&root).is_empty());
    let gone_at = Timestamp::now();
    task.check_nothing_is_left();
    task.daemon.start_again();
    assert_eq!(task.daemon.ask(&["wait", &task.id]).status, 124);
    let shown = task.daemon.show(&task.id);
    assert_eq!(shown["state"], "timed_out", "{shown}");
    let time = |name: &str| -> Timestamp {
        shown[name].as_str().and_then(|time| time.parse().ok()).expect("a time")
    };
    assert!(time("ended_at") <= gone_at, "it ended before {gone_at}: {shown}");
    let took = time("ended_at").duration_since(time("started_at")).as_millis();
    assert!((2_000..i128::try_from(LONGEST.as_millis()).unwrap_or(0)).contains(&took), "{took} ms");
}

#[test]
fn cancel_reaches_a_task_whose_run_directory_was_deleted() {
    for restart in [false, true] {
        let mut task = stubborn("", false);
        let runs = task.daemon.data().join("node/runs");
        for run in fs::read_dir(runs).expect("it is there") {
            fs::remove_dir_all(run.expect("it is there").path()).expect("it can be deleted");
        }
        if restart {
            task.daemon.crash_and_restart();
        }
        task.daemon.wait_until(&task.id, "running");
        // Its GPU is not given to anybody else.
        let next = task.daemon.submit("", "true");
        assert_eq!(task.daemon.state(&next), "queued");
        task.daemon.say(&["cancel", &task.id]);
        assert_eq!(task.daemon.ask(&["wait", &task.id]).status, 130);
        task.check_nothing_is_left();
        assert_eq!(task.daemon.ask(&["wait", &next]).status, 0);
    }
}
