//! Hostile input: it is refused or shown as text, and other users do not notice.

use std::{
    io::Write as _,
    net::{Shutdown, TcpStream},
};

use crate::support::daemon::Daemon;
use crate::support::http::{Connection, Reply};
use serde_json::{Value, json};

/// An admin's token, as a header.
fn admin(daemon: &Daemon) -> String {
    let token = daemon.say(&["token", "new", "t", "-q", "--scope", "admin"]);
    format!("authorization: Bearer {}\r\n", token.trim())
}

fn send(daemon: &Daemon, request: &str, headers: &str, body: &Value) -> Reply {
    Connection::to(daemon.address()).ask(request, headers, body.to_string().as_bytes())
}

#[test]
fn a_thousand_silent_connections_delay_no_other_client() {
    let daemon = Daemon::start();
    let admin = admin(&daemon);
    let idle: Vec<TcpStream> =
        (0..1_000).filter_map(|_| TcpStream::connect(daemon.address()).ok()).collect();
    assert_eq!(idle.len(), 1_000);
    let mut slow: Vec<TcpStream> =
        (0..50).map(|_| TcpStream::connect(daemon.address()).expect("room")).collect();
    for stream in &mut slow {
        stream
            .write_all(b"POST /api/v1/tasks HTTP/1.1\r\ncontent-length: 1000\r\n\r\n{")
            .expect("sent");
    }
    assert_eq!(Connection::to(daemon.address()).ask("GET /healthz", "", b"").status, 200);
    let task = json!({ "command": ["true"], "directory": "/" });
    assert_eq!(send(&daemon, "POST /api/v1/tasks", &admin, &task).status, 201);
    assert_eq!(daemon.ask(&["wait", "--all"]).status, 0);
    slow.iter().chain(&idle).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
}

#[test]
fn text_in_any_field_is_shown_as_text() {
    let daemon = Daemon::start();
    let admin = admin(&daemon);
    let ill = [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "'; DROP TABLE rows; --",
        "$(touch /tmp/danlu-was-here) `id` | sh ; & > <",
        "../../../../etc/passwd",
        "%s%n%x {{7*7}} ${7*7}",
        "\u{202e}right to left\u{200b}",
    ];
    for words in ill {
        let task = json!({
            "command": ["true", words], "directory": "/", "hold": true, "name": words, "description": words,
            "project": words, "labels": { words: words }, "variables": { "WORDS": words },
        });
        let reply = send(&daemon, "POST /api/v1/tasks", &admin, &task);
        assert_eq!(reply.status, 201, "{words}: {reply:?}");
        let path = format!("/tasks/{}", reply.body["id"]);
        let shown =
            send(&daemon, &format!("GET /api/v1{path}"), &admin, &json!({})).body["task"].clone();
        assert_eq!((&shown["name"], &shown["command"][1]), (&words.into(), &words.into()));
        // The page of the task: nothing of it is markup.
        for page in [path.as_str(), "/tasks", "/"] {
            let html = Connection::to(daemon.address()).text(&format!("GET {page}"), &admin);
            assert!(html.contains("<main"), "{page}: {html}");
            assert!(
                !html.contains("<script>alert") && !html.contains("<img src=x"),
                "{page}: {words}"
            );
        }
    }
    assert!(!std::path::Path::new("/tmp/danlu-was-here").exists());
    let user = json!({ "name": "<script>", "password": "correct horse" });
    assert_eq!(send(&daemon, "POST /api/v1/users", &admin, &user).status, 409);
    let odd = send(&daemon, "GET /api/v1/tasks?state=%27%20OR%201=1", &admin, &json!({}));
    assert_eq!(odd.status, 400);
}

#[test]
fn odd_requests_get_an_error_and_never_a_crash() {
    let daemon = Daemon::start();
    let admin = admin(&daemon);
    let status = |request: &str, body: &[u8]| {
        Connection::to(daemon.address()).status_of(request, &admin, body)
    };
    for path in
        ["/assets/../../../etc/passwd", "/assets/..%2f..%2fetc%2fpasswd", "/%2e%2e/etc/passwd"]
    {
        assert_eq!(status(&format!("GET {path}"), b""), 404, "{path}");
    }
    assert_eq!(status("GET /api/v1/tasks/99999999999999999999999", b""), 400);
    assert_eq!(status("GET /api/v1/tasks/-1", b""), 400);
    assert_eq!(status("POST /api/v1/tasks", b"not json"), 400);
    assert_eq!(status("POST /api/v1/tasks", b"[[[[[["), 400);
    assert_eq!(status("POST /api/v1/tasks", "[".repeat(100_000).as_bytes()), 400);
    assert_eq!(status("POST /api/v1/tasks/1/frobnicate", b""), 404);
    assert_eq!(status("DELETE /api/v1/settings", b""), 405);
    let large = format!("{{\"command\":[\"{}\"]}}", "x".repeat(9 << 20));
    assert_eq!(status("POST /api/v1/tasks", large.as_bytes()), 413);
    assert_eq!(status("GET /login?next=//evil.example", b""), 200);
    assert_eq!(daemon.ask(&["status"]).status, 0);
}
