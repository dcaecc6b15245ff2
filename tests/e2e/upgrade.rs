//! The binary is replaced under a running server: running tasks go on, waiting ones start, and the new binary takes over.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use crate::support::daemon::{Daemon, Setup, processes, until};
use crate::support::danlu;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

/// As a package manager does: a new file under the old name.
fn replace(program: &Path, content: &[u8]) {
    let draft = program.with_extension("new");
    fs::write(&draft, content).expect("it can be written");
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::rename(draft, program).expect("it can be replaced");
}

#[test]
fn tasks_do_not_notice_that_the_binary_is_replaced() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let program = directory.path().join("danlu");
    let built = fs::read(danlu::BUILT).expect("it was built");
    replace(&program, &built);
    let setup = Setup { program: program.clone(), ..Setup::simulated(1) };
    let mut daemon = Daemon::start_in(directory, setup);
    let go = daemon.directory().join("go");
    let line =
        format!("echo $$; while [ ! -e {} ]; do sleep 0.02; done; echo $$; exit 9", go.display());
    let runs = daemon.submit("", &line);
    let waits = daemon.submit("", "echo started");
    daemon.wait_until(&runs, "running");

    // Whoever starts this now gets nothing that works; the server needs another launcher all the same.
    replace(&program, b"#!/bin/sh\necho half an upgrade >&2\nexit 1\n");
    let launcher = || {
        let found = processes::with(&daemon.data().join("node").display().to_string());
        let name = |pid| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        found.iter().map(|one| one.pid).find(|pid| name(*pid).trim() == "danlu-launcher")
    };
    let first = launcher().expect("there is one");
    kill(Pid::from_raw(first), Signal::SIGKILL).expect("it is ours");
    until("there is another launcher", || launcher().is_some_and(|pid| pid != first));
    let third = daemon.submit("-g 0", "echo from another launcher");
    assert_eq!(daemon.ask(&["wait", &third]).status, 0);

    daemon.say(&["down"]);
    replace(&program, &built);
    daemon.start_again();
    assert_eq!(daemon.state(&runs), "running");
    fs::write(&go, "").expect("it can be written");
    assert_eq!(daemon.ask(&["wait", &runs]).status, 9);
    let printed = daemon.say(&["logs", &runs]);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines.len() == 2 && lines[0] == lines[1], "another process: {printed}");
    assert_eq!(daemon.ask(&["wait", &waits]).status, 0);
    assert_eq!(daemon.say(&["logs", &waits]), "started\n");
}
