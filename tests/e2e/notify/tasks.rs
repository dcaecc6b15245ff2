//! What people are told of their tasks, and nobody else is.

use super::{hook, of_task, secret, server, server_with, two_hooks, wants};
use crate::support::http::Connection;
use crate::support::receiver::{Received, Receiver};
use serde_json::json;
use std::fs;
use std::process::Command;

#[test]
fn start_and_end_of_a_task_are_told_in_order_and_signed() {
    let receiver = Receiver::start();
    let config = format!("{}secret_file = \"{{dir}}/secret\"\n", hook(&receiver));
    let daemon = server_with(&config, |directory| secret(directory, "secret", "key\n"));
    let id = daemon.submit("-J train --notify start,end:hook", "echo one; echo two >&2; exit 3");
    assert_eq!(daemon.ask(&["wait", &id]).status, 3);
    let messages = receiver.wait_for("start and end", |all| all.len() >= 2);
    let kinds: Vec<&str> = messages.iter().map(Received::kind).collect();
    assert_eq!(kinds, ["start", "end"]);
    let end = &messages[1];
    assert_eq!(end.body["task"]["state"], "failed");
    assert_eq!(end.body["task"]["exit_code"], 3);
    assert_eq!(end.body["task"]["failure"]["class"], "other");
    assert_eq!(end.body["last_lines"], json!(["one", "two"]));
    assert_eq!(end.body["id"], end.header("danlu-id"));
    let (time, sign) = end.header("danlu-signature").split_once(",v1=").expect("a signature");
    let time = time.trim_start_matches("t=");
    let signed = daemon.directory().join("signed");
    fs::write(&signed, format!("{time}.{}", end.text)).expect("a file");
    let openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", "key", "-r"])
        .arg(&signed)
        .output();
    let openssl = String::from_utf8(openssl.expect("openssl runs").stdout).expect("text");
    assert_eq!(openssl.split_whitespace().next(), Some(sign), "anybody can check it");
}

#[test]
fn a_task_that_is_not_to_be_told_of_is_not() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    let quiet = daemon.submit("", "true");
    let good = daemon.submit("--notify fail:hook", "true");
    let none = daemon.submit("--notify none", "false");
    let bad = daemon.submit("--notify fail:hook", "false");
    daemon.ask(&["wait", &quiet, &good, &none, &bad]);
    receiver.wait_for("the failure", |all| !all.is_empty());
    // Another one behind it: nothing came in between.
    let last = daemon.submit("--notify end:hook", "true");
    let all = receiver.wait_for("the last", |all| !of_task(all, &last).is_empty());
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[0].body["task"]["id"].to_string(), bad);
}

#[test]
fn a_thousand_elements_that_fail_are_one_message() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    daemon.say(&["set", "notify.digest", "3s"]);
    let first = daemon.submit("-g 0 --array 0-999 -J sweep --notify fail:hook", "echo no; exit 7");
    daemon.ask(&["wait", &format!("{first}-{}", first.parse::<u64>().expect("an id") + 999)]);
    let sum = |all: &[Received]| -> u64 {
        all.iter().filter_map(|it| it.body["counts"]["failed"].as_u64()).sum()
    };
    let all = receiver.wait_for("all of them", |all| sum(all) >= 1_000);
    assert_eq!((all.len(), sum(&all)), (1, 1_000), "{all:?}");
    assert_eq!(all[0].kind(), "digest");
    assert_eq!(all[0].body["array"].to_string(), first);
    assert_eq!(all[0].body["failures"].as_array().map(Vec::len), Some(5));
    let title = all[0].body["title"].as_str().expect("a title");
    assert_eq!(title, format!("Array {first} (sweep): 1000 failed"));
}

#[test]
fn nobody_sees_the_messages_of_others() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    let id = daemon.submit("--notify end:hook", "false");
    daemon.ask(&["wait", &id]);
    receiver.wait_for("the message", |all| all.len() == 1);
    let user = json!({"name": "ann", "password": "correct horse"});
    let admin = daemon.say(&["token", "new", "t", "-q", "--scope", "admin"]);
    let admin = format!("authorization: Bearer {}\r\n", admin.trim());
    let ask = |request: &str, headers: &str, body: &serde_json::Value| {
        Connection::to(daemon.address()).ask(request, headers, body.to_string().as_bytes())
    };
    assert_eq!(ask("POST /api/v1/users", &admin, &user).status, 201);
    let session = json!({"user": "ann", "password": "correct horse"});
    let session = ask("POST /api/v1/session", "", &session);
    let cookie = session.header("set-cookie").and_then(|it| it.split(';').next()).expect("one");
    let ann = format!("cookie: {cookie}\r\n");
    let all = ask("GET /api/v1/notify/messages", &admin, &json!({}));
    assert_eq!(all.body["messages"].as_array().map(Vec::len), Some(1));
    let hers = ask("GET /api/v1/notify/messages", &ann, &json!({}));
    assert_eq!(hers.body["messages"].as_array().map(Vec::len), Some(0), "{hers:?}");
}

#[test]
fn evidence_goes_to_the_owner_and_announcements_to_who_wants_them() {
    let (ops, own) = (Receiver::start(), Receiver::start());
    let mut daemon = server(&two_hooks(&ops, &own));
    daemon.say(&["announce", "maintenance tonight"]);
    let id = daemon.submit("--notify fail:own", "echo secret line >&2; exit 1");
    daemon.ask(&["wait", &id]);
    let told = own.wait_for("the failure", |all| all.len() == 1);
    assert!(told[0].text.contains("secret line"));
    wants(&daemon, &json!({"announcement": true, "channels": ["own"]}));
    daemon.say(&["announce", "maintenance tomorrow"]);
    let told = own.wait_for("the announcement", |all| all.len() == 2);
    assert_eq!(told[1].body["announcement"], "maintenance tomorrow");
    // It is told once: not when it is taken back, nor by the next server.
    daemon.say(&["announce", "--clear"]);
    daemon.crash_and_restart();
    let last = daemon.submit("--notify end:own", "true");
    let told = own.wait_for("the end", |all| !of_task(all, &last).is_empty());
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(ops.messages().iter().all(|it| !it.text.contains("secret line")));
}
