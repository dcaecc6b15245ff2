//! Accounts over the network: passwords, sessions, tokens, locks and the audit log.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::{Connection, Reply};
use crate::support::{daemon, danlu};
use serde_json::{Value, json};
use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

const PASSWORD: &str = "correct horse";

/// An account with a password, whose tasks run as whoever runs the test.
fn add(daemon: &Daemon, name: &str, options: &[&str]) {
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let os_user = me.as_str().expect("a name").to_owned();
    let words =
        [&["user", "add", name, "--password-stdin", "--os-user", &os_user], options].concat();
    let said = with_input(daemon.command(&words), PASSWORD);
    assert!(said.contains("added"), "{said}");
}

fn with_input(mut command: Command, line: &str) -> String {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    writeln!(child.stdin.take().expect("piped"), "{line}").expect("it reads");
    String::from_utf8(child.wait_with_output().expect("it ends").stdout).expect("text")
}

/// A browser: its cookie, and what goes with every change.
struct Browser {
    connection: Connection,
    headers: String,
}

fn log_in(daemon: &Daemon, name: &str, password: &str) -> Reply {
    let body = json!({ "user": name, "password": password });
    Connection::to(daemon.address()).json("POST /api/v1/session", &body)
}

impl Browser {
    fn of(daemon: &Daemon, name: &str) -> Browser {
        let reply = log_in(daemon, name, PASSWORD);
        assert_eq!(reply.status, 201, "{reply:?}");
        let cookie = reply.header("set-cookie").expect("a cookie");
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite"), "{cookie}");
        let cookie = cookie.split(';').next().expect("a value");
        let csrf = reply.body["csrf"].as_str().expect("a word");
        let headers = format!("cookie: {cookie}\r\nx-csrf-token: {csrf}\r\n");
        Browser { connection: Connection::to(daemon.address()), headers }
    }

    fn ask(&mut self, request: &str, body: &Value) -> Reply {
        self.connection.ask(request, &self.headers, body.to_string().as_bytes())
    }
}

fn with_token(daemon: &Daemon, token: &str, request: &str, body: &Value) -> Reply {
    let headers = format!("authorization: Bearer {token}\r\n");
    Connection::to(daemon.address()).ask(request, &headers, body.to_string().as_bytes())
}

#[test]
fn nobody_comes_in_without_a_session_or_a_token() {
    let daemon = Daemon::start();
    let mut connection = Connection::to(daemon.address());
    assert_eq!(connection.ask("GET /healthz", "", b"").status, 200);
    for request in ["GET /api/v1/tasks", "GET /api/v1/me", "POST /api/v1/tasks"] {
        let reply = connection.ask(request, "", b"{}");
        assert_eq!((reply.status, &reply.body["error"]["code"]), (401, &"unauthenticated".into()));
    }
    let forged = connection.ask("GET /api/v1/tasks", "cookie: danlu_session=made-up\r\n", b"");
    assert_eq!(forged.status, 401);
    assert_eq!(with_token(&daemon, "danlu_made_up", "GET /api/v1/me", &json!({})).status, 401);
}

#[test]
fn a_password_opens_a_session_and_another_one_ends_it() {
    let daemon = Daemon::start();
    add(&daemon, "ann", &[]);
    let mut browser = Browser::of(&daemon, "ann");
    assert_eq!(browser.ask("GET /api/v1/me", &json!({})).body["user"], "ann");
    let sessions = browser.ask("GET /api/v1/sessions", &json!({})).body["sessions"].clone();
    assert_eq!(
        (sessions.as_array().map(Vec::len), &sessions[0]["current"]),
        (Some(1), &true.into())
    );

    let body = json!({ "old": "wrong one", "new": "another password" });
    assert_eq!(browser.ask("POST /api/v1/me/password", &body).status, 401);
    let body = json!({ "old": PASSWORD, "new": "ann" });
    assert_eq!(browser.ask("POST /api/v1/me/password", &body).status, 409);
    let mut elsewhere = Browser::of(&daemon, "ann");
    let body = json!({ "old": PASSWORD, "new": "another password" });
    assert_eq!(browser.ask("POST /api/v1/me/password", &body).status, 200);
    assert_eq!(browser.ask("GET /api/v1/me", &json!({})).status, 200, "this one goes on");
    assert_eq!(elsewhere.ask("GET /api/v1/me", &json!({})).status, 401, "the others end");
    assert_eq!(log_in(&daemon, "ann", PASSWORD).status, 401);
    assert_eq!(log_in(&daemon, "ann", "another password").status, 201);

    assert_eq!(browser.ask("DELETE /api/v1/session", &json!({})).status, 200);
    assert_eq!(browser.ask("GET /api/v1/me", &json!({})).status, 401);
}

