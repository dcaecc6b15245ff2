//! Named resources are counted and refused when exhausted. CPU time and peak memory of a run are kept.

use std::fs;

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu;

#[test]
fn licences_are_counted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "[resources]\nlicence = 2\n").expect("it can be written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    let both = daemon.submit("--resource licence:2", "sleep 1000");
    daemon.wait_until(&both, "running");
    let waits = daemon.submit("--resource licence", "true");
    let other = daemon.submit("", "true");
    assert_eq!(daemon.ask(&["wait", &other]).status, 0);
    assert_eq!(daemon.show(&waits)["wait"]["reason"], "named_resources");
    daemon.say(&["cancel", &both, "--yes"]);
    assert_eq!(daemon.ask(&["wait", &waits]).status, 0);
    let said = daemon.ask(&["submit", "--resource", "licence:3", "--", "true"]);
    assert!(said.status == 64 && said.stderr.contains("licence"), "{said:?}");
    assert_eq!(daemon.ask(&["submit", "--resource", "dongle", "--", "true"]).status, 64);
}

#[test]
fn what_a_run_has_used_is_kept_and_shown() {
    let mut daemon = Daemon::start();
    let work = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done";
    let id = daemon.submit("-g 0", work);
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    daemon.crash_and_restart();
    let run = daemon.show(&id)["runs"][0].clone();
    assert!(run["cpu_time_ms"].as_u64().is_some_and(|ms| ms > 0), "{run}");
    assert!(run["peak_memory"].as_u64().is_some_and(|bytes| bytes > 100_000), "{run}");
    assert_eq!(run["log_bytes"], 5, "{run}");
    let shown = daemon.say(&["show", &id]);
    assert!(shown.contains("CPU") && shown.contains("MEMORY"), "{shown}");
    let chinese = danlu::said(daemon.command(&["show", &id]).env("DANLU_LANG", "zh"));
    assert!(chinese.stdout.contains("内存峰值"), "{chinese:?}");
}
