//! Access control: users see and change only what they may, revoked credentials stop working at once, and half of a secret opens nothing.

use std::{
    fs,
    io::Read as _,
    net::TcpStream,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use crate::support::http::{Connection, Reply};
use crate::support::os_user::{OsUser, open_to_all};
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse";

struct LoggedIn {
    headers: String,
    cookie: String,
}

fn send(daemon: &Daemon, request: &str, headers: &str, body: &Value) -> Reply {
    Connection::to(daemon.address()).ask(request, headers, body.to_string().as_bytes())
}

fn admin(daemon: &Daemon) -> String {
    let token = daemon.say(&["token", "new", "t", "-q", "--scope", "admin"]);
    format!("authorization: Bearer {}\r\n", token.trim())
}

fn add(daemon: &Daemon, name: &str, is_admin: bool) {
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let body = json!({ "name": name, "password": PASSWORD, "os_user": me, "admin": is_admin });
    let token = admin(daemon);
    assert_eq!(send(daemon, "POST /api/v1/users", &token, &body).status, 201);
}

fn log_in(daemon: &Daemon, name: &str) -> LoggedIn {
    let body = json!({ "user": name, "password": PASSWORD });
    let reply = Connection::to(daemon.address()).json("POST /api/v1/session", &body);
    let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next()).expect("a cookie");
    let csrf = reply.body["csrf"].as_str().expect("it is told");
    let cookie = format!("cookie: {cookie}\r\n");
    LoggedIn { headers: format!("{cookie}x-csrf-token: {csrf}\r\n"), cookie }
}

/// Follows an address until it ends; what is received says that it has.
fn follow(daemon: &Daemon, path: &str, headers: &str) -> mpsc::Receiver<()> {
    let mut connection = TcpStream::connect(daemon.address()).expect("somebody listens");
    let accept = "accept: text/event-stream\r\nconnection: close\r\n";
    let request = format!("GET {path} HTTP/1.1\r\nhost: danlu\r\n{accept}{headers}\r\n");
    std::io::Write::write_all(&mut connection, request.as_bytes()).expect("sent");
    let mut first = [0; 12];
    connection.read_exact(&mut first).expect("an answer");
    assert_eq!(&first, b"HTTP/1.1 200", "{path}");
    let (over, told) = mpsc::channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while connection.read(&mut buffer).is_ok_and(|count| count > 0) {}
        let _ = over.send(());
    });
    told
}

#[track_caller]
fn ends(told: &mpsc::Receiver<()>, what: &str) {
    assert_eq!(told.recv_timeout(Duration::from_secs(8)), Ok(()), "{what} goes on");
}

#[test]
fn streams_end_with_what_has_opened_them() {
    let daemon = Daemon::start();
    add(&daemon, "ann", true);
    let running = daemon.submit("", "sleep 1000");
    daemon.wait_until(&running, "running");
    let log = format!("/api/v1/tasks/{running}/logs");
    let wait = format!("/api/v1/wait?ids={running}");
    let ann = || log_in(&daemon, "ann").headers;

    let made =
        send(&daemon, "POST /api/v1/tokens", &ann(), &json!({ "name": "ci", "scope": "admin" }));
    let token = made.body["secret"].as_str().expect("a token").to_owned();
    let with_token = format!("authorization: Bearer {token}\r\n");
    let streams: Vec<_> =
        ["/api/v1/events", &log, "/live"].map(|path| follow(&daemon, path, &with_token)).into();
    assert_eq!(send(&daemon, "DELETE /api/v1/tokens/ci", &ann(), &json!({})).status, 200);
    streams.iter().for_each(|told| ends(told, "a stream whose token was revoked"));

    let session = ann();
    let streams: Vec<_> =
        ["/api/v1/events", &log, "/live"].map(|path| follow(&daemon, path, &session)).into();
    assert_eq!(send(&daemon, "DELETE /api/v1/session", &session, &json!({})).status, 200);
    streams.iter().for_each(|told| ends(told, "a stream whose session has ended"));

    // Waiting is an answer that comes late.
    let session = ann();
    let waiting = {
        let (address, session) = (daemon.address().to_owned(), session.clone());
        thread::spawn(move || {
            Connection::to(&address).ask(&format!("GET {wait}"), &session, b"").status
        })
    };
    let streams: Vec<_> =
        ["/api/v1/events", &log].map(|path| follow(&daemon, path, &session)).into();
    daemon.say(&["user", "revoke", "ann"]);
    streams.iter().for_each(|told| ends(told, "a stream of somebody who is no admin any more"));
    assert_eq!(waiting.join().expect("answered"), 401);

    let session = ann();
    let events = follow(&daemon, "/api/v1/events", &session);
    daemon.say(&["user", "lock", "ann"]);
    ends(&events, "a stream of a locked account");
}

