//! `cancel --cascade` and `rm --cascade`: tasks that depend on a cancelled or removed one.

use crate::support::daemon::Daemon;

fn chain(daemon: &Daemon) -> Vec<String> {
    let first = daemon.submit("--hold", "true");
    let second = daemon.submit(&format!("-d afterany:{first}"), "true");
    let third = daemon.submit(&format!("-d afterany:{first},{second}"), "true");
    vec![first, second, third]
}

fn states(daemon: &Daemon, ids: &[String]) -> Vec<String> {
    ids.iter().map(|id| daemon.state(id)).collect()
}

#[test]
fn those_that_wait_are_cancelled_only_if_asked_for() {
    let daemon = Daemon::start();
    let ids = chain(&daemon);
    let said = daemon.ask(&["cancel", &ids[0]]);
    assert!(said.status == 0 && said.stderr.contains("2 dependent tasks are kept"), "{said:?}");
    daemon.ask(&["wait", &ids[1], &ids[2]]);
    assert_eq!(states(&daemon, &ids), ["cancelled", "succeeded", "succeeded"]);

    let ids = chain(&daemon);
    daemon.say(&["cancel", "--cascade", &ids[0]]);
    assert_eq!(states(&daemon, &ids), ["cancelled", "cancelled", "cancelled"]);
}

#[test]
fn a_task_that_others_wait_for_is_removed_with_their_end() {
    let daemon = Daemon::start();
    let first = daemon.submit("", "true");
    daemon.ask(&["wait", &first]);
    let second = daemon.submit(&format!("--hold -d afterok:{first}"), "true");
    let said = daemon.ask(&["rm", &first]);
    assert!(said.status == 64 && said.stderr.contains("still waits"), "{said:?}");
    daemon.say(&["rm", "--cascade", &first]);
    assert_eq!(daemon.ask(&["show", &first]).status, 69);
    assert_eq!(daemon.state(&second), "cancelled");
}
