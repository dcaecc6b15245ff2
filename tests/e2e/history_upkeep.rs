//! What becomes of ended tasks: lines of the archive that can be read again, and rules that remove the oldest.

use crate::support::daemon::{Daemon, until};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// Every ended task that the server has, in memory or not.
fn archived(daemon: &Daemon, name: &str) -> (PathBuf, Vec<Value>) {
    let file = daemon.directory().join(name);
    let _ = fs::remove_file(&file);
    daemon.say(&["archive", "--all", "--output", &file.display().to_string()]);
    let text = fs::read_to_string(&file).expect("the file");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (file.clone(), lines.collect())
}

fn ids(daemon: &Daemon) -> Vec<u64> {
    let lines = archived(daemon, "ids.jsonl").1;
    lines.iter().map(|line| line["id"].as_u64().expect("an id")).collect()
}

fn log_files(daemon: &Daemon) -> usize {
    fs::read_dir(daemon.data().join("node/logs")).map_or(0, Iterator::count)
}

fn audited(daemon: &Daemon, act: &str) -> Vec<Value> {
    let entries = daemon.json(&["audit", "--json"])["entries"].clone();
    let entries = entries.as_array().expect("a list").clone();
    entries.into_iter().filter(|entry| entry["act"] == act).collect()
}

