//! `danlu status` and `danlu debug`, with a real server.

use crate::support::daemon::Daemon;
use serde_json::json;

#[test]
fn status_counts_everything_and_lists_what_runs() {
    let daemon = Daemon::start();
    let running = daemon.submit("-g 2 -J busy", "sleep 1000");
    daemon.wait_until(&running, "running");
    let waiting = daemon.submit("-g 4", "true");
    let status = daemon.json(&["status", "--json"]);
    assert_eq!(status["nodes"], json!(1));
    let gpus = &status["gpus"];
    assert_eq!(
        (&gpus["total"], &gpus["free"], &gpus["held"], &gpus["foreign"]),
        (&json!(4), &json!(2), &json!(2), &json!(0))
    );
    assert_eq!(status["tasks"], json!({"running": 1, "queued": 1}));
    assert_eq!(status["per_node"][0]["gpus_free"], json!(2));
    assert_eq!(status["running"][0]["id"].to_string(), running);
    let said = daemon.say(&["status"]);
    assert!(said.contains("4: 2 free, 2 held") && said.contains("busy"), "{said}");
    daemon.say(&["cancel", &waiting, &running]);
}

#[test]
fn debug_tells_what_was_to_be_executed_and_what_the_system_said() {
    let daemon = Daemon::start();
    let id = daemon.say(&["submit", "-q", "--", "/no/such program", "it's"]).trim().to_owned();
    daemon.ask(&["wait", &id]);
    let said = daemon.say(&["debug", &id]);
    for part in [
        "could not be started",
        "\"/no/such program\"",
        "\"it's\"",
        "as user",
        "in directory",
        "not found",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let debug = daemon.json(&["debug", &id, "--json"])["debug"].clone();
    assert_eq!(
        (&debug["launch_failed"], &debug["command"][0]),
        (&json!(true), &json!("/no/such program"))
    );
    let fine = daemon.submit("", "true");
    daemon.ask(&["wait", &fine]);
    assert!(daemon.say(&["debug", &fine]).contains("was started"));
    assert_eq!(daemon.ask(&["debug", "99"]).status, 69);
}
