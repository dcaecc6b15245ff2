//! `--conda` and `--venv`: whose programs a task finds first.

mod daemon;
mod danlu;

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use daemon::Daemon;

/// A `python` that says whose it is.
fn make(prefix: &Path, whose: &str) {
    fs::create_dir_all(prefix.join("bin")).expect("it can be made");
    fs::create_dir_all(prefix.join("conda-meta")).expect("it can be made");
    let program = prefix.join("bin/python");
    fs::write(&program, format!("#!/bin/sh\necho {whose}\n")).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[track_caller]
fn printed(daemon: &Daemon, arguments: &[&str]) -> String {
    let home = daemon.directory().to_str().expect("it is UTF-8");
    let mut command = daemon.command(&[&["submit", "-q"], arguments].concat());
    for name in ["CONDA_EXE", "CONDA_PREFIX", "MAMBA_ROOT_PREFIX", "VIRTUAL_ENV"] {
        command.env_remove(name);
    }
    let said = danlu::said(command.env("HOME", home));
    assert_eq!(said.status, 0, "{said:?}");
    let id = said.stdout.trim().to_owned();
    daemon.ask(&["wait", &id]);
    match daemon.state(&id).as_str() {
        "succeeded" => daemon.say(&["logs", &id]),
        _ => daemon.show(&id)["failure"].to_string(),
    }
}

#[test]
fn a_task_runs_in_the_environment_it_names() {
    let Some(daemon) = Daemon::start() else { return };
    make(&daemon.directory().join("miniconda3/envs/torch"), "of-torch");
    make(&daemon.directory().join("venv"), "of-venv");
    let venv = daemon.directory().join("venv");
    let venv = venv.to_str().expect("it is UTF-8");
    assert_eq!(printed(&daemon, &["--conda", "torch", "--", "python"]), "of-torch\n");
    assert_eq!(printed(&daemon, &["--venv", venv, "--", "python"]), "of-venv\n");
    let line = ["--venv", venv, "--shell", "--", "echo $VIRTUAL_ENV; python"];
    assert_eq!(printed(&daemon, &line), format!("{venv}\nof-venv\n"));
    let missing = printed(&daemon, &["--conda", "no-such", "--", "python"]);
    assert!(missing.contains("env_missing") && missing.contains("conda env list"), "{missing}");
    let missing = printed(&daemon, &["--venv", "/no/such", "--", "python"]);
    assert!(missing.contains("env_missing") && missing.contains("/no/such"), "{missing}");
}

/// A command must not run without the variables that its owner had.
#[test]
fn a_task_whose_stored_environment_is_gone_fails_with_the_reason_and_runs_nothing() {
    let Some(mut daemon) = Daemon::start() else { return };
    let ran = daemon.directory().join("ran");
    let id = daemon.submit("--hold", &format!("touch {}", ran.display()));
    daemon.terminate();
    let database = rusqlite::Connection::open(daemon.data().join("danlu.db")).expect("it is there");
    assert!(database.execute("DELETE FROM environments", []).expect("it is ours") > 0);
    drop(database);
    daemon.start_again();
    daemon.say(&["release", &id]);
    assert_ne!(daemon.ask(&["wait", &id]).status, 0);
    let task = daemon.show(&id);
    assert_eq!(task["state"], "failed", "{task}");
    let reason = "the environment it was submitted with is missing from the database";
    assert!(task["runs"][0]["exit"].as_str().is_some_and(|it| it.contains(reason)), "{task}");
    assert!(!ran.exists(), "it has run");
    // Others go on.
    let id = daemon.submit("", "true");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
}
