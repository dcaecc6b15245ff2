//! What is told when its time has come: quiet hours that end, time limits, quotas.

use super::{hook, of_task, server_and_clock, two_hooks, wake, wants};
use crate::support::http::Connection;
use crate::support::receiver::{Received, Receiver};
use serde_json::json;
use std::fs;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3_600);

#[test]
fn what_happens_in_quiet_hours_is_told_after_them() {
    let receiver = Receiver::start();
    let (mut daemon, mut clock) = server_and_clock(&hook(&receiver));
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let hour = |shift: i64| {
        let at = now.checked_add(jiff::Span::new().hours(shift)).expect("a time");
        at.strftime("%H:%M").to_string()
    };
    let quiet = json!({"from": hour(-1), "to": hour(2), "zone": "UTC"});
    wants(&daemon, &json!({"success": true, "channels": ["hook"], "quiet": quiet}));
    let waits = daemon.submit("", "true");
    let too = daemon.submit("", "true");
    daemon.ask(&["wait", &waits, &too]);
    // A task that names the channel is told of at once.
    let named = daemon.submit("--notify end:hook", "true");
    let all = receiver.wait_for("the second", |all| !all.is_empty());
    assert_eq!(all[0].body["task"]["id"].to_string(), named);
    assert_eq!(all.len(), 1);
    // In the morning, and all at once; the server need not have been there all night.
    daemon.crash_and_restart();
    clock.pass(3 * HOUR);
    wake(&daemon);
    let all = receiver.wait_for("the morning", |all| all.len() == 2);
    assert_eq!((all[1].kind(), &all[1].body["counts"]), ("digest", &json!({"succeeded": 2})));
    let bad = json!({"notify": {"quiet": {"from": "22:00", "to": "x"}}});
    let said = Connection::open(daemon.socket()).json("PATCH /api/v1/me", &bad);
    assert_eq!(said.status, 409, "{said:?}");
}

#[test]
fn a_time_limit_that_is_near_is_told_once() {
    let receiver = Receiver::start();
    let (mut daemon, mut clock) = server_and_clock(&hook(&receiver));
    let near = daemon.submit("-t 20m --notify expiring:hook", "sleep 300");
    let other = daemon.submit("-t 3h --notify end:hook", "sleep 300");
    daemon.wait_until(&near, "running");
    daemon.wait_until(&other, "running");
    clock.pass(Duration::from_secs(14 * 60));
    wake(&daemon);
    assert!(receiver.messages().is_empty());
    clock.pass(Duration::from_secs(2 * 60));
    wake(&daemon);
    let told = receiver.wait_for("the warning", |all| !all.is_empty());
    assert_eq!(told[0].kind(), "expiring");
    assert_eq!(told[0].body["task"]["id"].to_string(), near);
    assert!(told[0].body["ends_at"].is_string());
    daemon.crash_and_restart();
    // A longer limit is another one: it is not told again that the old one is near.
    daemon.say(&["extend", &near, "1h"]);
    daemon.say(&["cancel", &other, "--yes"]);
    let all = receiver.wait_for("the end", |all| !of_task(all, &other).is_empty());
    let kinds: Vec<&str> = all.iter().map(Received::kind).collect();
    assert_eq!(kinds, ["expiring", "end"]);
}

#[test]
fn a_quota_that_is_used_up_is_told_once_on_every_channel() {
    let (one, two) = (Receiver::start(), Receiver::start());
    let (daemon, mut clock) = server_and_clock(&two_hooks(&one, &two));
    wants(&daemon, &json!({"trouble": true, "channels": ["ops", "own"]}));
    daemon.say(&["set", "quota.user.gpu_hours", "1"]);
    let go = daemon.directory().join("go");
    let line = format!("while [ ! -e {} ]; do sleep 0.05; done", go.display());
    let ids = [daemon.submit("-g 1", &line), daemon.submit("-g 1", &line)];
    ids.iter().for_each(|id| daemon.wait_until(id, "running"));
    clock.pass(2 * HOUR);
    fs::write(&go, "").expect("a file");
    ids.iter().for_each(|id| assert_eq!(daemon.ask(&["wait", id]).status, 0));
    for receiver in [&one, &two] {
        let told = receiver.wait_for("the quota", |all| !all.is_empty());
        assert_eq!(told[0].kind(), "quota");
        assert_eq!(told[0].body["quota"]["gpu_hours"], 1);
    }
    for (name, receiver) in [("ops", &one), ("own", &two)] {
        daemon.say(&["notify", "test", name]);
        let told = receiver.wait_for("the test", |all| all.iter().any(|it| it.kind() == "test"));
        assert_eq!(told.len(), 2, "the second task has told nothing new: {told:?}");
    }
}
