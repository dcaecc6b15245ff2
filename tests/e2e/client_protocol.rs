//! The protocol between client verbs and the server, tested against a fake server.

mod lists;
mod output;
mod submits;
mod waits_and_acts;

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixListener,
    thread,
};

use crate::support::danlu::{answer, client, client_command};
use crate::support::fake_server::{CannedReply, FakeServer, ok};

fn error(status: u16, code: &str) -> CannedReply {
    CannedReply::Json(
        status,
        format!(r#"{{"error":{{"code":"{code}","message":"it is not so","hint":"danlu help"}}}}"#),
    )
}

const WHO: &str = r#"{"v":1,"user":"ada","admin":false}"#;

/// The address without the fixed part before it.
fn path(line: &str) -> &str {
    line.split_once("/api/v1").map_or(line, |(_, path)| path)
}

#[test]
fn every_refusal_has_its_exit_status() {
    for (http, code, status) in [
        (400, "bad_request", 2),
        (401, "unauthenticated", 77),
        (403, "not_permitted", 77),
        (404, "not_found", 69),
        (409, "refused", 64),
        (413, "too_large", 64),
        (503, "unavailable", 75),
        (500, "internal", 70),
    ] {
        let server = FakeServer::start(move |_, _| error(http, code));
        let said = client(&server.socket(), &["show", "7"]);
        assert_eq!((said.status, said.stdout.as_str()), (status, ""), "{code}: {said:?}");
        assert_eq!(said.stderr, "error: it is not so\nhint: danlu help\n");
    }
}

#[test]
fn an_answer_that_is_no_answer_is_told_from_a_refusal() {
    for reply in [
        CannedReply::Json(200, "nonsense".into()),
        CannedReply::Json(502, "<html>".into()),
        ok("{}"),
    ] {
        let server = FakeServer::start(move |_, _| reply.clone());
        let said = client(&server.socket(), &["show", "7"]);
        assert_eq!(said.status, 70, "{said:?}");
        assert!(said.stderr.contains("unexpected response from the server"), "{said:?}");
    }
}

#[test]
fn a_refusal_counts_even_if_it_comes_before_all_was_sent() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("danlu.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody comes");
        let mut beginning = [0; 100];
        stream.read_exact(&mut beginning).expect("a request");
        let body =
            r#"{"error":{"code":"too_large","message":"that is too much","hint":"send less"}}"#;
        let head = format!("HTTP/1.1 413 x\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all((head + body).as_bytes()).expect("it is read");
    });
    let mut command = client_command(&socket, &["submit", "--", "true"]);
    for number in 0..16 {
        command.env(format!("LARGE_{number}"), "x".repeat(100_000));
    }
    let said = answer(command.output().expect("it starts"));
    assert_eq!(said.stderr, "error: that is too much\nhint: send less\n");
    assert_eq!(said.status, 64);
    server.join().expect("it ends");
}
