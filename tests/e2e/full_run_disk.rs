//! A full disk of the runs: running tasks can end and be cancelled, and tasks that cannot start there do not fail.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::small_disk::SmallDisk;

/// Only the runs are on the small disk: the server's own records are on another.
fn server() -> Option<(Daemon, SmallDisk)> {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let runs = directory.path().join("data/node");
    fs::create_dir_all(&runs).expect("it can be made");
    let data = runs.parent().expect("it is in the data directory");
    fs::set_permissions(data, Permissions::from_mode(0o711)).expect("it is ours");
    let disk = SmallDisk::mount(&runs, "size=8m,mode=711")?;
    Some((Daemon::start_in(directory, Setup::simulated(4)), disk))
}

#[test]
fn ends_and_cancels_are_recorded_while_it_is_full() {
    let Some((daemon, disk)) = server() else { return };
    let go = daemon.directory().join("go");
    let line = format!("while [ ! -e {} ]; do sleep 0.02; done; exit 7", go.display());
    let ends = daemon.submit("", &line);
    let goes_on = daemon.submit("", "sleep 1000");
    daemon.wait_until(&ends, "running");
    daemon.wait_until(&goes_on, "running");
    let greedy = daemon.submit("", "yes; sleep 1000");
    until("it has filled the disk", || disk.is_full());

    let begun = Instant::now();
    fs::write(&go, "").expect("another disk");
    assert_eq!(daemon.ask(&["wait", &ends]).status, 7);
    for id in [&goes_on, &greedy] {
        daemon.say(&["cancel", id]);
        daemon.wait_until(id, "cancelled");
    }
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let end = daemon.say(&["logs", "-n", "1", &greedy]);
    assert_eq!(end, "danlu: output may be missing here: the disk was full\n");
}

#[test]
fn a_task_that_cannot_be_started_there_has_not_failed() {
    let Some((daemon, disk)) = server() else { return };
    let filler = disk.fill();
    let ids = [daemon.submit("-g 2", "echo one"), daemon.submit("-g 2", "echo two")];
    for id in &ids {
        let why = || daemon.ask(&["why", id]).stdout;
        until("it says what it waits for", || why().contains("No space left"));
    }
    for id in &ids {
        assert_eq!(daemon.state(id), "queued", "{}", daemon.show(id));
    }
    fs::remove_file(filler).expect("it is there");
    for id in &ids {
        assert_eq!(daemon.ask(&["wait", id]).status, 0, "{}", daemon.show(id));
    }
}