#[test]
fn archived_tasks_can_be_read_by_another_server() {
    let first = Daemon::start();
    first.submit("--name 训练 --label kind=a", "echo hello");
    first.submit("", "exit 3");
    first.submit("--array 0-2", "true");
    first.ask(&["wait", "--all"]);
    let (file, lines) = archived(&first, "mine.jsonl");
    assert_eq!(lines.len(), 5);
    // They are still where they were, and the file is not written over.
    assert_eq!(first.state("1"), "succeeded");
    let again = first.ask(&["archive", "--all", "--output", &file.display().to_string()]);
    assert_ne!(again.status, 0);

    let second = Daemon::start();
    let import = |file: &PathBuf| second.ask(&["archive", "--import", &file.display().to_string()]);
    assert_eq!(import(&file).stdout, "imported 5 tasks, skipped 0 that are here already\n");
    assert_eq!(import(&file).stdout, "imported 0 tasks, skipped 5 that are here already\n");
    let (copy, read_again) = archived(&second, "again.jsonl");
    let told = |lines: &[Value]| {
        let keys = ["id", "name", "user", "state", "command", "labels", "array", "index", "node"];
        let times = ["submitted_at", "started_at", "ended_at", "exit_code", "attempt"];
        let one = |line: &Value| {
            keys.iter().chain(&times).map(|key| line[*key].clone()).collect::<Vec<_>>()
        };
        lines.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(told(&read_again), told(&lines));
    // Its own tasks get other ids, and an imported one can be run again.
    let new = second.submit("", "true");
    assert_eq!(new.trim(), "6");
    second.say(&["retry", "2"]);
    second.wait_until("2", "failed");
    assert_eq!(audited(&second, "import").len(), 2);

    // A line that is no task is named, and a line of the first release is read as far as it goes.
    let mut old = lines[0].clone();
    old.as_object_mut().expect("an object").remove("stored");
    old["id"] = 100.into();
    fs::write(&copy, format!("{old}\n\n{{\"user\": \"nobody-here\"}}\n")).expect("written");
    let refused = import(&copy);
    assert_eq!(refused.status, 64, "{refused:?}");
    assert!(refused.stderr.contains("line 3"), "{refused:?}");
    // What no submit may ask for comes in by no other way either, and nothing that came along with it.
    let mut long = lines[1].clone();
    long["stored"]["task"]["id"] = 101.into();
    long["stored"]["spec"]["name"] = "x".repeat(300).into();
    let mut labels = lines[1].clone();
    labels["stored"]["task"]["id"] = 101.into();
    let many = (0..100).map(|at| (format!("l{at}"), "v".into())).collect();
    labels["stored"]["spec"]["labels"] = Value::Object(many);
    for (bad, why) in [(long, "the name is too long"), (labels, "labels")] {
        fs::write(&copy, format!("{old}\n{bad}\n")).expect("written");
        let refused = import(&copy);
        assert_eq!(refused.status, 64, "{refused:?}");
        assert!(refused.stderr.contains("line 2") && refused.stderr.contains(why), "{refused:?}");
        assert_eq!(second.ask(&["show", "100"]).status, 69);
    }
    fs::write(&copy, format!("{old}\n")).expect("written");
    assert!(import(&copy).stdout.starts_with("imported 1 tasks"));
    let line = archived(&second, "last.jsonl").1.pop().expect("a line");
    assert_eq!((&line["id"], &line["name"]), (&100.into(), &"训练".into()));
    assert!(second.say(&["db", "check"]).contains("7 tasks"));
}

#[test]
fn a_line_of_the_archive_is_no_longer_because_the_array_is() {
    let first = Daemon::start();
    first.submit("--hold --array 0-999", "true");
    first.say(&["cancel", "--yes", "1-1000"]);
    first.submit("--grid lr=0.1,0.2 --grid seed=0..4", "echo {lr} {seed}");
    first.ask(&["wait", "--all"]);
    let (file, lines) = archived(&first, "arrays.jsonl");
    assert_eq!(lines.len(), 1_010);
    let text = fs::read_to_string(&file).expect("the file");
    let longest = text.lines().map(str::len).max().expect("lines");
    assert!(longest < 4_000, "{longest} bytes");

    let second = Daemon::start();
    second.say(&["archive", "--import", &file.display().to_string()]);
    let shown = |id: &str| second.show(id);
    assert_eq!((&shown("1000")["array"], &shown("1000")["index"]), (&1.into(), &999.into()));
    let found = second.json(&["ls", "--json", "lr=0.2", "seed=4"])["tasks"].clone();
    let found = found.as_array().expect("a list").iter().map(|task| task["index"].clone());
    assert_eq!(found.collect::<Vec<_>>(), [9]);
    let listed = second.say(&["ls", "-n", "1000"]);
    assert!(listed.contains("[0-999]") || listed.contains("[0-"), "{listed}");
}

#[test]
fn a_task_is_archived_once_until_it_runs_again() {
    let daemon = Daemon::start();
    daemon.submit("", "true");
    daemon.submit("", "false");
    daemon.ask(&["wait", "--all"]);
    daemon.say(&["archive", "--all", "--yes"]);
    // To the history, back because another one names it, and to the history again.
    daemon.say(&["set", "history.recent", "0"]);
    daemon.submit("-d afterok:1", "true");
    daemon.ask(&["wait", "--all"]);
    daemon.say(&["retry", "2"]);
    daemon.ask(&["wait", "--all"]);
    daemon.submit("", "true");
    daemon.ask(&["wait", "--all"]);
    daemon.say(&["set", "archive.above", "1"]);
    let times = |id: u64| {
        let text = fs::read_to_string(daemon.data().join("archive.jsonl")).expect("the archive");
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        lines.filter(|line| line["id"] == id).count()
    };
    until("what ran again is there again", || times(2) == 2);
    until("others too", || times(3) == 1);
    assert_eq!(times(1), 1);
}

#[test]
fn the_oldest_go_when_there_are_too_many() {
    let daemon = Daemon::start();
    for number in 1..=6 {
        daemon.submit("", &format!("echo {number}"));
        daemon.ask(&["wait", "--all"]);
    }
    assert_eq!(log_files(&daemon), 6);
    let refused = daemon.ask(&["set", "history.recent", "1000001"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    assert!(refused.stderr.contains("1000000"), "{refused:?}");
    daemon.say(&["set", "history.recent", "2"]);
    daemon.say(&["set", "history.max_tasks", "3"]);
    until("three are left", || ids(&daemon) == [4, 5, 6]);
    until("so are their logs", || log_files(&daemon) == 3);
    until("the audit log says so", || !audited(&daemon, "prune").is_empty());
    let entry = &audited(&daemon, "prune")[0];
    assert_eq!(entry["target"], "3 tasks", "{entry}");
    assert!(entry["detail"].as_str().expect("text").contains("history.max_tasks"), "{entry}");
    assert!(daemon.say(&["db", "check"]).contains("3 tasks"));
}

#[test]
fn the_oldest_go_when_their_logs_are_too_large() {
    let daemon = Daemon::start();
    for _ in 0..4 {
        daemon.submit("", "head -c 10000 /dev/zero");
        daemon.ask(&["wait", "--all"]);
    }
    daemon.say(&["set", "history.recent", "0"]);
    daemon.say(&["set", "history.log_bytes", "25K"]);
    until("two are left", || ids(&daemon) == [3, 4]);
    until("so are their logs", || log_files(&daemon) == 2);
    let entry = &audited(&daemon, "prune")[0];
    assert!(entry["detail"].as_str().expect("text").contains("history.log_bytes"), "{entry}");
}

#[test]
fn tasks_go_when_their_time_is_over_but_not_what_others_wait_for() {
    let daemon = Daemon::start();
    daemon.submit("", "true");
    daemon.submit("", "true");
    daemon.ask(&["wait", "--all"]);
    daemon.submit("--hold -d afterok:2", "true");
    daemon.say(&["set", "history.recent", "0"]);
    daemon.say(&["set", "history.keep", "1s"]);
    until("one is left", || ids(&daemon) == [2]);
    daemon.say(&["set", "history.keep", "730d"]);
    daemon.say(&["release", "3"]);
    daemon.wait_until("3", "succeeded");
    let entry = &audited(&daemon, "prune")[0];
    assert!(entry["detail"].as_str().expect("text").contains("history.keep"), "{entry}");
}