#[test]
fn a_line_of_a_log_is_its_owners() {
    let daemon = Daemon::start();
    for name in ["ann", "bo"] {
        add(&daemon, name, false);
    }
    let (ann, bo) = (log_in(&daemon, "ann"), log_in(&daemon, "bo"));
    // What it prints does not stand in the command, which others see.
    let line = r#"echo "RuntimeError: CUDA out of memory. password=hunter$((1+1))" >&2; exit 1"#;
    let body = json!({ "command": ["sh", "-c", line], "directory": "/" });
    let id = send(&daemon, "POST /api/v1/tasks", &ann.headers, &body).body["id"].clone();
    daemon.ask(&["wait", &id.to_string()]);
    let own = send(&daemon, &format!("GET /api/v1/tasks/{id}"), &ann.headers, &json!({}));
    assert!(own.body["task"]["failure"]["evidence"].to_string().contains("hunter2"), "{own:?}");
    let class = own.body["task"]["failure"]["class"].clone();
    let seen = send(&daemon, &format!("GET /api/v1/tasks/{id}"), &bo.headers, &json!({}));
    assert_eq!(seen.body["task"]["failure"]["class"], class, "others see of which class it is");
    let paths = [
        format!("/api/v1/tasks/{id}"),
        format!("/api/v1/tasks/{id}/why"),
        "/api/v1/tasks?user=ann".to_owned(),
        "/api/v1/overview".to_owned(),
        format!("/api/v1/wait?ids={id}"),
        format!("/tasks/{id}"),
        "/tasks".to_owned(),
        "/".to_owned(),
    ];
    for path in paths {
        let page = Connection::to(daemon.address()).text(&format!("GET {path}"), &bo.headers);
        assert!(!page.contains("hunter2"), "{path}: {page}");
    }
    let mut events = Connection::to(daemon.address());
    assert_eq!(events.head_of("GET /api/v1/events?after=0", &bo.headers).status, 200);
    loop {
        let event = events.next_line();
        assert!(!event.contains("hunter2"), "{event}");
        if event.contains("task_finished") {
            break;
        }
    }
}

#[test]
fn a_cookie_alone_changes_nothing() {
    let daemon = Daemon::start();
    add(&daemon, "ann", true);
    // A browser: it sends the form, and gets the cookie.
    let form = format!("name=ann&password={}", PASSWORD.replace(' ', "+"));
    let mut connection = Connection::to(daemon.address());
    let head = "content-type: application/x-www-form-urlencoded\r\n";
    assert_eq!(connection.form("POST /login", head, &form), 200);
    let ann = log_in(&daemon, "ann");
    // A server on another port of this host gets the cookie, and loads pages with it.
    for page in ["/", "/tasks", "/new", "/me", "/admin", "/admin/settings", "/admin/commands"] {
        let html = Connection::to(daemon.address()).text(&format!("GET {page}"), &ann.cookie);
        assert!(html.contains("</html>"), "{page}");
        let key = ann.headers.split("x-csrf-token: ").nth(1).expect("it is there").trim();
        assert!(!html.contains(key), "{page} tells what changes have to come with");
        for value in html.split("name=\"csrf\" value=\"").skip(1) {
            assert!(value.starts_with('"'), "{page}: {}", &value[..60.min(value.len())]);
        }
    }
    let change = json!({ "key": "announcement", "value": "hello" });
    for csrf in ["", "x-csrf-token: \r\n"] {
        let headers = format!("{}{csrf}", ann.cookie);
        assert_eq!(send(&daemon, "PATCH /api/v1/settings", &headers, &change).status, 403);
        let form = Connection::to(daemon.address()).form(
            "POST /admin/settings",
            &format!("{headers}{head}"),
            "key=announcement&value=hello&csrf=",
        );
        assert_eq!(form, 403);
    }
    let change = json!({ "announcement": "hello" });
    assert_ne!(send(&daemon, "PATCH /api/v1/settings", &ann.headers, &change).status, 403);
}

/// What another user does with a cookie, in a process of their own.
fn use_stolen_cookie(address: &str) {
    let cookie = std::env::var("DANLU_COOKIE").expect("what was stolen");
    let headers = format!("cookie: {cookie}\r\n");
    println!("\nstatus {}", Connection::to(address).status_of("GET /api/v1/me", &headers, b""));
}