/// Nobody has used one of two sessions; looking at the list uses the other.
#[test]
fn a_session_that_nobody_uses_ends() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    std::fs::write(&config, "[auth]\nsession_idle = \"3s\"\n").expect("it can be written");
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    add(&daemon, "ann", &[]);
    let mut forgotten = Browser::of(&daemon, "ann");
    let mut used = Browser::of(&daemon, "ann");
    until("one of them is over", || {
        let sessions = used.ask("GET /api/v1/sessions", &json!({})).body["sessions"].clone();
        let sessions = sessions.as_array().expect("a list").clone();
        assert!(sessions.iter().any(|it| it["current"] == true), "{sessions:?}");
        sessions.len() == 1
    });
    assert_eq!(forgotten.ask("GET /api/v1/me", &json!({})).status, 401);
    assert_eq!(used.ask("GET /api/v1/me", &json!({})).status, 200);
}

#[test]
fn sessions_and_tokens_outlive_the_server() {
    let mut daemon = Daemon::start();
    add(&daemon, "ann", &[]);
    let browser = Browser::of(&daemon, "ann");
    let token = daemon.say(&["token", "new", "ci", "-q"]);
    daemon.crash_and_restart();
    let mut connection = Connection::to(daemon.address());
    assert_eq!(connection.ask("GET /api/v1/me", &browser.headers, b"").body["user"], "ann");
    assert_eq!(with_token(&daemon, token.trim(), "GET /api/v1/me", &json!({})).status, 200);
}

#[test]
fn a_page_of_somebody_else_cannot_ask_for_a_change() {
    let daemon = Daemon::start();
    add(&daemon, "boss", &["--admin"]);
    let mut browser = Browser::of(&daemon, "boss");
    let change = json!({ "key": "announcement", "value": "hello" });
    let cookie = browser.headers.lines().next().expect("a cookie").to_owned();
    for headers in [format!("{cookie}\r\n"), format!("{cookie}\r\nx-csrf-token: guessed\r\n")] {
        let mut connection = Connection::to(daemon.address());
        let reply =
            connection.ask("PATCH /api/v1/settings", &headers, change.to_string().as_bytes());
        assert_eq!(reply.status, 403, "{reply:?}");
    }
    assert_eq!(browser.ask("PATCH /api/v1/settings", &change).status, 200);
}

#[test]
fn who_guesses_has_to_wait_and_comes_in_with_the_right_one() {
    let daemon = Daemon::start();
    add(&daemon, "ann", &[]);
    let guess = || {
        let since = Instant::now();
        assert_eq!(log_in(&daemon, "ann", "a wrong guess").status, 401);
        since.elapsed()
    };
    let guesses: Vec<Duration> = (0..7).map(|_| guess()).collect();
    assert!(guesses[0] < Duration::from_secs(1), "a slip costs nothing: {guesses:?}");
    assert!(guess() >= Duration::from_secs(1), "it gets slower");
    assert_eq!(log_in(&daemon, "ann", PASSWORD).status, 201, "after a moment");
    assert_eq!(log_in(&daemon, "nobody-there", "a wrong guess").status, 401, "as for who exists");
}

