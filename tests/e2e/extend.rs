//! `danlu extend`, with real processes and a server that crashes.

use crate::support::daemon::Daemon;
use serde_json::json;

#[test]
fn a_running_task_gets_more_time() {
    let mut daemon = Daemon::start();
    let id = daemon.submit("-t 2s", "sleep 4");
    daemon.wait_until(&id, "running");
    assert!(daemon.say(&["extend", &id, "1h"]).contains("by 1h"));
    assert_eq!(daemon.show(&id)["time_limit"], json!(3_602));
    // Its shim keeps the limit, whatever becomes of the server.
    daemon.crash_and_restart();
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
}

#[test]
fn a_waiting_task_gets_more_time() {
    let daemon = Daemon::start();
    let id = daemon.submit("--hold -t 1s", "sleep 2");
    daemon.say(&["extend", &id, "1h"]);
    daemon.say(&["release", &id]);
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
}

#[test]
fn what_cannot_be_extended_is_refused() {
    let daemon = Daemon::start();
    let endless = daemon.submit("--hold", "true");
    let said = daemon.ask(&["extend", &endless, "1h"]);
    assert!(said.status == 64 && said.stderr.contains("no time limit"), "{said:?}");
    assert_eq!(daemon.ask(&["extend", "99", "1h"]).status, 69);
    for wrong in [&["extend", &endless][..], &["extend", &endless, "soon"], &["extend", "x", "1h"]]
    {
        assert_eq!(daemon.ask(wrong).status, 2, "{wrong:?}");
    }
}
