//! `danlu node label`: labels change while tasks run.

use crate::support::daemon::Daemon;

#[test]
fn labels_change_while_tasks_run_and_those_who_wait_follow() {
    let daemon = Daemon::start();
    let name = daemon.json(&["nodes", "--json"])["nodes"][0]["name"].take();
    let name = name.as_str().unwrap();
    assert_eq!(
        daemon.say(&["node", "label", name, "room=b12", "a=1"]),
        format!("{name}: a=1 room=b12\n")
    );
    let running = daemon.submit("-w room=b12", "sleep 1000");
    daemon.wait_until(&running, "running");

    daemon.say(&["node", "label", name, "room-"]);
    assert_eq!(daemon.state(&running), "running");
    let labels = daemon.json(&["nodes", "--json"])["nodes"][0]["labels"].take();
    assert_eq!(labels, serde_json::json!({"a": "1"}));
    let refused = daemon.ask(&["submit", "-w", "room=b12", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");

    daemon.say(&["node", "label", name, "room=b12"]);
    let waiting = daemon.submit("--hold -w room=b12", "exit 0");
    daemon.say(&["node", "label", name, "room=c3"]);
    daemon.say(&["release", &waiting]);
    assert_eq!(daemon.state(&waiting), "queued");
    daemon.say(&["node", "label", name, "room=b12"]);
    assert_eq!(daemon.ask(&["wait", &waiting]).status, 0);

    let audit = daemon.json(&["node", "label", name, "a-", "--json"]);
    assert_eq!(audit["node"]["labels"]["room"], "b12");
    for wrong in ["room", "=x", "-"] {
        let refused = daemon.ask(&["node", "label", name, "--", wrong]);
        assert_eq!(refused.status, 2, "{wrong}: {refused:?}");
    }
    let unknown = daemon.ask(&["node", "label", "nowhere", "a=1"]);
    assert_eq!(unknown.status, 69, "{unknown:?}");
    daemon.say(&["cancel", "-y", &running]);
}
