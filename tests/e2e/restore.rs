//! A backup copied over the database starts a new epoch: no run directory is used twice.

use crate::support::daemon::{Daemon, until};
use crate::support::http::Connection;
use serde_json::json;
use std::fs;

#[test]
fn a_restored_backup_forgets_what_came_after_it_and_nothing_else() {
    let mut daemon = Daemon::start();
    let before = daemon.submit("-J before", "echo before");
    assert_eq!(daemon.ask(&["wait", &before]).status, 0);
    daemon.terminate();
    let database = daemon.data().join("danlu.db");
    let backup = daemon.directory().join("backup.db");
    fs::copy(&database, &backup).expect("a copy");
    daemon.start_again();
    // The server has been started since the backup: that alone does not make it another database.
    let after = daemon.submit("-J after", "echo after");
    assert_eq!(daemon.ask(&["wait", &after]).status, 0);
    daemon.terminate();
    // Into the same file, as `cp` does it.
    let bytes = fs::read(&backup).expect("the backup");
    fs::write(&database, bytes).expect("a restore");
    daemon.begin_again();
    until("it refuses to start", || daemon.has_ended());
    assert!(daemon.errors().contains("danlu up --accept-loss"), "{}", daemon.errors());
    daemon.add_argument("--accept-loss");
    daemon.start_again();
    assert_eq!(daemon.ask(&["show", &after]).status, 69, "it was submitted after the backup");
    assert_eq!(daemon.say(&["logs", &before]), "before\n");
    let new = daemon.submit("-J new", "echo new");
    assert_eq!(daemon.ask(&["wait", &new]).status, 0);
    assert_eq!(daemon.say(&["logs", &new]), "new\n", "not the log of a run with the same number");
    let (new, after): (u64, u64) = (new.parse().expect("an id"), after.parse().expect("an id"));
    assert!(new > after, "the ids since the backup may still be in somebody's notes");
}

#[test]
fn a_server_that_has_a_notice_starts_again_and_keeps_what_people_want_mail_about() {
    let mut daemon = Daemon::start();
    let before = daemon.submit("", "true");
    assert_eq!(daemon.ask(&["wait", &before]).status, 0);
    let wanted = json!({"notify": {"failure": true}});
    let changed = Connection::open(daemon.socket()).json("PATCH /api/v1/me", &wanted);
    assert_eq!(changed.status, 200, "{changed:?}");
    daemon.restore_after(|daemon| drop(daemon.submit("", "true")));
    let notices = || daemon.json(&["notices", "--json"])["notices"].as_array().map(Vec::len);
    assert_eq!(notices(), Some(1), "the database is older");
    daemon.terminate();
    daemon.start_again();
    let notices = || daemon.json(&["notices", "--json"])["notices"].as_array().map(Vec::len);
    assert_eq!(notices(), Some(1), "nobody has acknowledged it");
    let me = Connection::open(daemon.socket()).ask("GET /api/v1/me", "", b"");
    assert_eq!(me.body["notify"]["failure"], true, "{me:?}");
}