#[test]
fn a_cookie_is_no_good_to_another_user_of_the_machine() {
    // This program, started again as another user.
    if let Ok(address) = std::env::var("DANLU_ROBBED") {
        return use_stolen_cookie(&address);
    }
    let Some(user) = OsUser::new() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    open_to_all(directory.path());
    let daemon = Daemon::start_in(directory, Setup::simulated(1));
    add(&daemon, "ann", true);
    let ann = log_in(&daemon, "ann");
    assert_eq!(send(&daemon, "GET /api/v1/me", &ann.cookie, &json!({})).status, 200);
    let program = daemon.directory().join("thief");
    fs::copy(std::env::current_exe().expect("it runs"), &program).expect("it can be copied");
    let mut command = user.command(&program);
    command
        .args(["--exact", &danlu::test_name(), "--nocapture"])
        .env("DANLU_ROBBED", daemon.address());
    let cookie = ann.cookie.trim().trim_start_matches("cookie: ");
    let said = danlu::said(command.env("DANLU_COOKIE", cookie));
    assert!(said.stdout.contains("status 401"), "{said:?}");
}

#[test]
fn the_cookie_of_an_encrypted_connection_is_of_this_host_alone() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "[auth]\ntrusted_proxies = [\"127.0.0.1\"]\n").expect("it can be written");
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    add(&daemon, "ann", true);
    let body = json!({ "user": "ann", "password": PASSWORD }).to_string();
    let proxy = "x-forwarded-for: 192.0.2.7\r\nx-forwarded-proto: https\r\n";
    let mut connection = Connection::to(daemon.address());
    let reply = connection.ask("POST /api/v1/session", proxy, body.as_bytes());
    let cookie = reply.header("set-cookie").expect("a cookie").to_owned();
    assert!(cookie.starts_with("__Host-danlu_session="), "{cookie}");
    assert!(cookie.contains("; Secure") && cookie.contains("; Path=/;"), "{cookie}");
    assert!(!cookie.to_lowercase().contains("domain"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a value");
    let with = |headers: &str| {
        let headers = format!("cookie: {cookie}\r\n{headers}");
        let mut connection = Connection::to(daemon.address());
        connection.ask("GET /api/v1/sessions", &headers, b"")
    };
    let sessions = with(proxy);
    assert_eq!(sessions.body["sessions"][0]["from"], "192.0.2.7", "{sessions:?}");
    // Over plain HTTP that name is not looked at.
    assert_eq!(with("").status, 401);
    // A session that began over plain HTTP is good at its own address alone.
    let from = |address: &str| format!("x-forwarded-for: {address}\r\n");
    let mut connection = Connection::to(daemon.address());
    let reply = connection.ask("POST /api/v1/session", &from("192.0.2.7"), body.as_bytes());
    let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next()).expect("a cookie");
    let look = |address: &str| {
        let headers = format!("cookie: {cookie}\r\n{}", from(address));
        Connection::to(daemon.address()).ask("GET /api/v1/me", &headers, b"").status
    };
    assert_eq!((look("192.0.2.7"), look("192.0.2.8")), (200, 401));
}

#[test]
fn an_os_user_is_not_the_account_that_belongs_to_another() {
    let (Some(user), Some(other)) = (OsUser::new(), OsUser::new()) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let danlu = open_to_all(directory.path());
    let daemon = Daemon::start_in(directory, Setup::simulated(1));
    daemon.say(&["user", "add", &user.name, "--os-user", &other.name]);
    let submit = ["submit", "-q", "--", "id", "-un"];
    let refused = user.ask(&danlu, daemon.socket(), &submit);
    assert_ne!(refused.status, 0, "it would run as {}", other.name);
    assert!(refused.stderr.contains(&other.name), "{refused:?}");
    assert_ne!(user.ask(&danlu, daemon.socket(), &["ls"]).status, 0);
    let own = other.ask(&danlu, daemon.socket(), &submit);
    assert_eq!(own.status, 0, "{own:?}");
    daemon.say(&["user", "set", &user.name, "--os-user", &user.name]);
    assert_eq!(user.ask(&danlu, daemon.socket(), &["ls"]).status, 0);
}

