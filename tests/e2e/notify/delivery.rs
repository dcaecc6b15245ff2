//! Every message arrives, once by its id and in order: over failures, restarts, crashes and restores.

use super::{hook, of_task, server, server_and_clock, two_hooks, wake};
use crate::support::daemon::until;
use crate::support::receiver::{Behaviour, Receiver};
use crate::support::seeded_random::SeededRandom;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

#[test]
fn what_could_not_be_sent_is_sent_once_when_the_receiver_is_back() {
    let receiver = Receiver::start();
    let mut daemon = server(&hook(&receiver));
    receiver.set(Behaviour::Refuses(503));
    let first = daemon.submit("--notify start,end:hook", "true");
    daemon.ask(&["wait", &first]);
    receiver.wait_for_requests(1);
    until("administrators see it", || daemon.say(&["notify", "list"]).contains("HTTP 503"));
    // In the midst of it, and with a receiver that takes a message without saying so.
    receiver.set(Behaviour::TakesAndHangsUp);
    daemon.crash_and_restart();
    let second = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &second]);
    receiver.set(Behaviour::Takes);
    daemon.crash_and_restart();
    let all = receiver.wait_for("all three", |all| {
        of_task(all, &first).len() == 2 && of_task(all, &second).len() == 1
    });
    let kinds: Vec<&str> = of_task(&all, &first).iter().map(|it| it.kind()).collect();
    assert_eq!(kinds, ["start", "end"], "in order");
    assert_eq!(all.len(), 3, "{all:?}: each once, {} were repeated", receiver.repeated());
    until("all are sent", || !daemon.say(&["notify", "list"]).contains("waiting"));
}

#[test]
fn a_receiver_that_hangs_delays_nobody_else() {
    let (slow, quick) = (Receiver::start(), Receiver::start());
    let config = format!("{}[notify.webhook.quick]\nurl = \"{}\"\n", hook(&slow), quick.url());
    let daemon = server(&config);
    slow.set(Behaviour::Hangs);
    let id = daemon.submit("--notify end:hook --notify end:quick", "true");
    daemon.ask(&["wait", &id]);
    slow.wait_for_requests(1);
    quick.wait_for("the message", |all| all.len() == 1);
    let other = daemon.submit("--notify end:quick", "true");
    assert_eq!(daemon.ask(&["wait", &other]).status, 0, "tasks go on");
    quick.wait_for("the next", |all| all.len() == 2);
}

#[test]
fn a_refusal_is_final_and_shown() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    receiver.set(Behaviour::Refuses(404));
    let id = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &id]);
    until("it has failed", || {
        let failed = daemon.json(&["notify", "list", "--failed", "--json"]);
        failed["messages"][0]["answer"].as_str().is_some_and(|it| it.contains("404"))
    });
    let said = daemon.ask(&["notify", "test", "hook"]);
    assert!(said.status == 64 && said.stderr.contains("HTTP 404"), "{said:?}");
    receiver.set(Behaviour::Takes);
    assert!(daemon.say(&["notify", "test", "hook"]).contains("HTTP 204"));
    assert_eq!(receiver.messages()[0].kind(), "test");
}

#[test]
fn a_restored_database_tells_nothing_old_again() {
    let receiver = Receiver::start();
    let mut daemon = server(&hook(&receiver));
    let id = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &id]);
    receiver.wait_for("the message", |all| all.len() == 1);
    daemon.restore_after(|daemon| {
        let later = daemon.submit("--notify end:hook", "true");
        daemon.ask(&["wait", &later]);
        receiver.wait_for("the next", |all| all.len() == 2);
    });
    daemon.terminate();
    fs::remove_file(daemon.data().join("notify.db")).expect("it is there");
    daemon.start_again();
    let new = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &new]);
    let all = receiver.wait_for("the new one", |all| !of_task(all, &new).is_empty());
    assert_eq!(all.len(), 3, "{all:?}");
}