#[test]
fn a_locked_account_is_thrown_out_at_once() {
    let daemon = Daemon::start();
    add(&daemon, "ann", &[]);
    let mut browser = Browser::of(&daemon, "ann");
    let made = browser.ask("POST /api/v1/tokens", &json!({ "name": "ci" }));
    let token = made.body["secret"].as_str().expect("a token").to_owned();
    assert_eq!(with_token(&daemon, &token, "GET /api/v1/me", &json!({})).status, 200);
    daemon.say(&["user", "lock", "ann"]);
    assert!([401, 403].contains(&browser.ask("GET /api/v1/me", &json!({})).status));
    assert!([401, 403].contains(&with_token(&daemon, &token, "GET /api/v1/me", &json!({})).status));
    assert_ne!(log_in(&daemon, "ann", PASSWORD).status, 201);
    daemon.say(&["user", "unlock", "ann"]);
    assert_eq!(
        with_token(&daemon, &token, "GET /api/v1/me", &json!({})).status,
        401,
        "it has ended"
    );
    Browser::of(&daemon, "ann");
    daemon.say(&["user", "del", "ann", "--yes"]);
    assert_eq!(log_in(&daemon, "ann", PASSWORD).status, 401);
}

#[test]
fn a_token_does_what_it_was_made_for() {
    let daemon = Daemon::start();
    let token = |options: &[&str]| {
        daemon.say(&[&["token", "new", "t", "-q"], options].concat()).trim().to_owned()
    };
    let (read, submit) = (token(&["--scope", "read"]), token(&[]));
    let admin = token(&["--scope", "admin", "--expires", "1h"]);
    let task = json!({ "command": ["true"], "directory": "/" });
    assert_eq!(with_token(&daemon, &read, "POST /api/v1/tasks", &task).status, 403);
    assert_eq!(with_token(&daemon, &submit, "POST /api/v1/tasks", &task).status, 201);
    let user = json!({ "name": "bo" });
    assert_eq!(with_token(&daemon, &submit, "POST /api/v1/users", &user).status, 403);
    assert_eq!(with_token(&daemon, &submit, "POST /api/v1/tokens", &user).status, 403);
    assert_eq!(with_token(&daemon, &admin, "POST /api/v1/users", &user).status, 201);
    assert_eq!(
        with_token(&daemon, &token(&["--expires", "1s"]), "GET /api/v1/me", &json!({})).status,
        200
    );
    daemon.say(&["token", "revoke", "t"]);
    assert_eq!(with_token(&daemon, &submit, "GET /api/v1/me", &json!({})).status, 401);
    assert_eq!(daemon.ask(&["token", "revoke", "t"]).status, 69);
    assert_eq!(daemon.ask(&["token", "new", "t", "--expires", "soon"]).status, 2);
}

#[test]
fn the_command_line_works_over_the_network_too() {
    let daemon = Daemon::start();
    let token = daemon.say(&["token", "new", "laptop", "-q"]);
    let server = format!("http://{}", daemon.address());
    let say = |words: &[&str]| {
        let mut command = danlu::command("en");
        command.args(words).env("DANLU_SERVER", &server).env("DANLU_TOKEN", token.trim());
        danlu::said(&mut command)
    };
    let id = say(&["submit", "-q", "--", "echo", "from afar"]);
    assert_eq!(id.status, 0, "{id:?}");
    assert_eq!(say(&["wait", id.stdout.trim()]).status, 0);
    assert_eq!(say(&["logs", id.stdout.trim()]).stdout, "from afar\n");
    assert_eq!(say(&["user", "add", "bo"]).status, 77);
}

#[test]
fn the_first_admin_is_made_with_the_link_that_is_printed_once() {
    let daemon = Daemon::start();
    // Whoever asks through the socket is an admin, so that there is one by now.
    let body = json!({ "key": "made up", "name": "boss", "password": PASSWORD });
    let reply = Connection::to(daemon.address()).json("POST /api/v1/setup", &body);
    assert_eq!(reply.status, 403, "{reply:?}");
}