#[test]
fn hidden_tasks_answer_like_missing_ones() {
    let daemon = Daemon::start();
    for name in ["ann", "bo"] {
        add(&daemon, name, false);
    }
    daemon.say(&["set", "visibility", "own"]);
    let (ann, bo) = (log_in(&daemon, "ann"), log_in(&daemon, "bo"));
    let submit =
        |who: &LoggedIn, body: Value| send(&daemon, "POST /api/v1/tasks", &who.headers, &body);
    let held = json!({ "command": ["true"], "directory": "/", "hold": true });
    let id = submit(&ann, held.clone()).body["id"].as_u64().expect("an id");
    let waits = json!({ "command": ["true"], "directory": "/", "after": [{ "task": id, "kind": "after_ok" }] });
    let behind = submit(&ann, waits.clone()).body["id"].as_u64().expect("an id");
    let missing = 999_999;
    let told = |who: &LoggedIn, request: &str, body: &Value| {
        let reply = send(&daemon, request, &who.headers, body);
        let words = reply.body.to_string();
        (reply.status, words.replace(&id.to_string(), "ID").replace(&missing.to_string(), "ID"))
    };
    let requests = [
        ("GET /api/v1/tasks/ID", json!({})),
        ("GET /api/v1/tasks/ID/logs", json!({})),
        ("GET /api/v1/tasks/ID/why", json!({})),
        ("GET /api/v1/wait?ids=ID", json!({})),
        ("GET /api/v1/dependents?ids=ID", json!({})),
        ("POST /api/v1/tasks/ID/cancel", json!({})),
        ("POST /api/v1/tasks/ID/release", json!({})),
        ("DELETE /api/v1/tasks/ID", json!({})),
        ("PATCH /api/v1/tasks/ID", json!({ "name": "mine" })),
        ("GET /tasks/ID", json!({})),
    ];
    for (request, body) in requests {
        let of = |id: u64| told(&bo, &request.replace("ID", &id.to_string()), &body);
        assert_eq!(of(id), of(missing), "{request}");
    }
    let act = |id: u64| {
        let body = json!({ "act": "cancel", "ids": [id], "cascade": true });
        told(&bo, "POST /api/v1/tasks/act", &body)
    };
    assert_eq!(act(id), act(missing));
    let after = |id: u64| {
        let after = json!([{ "task": id, "kind": "after_ok" }]);
        told(
            &bo,
            "POST /api/v1/tasks",
            &json!({ "command": ["true"], "directory": "/", "after": after }),
        )
    };
    assert_eq!(after(id), after(missing));
    assert_eq!(
        (daemon.state(&id.to_string()), daemon.state(&behind.to_string())),
        ("held".into(), "blocked".into())
    );
}

#[test]
fn a_token_that_may_only_read_sees_no_environment() {
    let daemon = Daemon::start();
    let id = daemon.submit("--hold --env SECRET_KEY=hunter2", "true");
    let read = daemon.say(&["token", "new", "board", "-q", "--scope", "read"]);
    let read = format!("authorization: Bearer {}\r\n", read.trim());
    let request = format!("GET /api/v1/tasks/{id}");
    let shown = send(&daemon, &request, &read, &json!({}));
    assert_eq!(shown.status, 200);
    assert!(!shown.body.to_string().contains("hunter2"), "{shown:?}");
    let whole = send(&daemon, &request, &admin(&daemon), &json!({}));
    assert!(whole.body.to_string().contains("hunter2"), "{whole:?}");
}

#[test]
fn every_response_forbids_content_sniffing() {
    let daemon = Daemon::start();
    let admin = admin(&daemon);
    for request in
        ["GET /api/v1/tasks", "GET /api/v1/nothing", "GET /healthz", "GET /", "GET /login"]
    {
        let (reply, _) = Connection::to(daemon.address()).raw(request, &admin);
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{request}");
    }
}

#[test]
fn logs_on_a_terminal_are_text_and_colours() {
    let script = Command::new("script").arg("--version").stdout(Stdio::null()).status();
    if !script.is_ok_and(|status| status.success()) {
        crate::support::danlu::skip("there is no `script` to make a terminal with");
        return;
    }
    let daemon = Daemon::start();
    let line = r"printf 'a\033]0;title\007b \033[31mred\033[0m \033[2Jc\n'";
    let id = daemon.submit("", line);
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    let on_terminal = |options: &str| {
        let words = format!("{} logs {id} {options}", danlu::BUILT);
        let mut command = Command::new("script");
        command.args(["-q", "-e", "-c", &words, "/dev/null"]).stdin(Stdio::null());
        command.env("DANLU_SERVER", daemon.socket()).env("TERM", "xterm");
        String::from_utf8_lossy(&command.output().expect("it runs").stdout).into_owned()
    };
    let shown = on_terminal("");
    assert!(shown.contains("ab \u{1b}[31mred\u{1b}[0m c"), "{shown:?}");
    assert!(!shown.contains("title") && !shown.contains("\u{1b}[2J"), "{shown:?}");
    let shown = on_terminal("--follow");
    assert!(!shown.contains("title") && !shown.contains("\u{1b}[2J"), "{shown:?}");
    assert!(on_terminal("--raw").contains("\u{1b}]0;title\u{7}"));
    // Into a file or another program goes what was printed.
    assert!(daemon.say(&["logs", &id, "--raw"]).contains("\u{1b}]0;title\u{7}"));
}

#[test]
fn plain_http_for_everybody_is_warned_of() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "plain_http = true\n").expect("it can be written");
    let mut setup = Setup::simulated(1);
    let more = ["--listen", "0.0.0.0:0", "--config"].map(str::to_owned);
    setup.arguments.extend(more);
    setup.arguments.push(config.display().to_string());
    let daemon = Daemon::start_in(directory, setup);
    until("it is in the log", || daemon.say(&["logs", "server"]).contains("not encrypted"));
    let said = daemon.ask(&["doctor"]);
    assert!(said.stdout.contains("not encrypted (plain_http)"), "{said:?}");
}
