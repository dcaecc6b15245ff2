//! Named resources of a machine: counted, and refused when there are not as many.

mod daemon;
mod danlu;

use std::fs;

use daemon::{Daemon, Setup};

#[test]
fn licences_are_counted() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "[resources]\nlicence = 2\n").expect("it can be written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let Some(daemon) = Daemon::start_in(directory, setup) else { return };
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
