//! Tasks that can never run, and text that cannot be displayed, are refused at submission.

use crate::support::daemon::Daemon;
use crate::support::http::Connection;
use serde_json::{Value, json};

/// Each field replaces the one of a task that is fine.
#[track_caller]
fn check_refused(connection: &mut Connection, field: &str, value: Value) {
    let mut body = json!({ "command": ["true"], "directory": "/" });
    body[field] = value;
    let shown: String = body[field].to_string().chars().take(60).collect();
    let reply = connection.json("POST /api/v1/tasks", &body);
    assert!([400, 409].contains(&reply.status), "{field} {shown}: {reply:?}");
    let hint = reply.body["error"]["hint"].as_str().expect("a hint");
    assert!(!hint.is_empty() && !hint.contains("wait until some"), "{field} {shown}: {hint}");
}

#[track_caller]
fn check_no_tasks(daemon: &Daemon) {
    assert_eq!(daemon.json(&["ls", "-a", "--json"])["tasks"], json!([]), "something was queued");
}

#[test]
fn empty_commands_are_refused() {
    let daemon = Daemon::start();
    for arguments in [&["--", ""][..], &["--shell", "--", ""], &["--shell", "--", "  \n"]] {
        let said = daemon.ask(&[&["submit"], arguments].concat());
        assert!([2, 64].contains(&said.status), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains("\nhint: "), "{said:?}");
    }
    check_refused(&mut Connection::open(daemon.socket()), "command", json!([""]));
    check_no_tasks(&daemon);
}

#[test]
fn zero_bytes_are_refused() {
    let daemon = Daemon::start();
    let mut connection = Connection::open(daemon.socket());
    check_refused(&mut connection, "command", json!(["a\0b"]));
    check_refused(&mut connection, "command", json!(["echo", "a\0b"]));
    check_refused(&mut connection, "directory", json!("/\0"));
    check_refused(&mut connection, "variables", json!({ "A\0": "b" }));
    check_refused(&mut connection, "variables", json!({ "A": "b\0" }));
    check_refused(&mut connection, "variables", json!({ "A=": "b" }));
    check_refused(&mut connection, "variables", json!({ "": "b" }));
    check_refused(&mut connection, "environment", json!(["A=b\0"]));
    check_refused(&mut connection, "output", json!({ "both": "/tmp/a\0b" }));
    check_refused(&mut connection, "gpu_argument", json!("--gpus\0="));
    check_no_tasks(&daemon);
}

#[test]
fn control_characters_in_displayed_text_are_refused() {
    let daemon = Daemon::start();
    let mut connection = Connection::open(daemon.socket());
    for text in ["a\nb", "\u{1b}[31mred", "bell\u{7}", "c1\u{9b}31m", "a\0b"] {
        check_refused(&mut connection, "name", json!(text));
        check_refused(&mut connection, "project", json!(text));
        check_refused(&mut connection, "labels", json!({ text: "x" }));
        check_refused(&mut connection, "labels", json!({ "x": text }));
    }
    let said = daemon.ask(&["submit", "-J", "a\nb", "--", "true"]);
    assert_eq!(said.status, 64, "{said:?}");
    check_no_tasks(&daemon);
}

#[test]
fn oversized_fields_are_refused() {
    let daemon = Daemon::start();
    let mut connection = Connection::open(daemon.socket());
    let long = "x".repeat(1 << 20);
    for field in ["name", "project", "description", "gpu_argument", "gpu_model"] {
        check_refused(&mut connection, field, json!(long));
    }
    check_refused(&mut connection, "labels", json!({ &*long: "x" }));
    check_refused(&mut connection, "labels", json!({ "x": long }));
    check_refused(&mut connection, "variables", json!({ "X": long }));
    check_refused(&mut connection, "command", json!(["echo", long]));
    check_refused(&mut connection, "output", json!({ "both": format!("/{long}") }));
    check_refused(&mut connection, "time_limit", json!(u64::MAX));
    check_refused(&mut connection, "time_limit", json!(0));
    check_refused(&mut connection, "gpus", json!(99_999));
    check_refused(&mut connection, "retries", json!(99_999));
    check_no_tasks(&daemon);
}

#[test]
fn refusals_over_http_are_documents() {
    let daemon = Daemon::start();
    let mut connection = Connection::open(daemon.socket());
    for (request, statuses) in [
        ("GET /api/v1/tasks/abc", [400, 404]),
        ("GET /api/v1/tasks/99999999999999999999", [400, 404]),
        ("POST /api/v1/tasks/-1/cancel", [400, 404]),
        ("GET /api/v1/tasks/abc/logs", [400, 404]),
        ("PUT /api/v1/tasks", [405, 405]),
    ] {
        let reply = connection.ask(request, "", b"");
        assert!(statuses.contains(&reply.status), "{request}: {reply:?}");
        assert!(reply.body["error"]["hint"].is_string(), "{request}: {reply:?}");
    }
}

#[test]
fn gpus_are_named_by_numbers_that_exist() {
    let daemon = Daemon::start();
    let said = daemon.ask(&["submit", "--gpu-ids", "1,9", "--", "true"]);
    assert_eq!(said.status, 64, "{said:?}");
    assert!(
        said.stderr.contains("it needs GPU 1,9 ") && said.stderr.contains("\nhint: "),
        "{said:?}"
    );
    check_no_tasks(&daemon);
    let id = daemon.submit("--gpu-ids 3,1", "echo $CUDA_VISIBLE_DEVICES");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    assert_eq!(daemon.say(&["logs", &id]), "1,3\n");
    assert_eq!(daemon.json(&["show", &id, "--json"])["task"]["gpus"], 2);
    let copy = daemon.say(&["clone", &id, "-q"]).trim().to_owned();
    assert_eq!(daemon.ask(&["wait", &copy]).status, 0);
    assert_eq!(daemon.say(&["logs", &copy]), "1,3\n");
}
