//! What people are told of GPUs and machines.

use super::{hook, of_task, server, server_and_clock, two_hooks, wake, wants};
use crate::support::daemon::until;
use crate::support::danlu::LONGEST;
use crate::support::receiver::Receiver;
use danlu_core::input::NodeReport;
use danlu_wire::{FromAgent, ToAgent};
use fakeagent::{FakeAgent, facts, idle, started};
use serde_json::json;
use std::fs;
use std::time::Duration;

#[test]
fn free_gpus_are_told_once_or_each_time() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    wants(&daemon, &json!({"channels": ["hook"]}));
    let go = daemon.directory().join("go");
    let waits = |name: &str| format!("while [ ! -e {}.{name} ]; do sleep 0.05; done", go.display());
    let end = |name: &str| fs::write(format!("{}.{name}", go.display()), "").expect("a file");
    let first = daemon.submit("-g 2", &waits("1"));
    daemon.wait_until(&first, "running");
    daemon.say(&["notify", "when-free", "-g", "2"]);
    daemon.say(&["notify", "when-free", "-g", "1", "--always"]);
    assert_eq!(daemon.ask(&["notify", "when-free", "-g", "2", "--node", "nowhere"]).status, 64);
    assert_eq!(
        daemon.json(&["notify", "when-free", "--list", "--json"])["watches"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert!(receiver.messages().is_empty());
    end("1");
    receiver.wait_for("both alerts", |all| all.len() == 2);
    assert!(receiver.messages().iter().all(|it| it.kind() == "gpus_free"));
    let second = daemon.submit("-g 2", &waits("2"));
    daemon.wait_until(&second, "running");
    end("2");
    let all = receiver.wait_for("one of them again", |all| all.len() == 3);
    assert!(all[2].body["title"].as_str().is_some_and(|it| it.contains("-g 1")), "{all:?}");
    let left = daemon.json(&["notify", "when-free", "--list", "--json"]);
    assert_eq!(left["watches"].as_array().map(Vec::len), Some(1));
    let id = left["watches"][0]["id"].to_string();
    daemon.say(&["notify", "when-free", "--cancel", &id]);
    assert_eq!(daemon.ask(&["notify", "when-free", "--cancel", &id]).status, 69);
}

#[test]
fn a_gpu_with_a_hardware_error_is_told_to_who_uses_it_and_to_administrators() {
    let (ops, own) = (Receiver::start(), Receiver::start());
    let daemon = server(&two_hooks(&ops, &own));
    wants(&daemon, &json!({"trouble": true, "channels": ["own"]}));
    let id = daemon.submit("-g 2", "sleep 60");
    daemon.wait_until(&id, "running");
    let script = daemon.data().join("simulated/gpus.json");
    fs::write(&script, r#"{"gpus": {"0": {"xid": 79}}}"#).expect("a script");
    for receiver in [&ops, &own] {
        let told = receiver.wait_for("the quarantine", |all| !all.is_empty());
        assert_eq!(told[0].kind(), "gpu_quarantined");
        assert_eq!(told[0].body["why"], "Xid 79");
        assert_eq!(told[0].body["gpu"]["index"], 0);
        assert_eq!(told[0].body["tasks"][0].to_string(), id);
    }
}

/// Starts what it is told to start, until nobody speaks to it any more.
fn serve(agent: &mut FakeAgent, report: &NodeReport) -> Option<()> {
    agent.wait_at_most(LONGEST).ok()?;
    loop {
        match agent.hear().ok()?? {
            ToAgent::AskReport => agent.say(&FromAgent::Report(report.clone())).ok()?,
            ToAgent::AskFacts => agent.say(&facts()).ok()?,
            ToAgent::Launch(order) => {
                agent.say(&started(order.run)).ok()?;
                return Some(());
            }
            _ => {}
        }
    }
}

#[test]
fn a_machine_that_stays_away_is_told_once_for_each_time() {
    let (ops, own) = (Receiver::start(), Receiver::start());
    let (mut daemon, mut clock) = server_and_clock(&two_hooks(&ops, &own));
    wants(&daemon, &json!({"warning": true, "channels": ["own"]}));
    let added = daemon.json(&["node", "add", "far", "--dial-in", "--json"]);
    let token = added["token"].as_str().expect("a token").to_owned();
    let state = |daemon: &crate::support::daemon::Daemon| {
        let nodes = daemon.json(&["nodes", "--json"]);
        let all = nodes["nodes"].as_array().expect("machines").clone();
        all.into_iter().find(|node| node["name"] == "far").expect("it is there")["state"].clone()
    };
    let mut agent = FakeAgent::join(daemon.address(), &token, "far").expect("it is let in");
    let id = daemon.submit("-w far -g 1", "true");
    serve(&mut agent, &idle("far", 1)).expect("it gets a task");
    daemon.wait_until(&id, "running");
    drop(agent);
    until("it is away", || state(&daemon) == "down");
    assert!(ops.messages().is_empty(), "it may come back at once");
    // The server is not the reason why nobody hears of it.
    daemon.terminate();
    daemon.start_again();
    // Its answer shows that it watches again.
    daemon.say(&["notify", "list"]);
    clock.pass(Duration::from_secs(61));
    wake(&daemon);
    let told = ops.wait_for("the machine", |all| !all.is_empty());
    assert_eq!((told[0].kind(), &told[0].body["node"]), ("node_lost", &json!("far")));
    assert_eq!(told[0].body["tasks"][0].to_string(), id);
    let told = own.wait_for("its task", |all| !of_task(all, &id).is_empty());
    assert_eq!((told[0].kind(), &told[0].body["node"]), ("lost", &json!("far")));
    daemon.crash_and_restart();
    // Its answer shows that it watches again.
    daemon.say(&["notify", "list"]);
    clock.pass(Duration::from_secs(61));
    daemon.say(&["notify", "test", "ops"]);
    let told = ops.wait_for("the test", |all| all.iter().any(|it| it.kind() == "test"));
    assert_eq!(told.len(), 2, "it is still away: {told:?}");
}
