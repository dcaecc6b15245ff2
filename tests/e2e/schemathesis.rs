//! The server keeps its OpenAPI description: thousands of requests that schemathesis generates from it.

use crate::support::daemon::{Daemon, Setup};
use crate::support::http::Connection;
use serde_json::{Value, json};
use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The same questions each time.
const SEED: &str = "20261116";
/// They answer for as long as somebody listens, or stop the server.
const LEFT_OUT: [&str; 2] = ["get_events", "post_server_stop"];
const NAME: &str = "fuzzer";
const PASSWORD: &str = "correct horse";

#[test]
fn the_server_is_as_its_description_says() {
    let Some(program) = program() else { return };
    let daemon = Daemon::start_with(Setup::simulated(4));
    daemon.say(&["pause-queue"]);
    daemon.say(&["submit", "-q", "--hold", "--", "true"]);
    let ended = daemon.say(&["submit", "-q", "--hold", "--", "true"]).trim().to_owned();
    daemon.say(&["cancel", "-y", &ended]);
    let (secret, id) = token(&daemon);
    let who = format!("Authorization: Bearer {secret}");
    let api = format!("http://{}/api/v1", daemon.address());
    let mut run = Command::new(program);
    run.args(["run", &format!("{api}/openapi.json"), "--url", &api, "--header", &who])
        .args(["--seed", SEED, "--generation-database", "none"])
        .args(["--phases", "examples,coverage,fuzzing", "--max-examples", "40", "--no-shrink"])
        .args(["--generation-with-security-parameters", "false", "--continue-on-failure"])
        // Who may ask for what is the business of `permissions.rs`, which asks with every kind of token.
        .args(["--exclude-checks", "ignored_auth"])
        .args(["--request-timeout", "20", "--no-color"])
        .env("SCHEMATHESIS_HOOKS", "hooks")
        .env("PYTHONPATH", scripts())
        .env("OWN", format!("{NAME},{id}"))
        .env("ENDED", &ended)
        .current_dir(daemon.directory());
    for operation in LEFT_OUT {
        run.args(["--exclude-operation-id", operation]);
    }
    let done = run.output().expect("it starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    // Whoever is not let in any more learns nothing.
    assert!(!said.contains("Rate limited"), "{said}");
    let me = Connection::to(daemon.address()).ask("GET /api/v1/me", &format!("{who}\r\n"), b"");
    assert_eq!((me.status, &me.body["user"]), (200, &NAME.into()));
}

/// Of an administrator whose tasks would run as nobody: what they are asked to run is anything at all.
fn token(daemon: &Daemon) -> (String, String) {
    let os_user = if nix::unistd::geteuid().is_root() { Some("nobody") } else { None };
    let first = daemon.say(&["token", "new", "first", "-q", "--scope", "admin"]);
    let first = format!("authorization: Bearer {}\r\n", first.trim());
    let send = |request: &str, headers: &str, body: Value| {
        let body = body.to_string();
        let reply = Connection::to(daemon.address()).ask(request, headers, body.as_bytes());
        assert_eq!(reply.status, 201, "{reply:?}");
        reply
    };
    let user = json!({ "name": NAME, "admin": true, "password": PASSWORD, "os_user": os_user });
    send("POST /api/v1/users", &first, user);
    let session = send("POST /api/v1/session", "", json!({ "user": NAME, "password": PASSWORD }));
    let cookie = session.header("set-cookie").and_then(|it| it.split(';').next()).expect("one");
    let csrf = session.body["csrf"].as_str().expect("one");
    let headers = format!("cookie: {cookie}\r\nx-csrf-token: {csrf}\r\n");
    let made = send("POST /api/v1/tokens", &headers, json!({ "name": NAME, "scope": "admin" }));
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{made:?}")).to_owned();
    (text(&made.body["secret"]), text(&made.body["token"]["id"]))
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/schemathesis")
}

/// Where `cargo xtask test` has put it; `None`, with a line that says so, where it is not.
fn program() -> Option<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent()?;
    let program = target.join("schemathesis/bin/schemathesis");
    if program.exists() {
        return Some(program);
    }
    assert!(env::var_os("CI").is_none(), "schemathesis is missing: cargo xtask test installs it");
    crate::support::danlu::skip("there is no schemathesis, which `cargo xtask test` installs");
    None
}
