//! Programs written for Slurm, as they are published, on a machine without Slurm.

use crate::support::daemon::Daemon;
use crate::support::danlu::{Answer, BUILT, answer, skip};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The output of a script that uses a library; longer than the tests of commands, for it waits for time limits.
#[track_caller]
fn run(script: &str) -> Option<Answer> {
    let python = python()?;
    let daemon = Daemon::start();
    let links = daemon.directory().join("bin");
    daemon.say(&["slurm-shims", links.to_str().expect("it is UTF-8")]);
    let work = daemon.directory().join("work");
    std::fs::create_dir(&work).expect("it can be made");
    let path = format!("{}:{}", links.display(), env::var("PATH").expect("there is one"));
    let mut program = Command::new("timeout");
    program
        .args(["100"])
        .arg(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/slurm").join(script))
        .env("PATH", path)
        .env("DANLU_SERVER", daemon.socket())
        .env("DANLU_LANG", "en")
        .env_remove("DANLU_DATA")
        .current_dir(&work);
    let said = answer(program.output().expect("it starts"));
    let queue = daemon.ask(&["ls", "-a"]).stdout;
    assert_eq!(said.status, 0, "{}{}\n{queue}", said.stdout, said.stderr);
    Some(said)
}

#[test]
fn submitit_submits_maps_fails_and_is_queued_again() {
    let Some(said) = run("use_submitit.py") else { return };
    assert!(said.stdout.ends_with("submitit works\n"), "{said:?}");
}

#[test]
fn dask_starts_its_workers() {
    let Some(said) = run("use_dask.py") else { return };
    assert!(said.stdout.ends_with("dask-jobqueue works\n"), "{said:?}");
}

#[test]
fn simple_slurm_submits_arrays_and_dependencies() {
    let Some(said) = run("use_simple_slurm.py") else { return };
    assert!(said.stdout.ends_with("simple-slurm works\n"), "{said:?}");
}

/// Where `cargo xtask setup` has put them; `None`, with a line that says so, where they are not.
fn python() -> Option<PathBuf> {
    let target = Path::new(BUILT).parent()?.parent()?;
    let python = target.join("slurm-libraries/bin/python");
    if python.exists() {
        return Some(python);
    }
    assert!(env::var_os("CI").is_none(), "submitit is missing: cargo xtask setup installs it");
    skip(
        "there are no submitit, dask-jobqueue and simple-slurm, which `cargo xtask setup` installs",
    );
    None
}