#[test]
fn whenever_the_server_is_killed_each_message_arrives_once_and_in_order() {
    let receiver = Receiver::start();
    let mut daemon = server(&hook(&receiver));
    let mut random = SeededRandom::new();
    daemon.say(&["set", "notify.digest", "0s"]);
    let ways =
        [Behaviour::Takes, Behaviour::Refuses(503), Behaviour::Hangs, Behaviour::TakesAndHangsUp];
    let (mut tasks, mut waited) = (Vec::new(), 0);
    let mut before = receiver.requests();
    for _ in 0..8 {
        for _ in 0..3 {
            tasks.push(daemon.submit("-g 0 --notify start,end:hook", "true"));
        }
        // In the middle of a delivery, of the next one, or of what follows from it.
        receiver.wait_for_requests(before + 1);
        thread::sleep(random.up_to(Duration::from_millis(40)));
        daemon.crash();
        before = receiver.requests();
        receiver.set(*random.one_of(&ways).expect("there are some"));
        daemon.start_again();
        let listed = daemon.json(&["notify", "list", "--json"]);
        let all = listed["messages"].as_array().expect("messages");
        waited += all.iter().filter(|it| it["state"] == "waiting").count();
    }
    assert!(waited > 0, "it was never killed in the middle");
    receiver.set(Behaviour::Takes);
    // Nothing is under way to a receiver that hangs.
    daemon.crash_and_restart();
    let ids: Vec<&str> = tasks.iter().map(String::as_str).collect();
    daemon.ask(&[&["wait"], &ids[..]].concat());
    // What has failed is tried again once somebody has seen that it works.
    daemon.say(&["notify", "test", "hook"]);
    let all = receiver.wait_for("all of them", |all| {
        tasks.iter().all(|id| of_task(all, id).last().is_some_and(|it| it.kind() == "end"))
    });
    for id in &tasks {
        let kinds: Vec<&str> = of_task(&all, id).iter().map(|it| it.kind()).collect();
        // What began and ended while there was no server has only ended.
        assert!(kinds == ["start", "end"] || kinds == ["end"], "of task {id}: {kinds:?}");
    }
    let mut listed = json!(null);
    until("all are sent", || {
        listed = daemon.json(&["notify", "list", "--json", "-n", "1000"])["messages"].take();
        listed.as_array().is_some_and(|all| all.iter().all(|it| it["state"] == "sent"))
    });
    let listed = listed.as_array().expect("messages").iter();
    let listed: BTreeSet<&str> = listed.filter_map(|it| it["id"].as_str()).collect();
    let told = all.iter().filter(|it| it.kind() != "test").map(|it| it.header("danlu-id"));
    assert_eq!(listed, told.collect(), "{} were repeated", receiver.repeated());
}

#[test]
fn a_request_that_is_cut_off_is_no_message() {
    let receiver = Receiver::start();
    drop(TcpStream::connect(receiver.address).expect("it listens"));
    let daemon = server(&hook(&receiver));
    daemon.say(&["notify", "test", "hook"]);
    assert_eq!(receiver.messages().len(), 1);
}

#[test]
fn a_channel_that_fails_is_shown_to_administrators_until_it_works() {
    let (ops, own) = (Receiver::start(), Receiver::start());
    let (daemon, mut clock) = server_and_clock(&two_hooks(&ops, &own));
    own.set(Behaviour::Refuses(503));
    let id = daemon.submit("--notify end:own", "true");
    daemon.ask(&["wait", &id]);
    own.wait_for_requests(1);
    // Until it rests for longer than this test takes.
    for attempt in 2..=6 {
        let shown = daemon.say(&["notices"]).contains("own");
        assert!(attempt > 3 || !shown, "once may be chance");
        clock.pass(Duration::from_secs(3_600));
        until("it is tried again", || {
            wake(&daemon);
            own.requests() >= attempt
        });
    }
    until("there is a notice", || daemon.say(&["notices"]).contains("channel `own`"));
    let channels = daemon.json(&["notify", "channels", "--json"]);
    let failing =
        channels["channels"].as_array().expect("channels").iter().find(|it| it["name"] == "own");
    assert_eq!(failing.expect("it is there")["answer"], "HTTP 503 no");
    // It works again, somebody tries it, and nothing waits for the next attempt.
    own.set(Behaviour::Takes);
    daemon.say(&["notify", "test", "own"]);
    own.wait_for("what has waited", |all| !of_task(all, &id).is_empty());
    until("the notice ends", || !daemon.say(&["notices"]).contains("own"));
}

#[test]
fn tasks_that_are_held_after_a_restore_are_told() {
    let receiver = Receiver::start();
    let mut daemon = server(&hook(&receiver));
    let held = daemon.submit("--hold --notify fail:hook", "true");
    daemon.restore_after(|daemon| drop(daemon.submit("", "true")));
    let all = receiver.wait_for("the doubt", |all| !all.is_empty());
    assert_eq!((all[0].kind(), all[0].body["task"]["id"].to_string()), ("in_doubt", held));
}

#[test]
fn a_file_that_cannot_be_read_is_set_aside_and_said_so() {
    let receiver = Receiver::start();
    let mut daemon = server(&hook(&receiver));
    daemon.terminate();
    for name in ["notify.db", "usage.db"] {
        fs::write(daemon.data().join(name), "no database at all, ".repeat(400)).expect("a file");
    }
    daemon.start_again();
    let id = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &id]);
    receiver.wait_for("the message", |all| !of_task(all, &id).is_empty());
    for name in ["notify.db", "usage.db"] {
        until("it is said", || daemon.say(&["notices"]).contains(&format!("{name}.unreadable")));
        assert!(daemon.data().join(format!("{name}.unreadable")).exists());
        assert!(daemon.ask(&["doctor"]).stdout.contains(&format!("{name} could not be read")));
    }
}
