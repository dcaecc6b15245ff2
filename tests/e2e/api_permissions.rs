//! Permissions of the API: every address of its description, requested by every kind of caller.

use crate::support::daemon::Daemon;
use crate::support::http;
use crate::support::http::Connection;
use serde_json::{Value, json};

/// Somebody who asks, and what they may ask for.
struct Asker {
    who: &'static str,
    headers: String,
    /// Of `reader`, `submitter`, `person`, `admin`, `scraper`; everybody may ask for what `anybody` may.
    may: &'static [&'static str],
    /// The status where they may not.
    no: u16,
}

/// Stopping the server and ending the session, which would end what is tested.
const NOT_ASKED_FOR: usize = 2;

const EVERYTHING: &[&str] = &["reader", "submitter", "person", "admin", "scraper"];

#[test]
fn every_address_has_a_rule_and_keeps_it() {
    let daemon = Daemon::start();
    let task = daemon.say(&["submit", "-q", "--hold", "--", "true"]).trim().to_owned();
    let askers = askers(&daemon);
    let document = Connection::to(daemon.address()).ask("GET /api/v1/openapi.json", "", b"").body;
    let paths = document["paths"].as_object().expect("paths");
    let mut asked = 0;
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            if path == "/server/stop" || (path == "/session" && method == "delete") {
                continue;
            }
            let who = operation["x-who"].as_str().unwrap_or_else(|| panic!("{path} has no rule"));
            for asker in &askers {
                let status = ask(&daemon, asker, method, &filled(path, &task));
                let allowed = who == "anybody" || asker.may.contains(&who);
                let fine = if allowed { ![401, 403].contains(&status) } else { status == asker.no };
                // A password or a key that is wrong; a task that is not theirs.
                let said = ["/session", "/setup"].contains(&path.as_str())
                    || asker.who == "somebody else" && path.starts_with("/tasks/{id}");
                assert!(
                    fine || said && allowed,
                    "{} {path} ({who}) by {}: {status}",
                    method.to_uppercase(),
                    asker.who
                );
                asked += 1;
            }
        }
    }
    let methods = |path: &Value| path.as_object().map_or(0, serde_json::Map::len);
    let operations: usize = paths.values().map(methods).sum();
    assert_eq!(asked, (operations - NOT_ASKED_FOR) * askers.len());
}

/// Names nobody has, so that nothing is changed that the next one needs; but a task that is there.
fn filled(path: &str, task: &str) -> String {
    let path =
        if path.starts_with("/tasks") { path.replace("{id}", task) } else { path.to_owned() };
    let path = path.replace("{id}", "none").replace("{name}", "nobody-there");
    path.replace("{act}", "release")
}

fn ask(daemon: &Daemon, asker: &Asker, method: &str, path: &str) -> u16 {
    let mut connection = Connection::to(daemon.address());
    // Streams never end; whether they begin is enough.
    let headers = format!("{}connection: close\r\n", asker.headers);
    let request = format!("{} /api/v1{path}", method.to_uppercase());
    let body: &[u8] = if method == "get" { b"" } else { b"{\"no_such_field\":1}" };
    connection.status_of(&request, &headers, body)
}

fn askers(daemon: &Daemon) -> Vec<Asker> {
    let admin = daemon.say(&["token", "new", "admin", "-q", "--scope", "admin"]);
    let admin = format!("authorization: Bearer {}\r\n", admin.trim());
    let make = |name: &str| {
        let body = json!({ "name": name, "password": "correct horse" });
        assert_eq!(send(daemon, "POST /api/v1/users", &admin, &body).status, 201);
        let body = json!({ "user": name, "password": "correct horse" });
        let reply = send(daemon, "POST /api/v1/session", "", &body);
        let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next()).expect("one");
        let csrf = reply.body["csrf"].as_str().expect("one");
        format!("cookie: {cookie}\r\nx-csrf-token: {csrf}\r\n")
    };
    let token = |session: &str, scope: &str| {
        let body = json!({ "name": scope, "scope": scope });
        let reply = send(daemon, "POST /api/v1/tokens", session, &body);
        let secret = reply.body["secret"].as_str().unwrap_or_else(|| panic!("{reply:?}"));
        format!("authorization: Bearer {secret}\r\n")
    };
    let (user, locked) = (make("user"), make("locked"));
    let (read, submit) = (token(&admin, "read"), token(&admin, "submit"));
    let lost = token(&locked, "submit");
    daemon.say(&["user", "lock", "locked"]);
    let asker = |who, headers: &str, may, no| Asker { who, headers: headers.to_owned(), may, no };
    vec![
        asker("nobody known", "", &[], 401),
        asker("a locked user", &locked, &[], 401),
        asker("the token of a locked user", &lost, &[], 401),
        asker("the read token of an admin", &read, &["reader"], 403),
        asker("the submit token of an admin", &submit, &["reader", "submitter"], 403),
        asker("somebody else", &user, &["reader", "submitter", "person"], 403),
        asker("an admin", &admin, EVERYTHING, 403),
    ]
}

fn send(daemon: &Daemon, request: &str, headers: &str, body: &Value) -> http::Reply {
    Connection::to(daemon.address()).ask(request, headers, body.to_string().as_bytes())
}

/// What belongs to somebody else is closed to everybody but its owner and admins.
#[test]
fn other_peoples_tasks_are_closed_over_the_network_too() {
    let daemon = Daemon::start();
    let task = daemon.say(&["submit", "-q", "--hold", "--", "true"]).trim().to_owned();
    let admin = daemon.say(&["token", "new", "admin", "-q", "--scope", "admin"]);
    let admin = format!("authorization: Bearer {}\r\n", admin.trim());
    let body = json!({ "name": "other", "password": "correct horse" });
    assert_eq!(send(&daemon, "POST /api/v1/users", &admin, &body).status, 201);
    let body = json!({ "user": "other", "password": "correct horse" });
    let reply = send(&daemon, "POST /api/v1/session", "", &body);
    let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next()).expect("one");
    let csrf = reply.body["csrf"].as_str().expect("one");
    let other = format!("cookie: {cookie}\r\nx-csrf-token: {csrf}\r\n");
    let acts = ["cancel", "hold", "release", "pause", "resume", "retry", "start", "move", "extend"];
    for act in acts {
        let reply = send(&daemon, &format!("POST /api/v1/tasks/{task}/{act}"), &other, &json!({}));
        assert_eq!(reply.status, 403, "{act}: {reply:?}");
    }
    let refused = |request: String, body: Value| {
        assert_eq!(send(&daemon, &request, &other, &body).status, 403, "{request}");
    };
    refused(format!("GET /api/v1/tasks/{task}/logs"), json!({}));
    refused(format!("PATCH /api/v1/tasks/{task}"), json!({ "name": "mine" }));
    refused(format!("DELETE /api/v1/tasks/{task}"), json!({}));
    refused(
        String::from("POST /api/v1/archive"),
        json!({ "ids": [task.parse::<u64>().expect("a number")] }),
    );
    refused(String::from("POST /api/v1/archive"), json!({ "user": "*" }));
    let seen = send(&daemon, &format!("GET /api/v1/tasks/{task}"), &other, &json!({}));
    assert_eq!((seen.status, &seen.body["task"]["environment"]), (200, &Value::Null));
    daemon.say(&["set", "visibility", "own"]);
    let seen = send(&daemon, &format!("GET /api/v1/tasks/{task}"), &other, &json!({}));
    assert_eq!(seen.status, 404);
    let listed = send(&daemon, "GET /api/v1/tasks", &other, &json!({}));
    assert_eq!(listed.body["tasks"], json!([]));
}