#[test]
fn the_audit_log_tells_who_did_what_from_where() {
    let daemon = Daemon::start();
    add(&daemon, "boss", &["--admin"]);
    let mut browser = Browser::of(&daemon, "boss");
    browser.ask("PATCH /api/v1/settings", &json!({ "key": "stop_grace", "value": "3s" }));
    let id = daemon.say(&["submit", "-q", "--hold", "--", "true"]);
    daemon.say(&["cancel", id.trim()]);
    let entries = daemon.json(&["audit", "--json"])["entries"].clone();
    let told: Vec<String> = entries
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| format!("{} {} {} {}", it["from"], it["act"], it["target"], it["detail"]))
        .collect();
    let has = |words: &[&str]| told.iter().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has(&["127.0.0.1", "change", "settings", "stop_grace = 3000"]), "{told:#?}");
    assert!(has(&["socket", "cancel", &format!("task {}", id.trim())]), "{told:#?}");
    assert!(has(&["127.0.0.1", "log in"]), "{told:#?}");
    assert!(!told.iter().any(|line| line.contains(PASSWORD)), "no secrets: {told:#?}");
    let of_task = daemon.json(&["audit", "task", id.trim(), "--json"])["entries"].clone();
    assert_eq!(of_task.as_array().map(Vec::len), Some(2), "{of_task}");
}

#[test]
fn a_template_and_the_configuration_say_what_tasks_have() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    std::fs::write(&config, "[defaults.task]\nproject = \"lab\"\ngpus = 2\n").expect("written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_with(setup);
    let token = daemon.say(&["token", "new", "t", "-q", "--scope", "admin"]);
    let ask = |request: &str, body: Value| with_token(&daemon, token.trim(), request, &body);
    let template = json!({ "template": { "gpus": 1, "priority": 7 } });
    assert_eq!(ask("PUT /api/v1/me/template", template).status, 200);
    assert_eq!(ask("PUT /api/v1/me/template", json!({ "template": { "gpuz": 1 } })).status, 400);
    let task = json!({ "command": ["true"], "directory": "/", "hold": true, "priority": 8 });
    let id = ask("POST /api/v1/tasks", task).body["id"].clone();
    let shown = daemon.show(&id.to_string());
    assert_eq!(
        (&shown["gpus"], &shown["priority"], &shown["project"]),
        (&1.into(), &8.into(), &"lab".into())
    );
}

#[test]
fn ended_tasks_are_written_to_the_archive_and_stay_where_they_are() {
    let daemon = Daemon::start();
    let good = daemon.say(&["submit", "-q", "--", "true"]);
    let bad = daemon.say(&["submit", "-q", "--", "false"]);
    daemon.ask(&["wait", "--all"]);
    assert_eq!(daemon.ask(&["archive"]).status, 2);
    assert_eq!(daemon.say(&["archive", "--all", "--yes"]), "archived 2 tasks\n");
    assert_eq!(daemon.state(good.trim()), "succeeded");
    let read = || std::fs::read_to_string(daemon.data().join("archive.jsonl")).expect("a file");
    let lines = read();
    let states: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["state"].clone())
        .collect();
    assert_eq!(states, ["succeeded", "failed"]);
    let after = |what: &str, id: &str| {
        daemon.ask(&["submit", "-d", &format!("{what}:{}", id.trim()), "--", "true"])
    };
    assert_eq!(after("afterok", &good).status, 0);
    assert_eq!(after("afterany", &bad).status, 0);
    // As with any other that has failed.
    let never = after("afterok", &bad);
    assert_eq!(never.status, 0, "{never:?}");
    daemon.ask(&["wait", "--all"]);
    assert_eq!((daemon.state("3"), daemon.state("4")), ("succeeded".into(), "succeeded".into()));
    let never = daemon.json(&["show", "5", "--json"])["task"].clone();
    assert_eq!(never["state"], "cancelled", "{never}");
    assert_eq!(never["why"], format!("task {} did not end as required", bad.trim()));
    assert_eq!(daemon.say(&["set", "archive.above", "1"]), "archive.above = 1\n");
    daemon.say(&["set", "history.recent", "0"]);
    daemon::until("most are archived", || read().lines().count() > 2);
}
