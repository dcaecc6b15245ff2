//! Output of tasks: `logs` and `run`.

use super::{WHO, path};
use std::process::Stdio;

use crate::support::danlu::{answer, client, client_command};
use crate::support::fake_server::{CannedReply, FakeServer, details, list, ok, run, task};
use base64::{Engine as _, engine::general_purpose::STANDARD};

#[test]
fn logs_are_read_piece_by_piece_and_bars_are_one_line() {
    let log = b"start\n 1%\r50%\r100%\nend without newline".to_vec();
    let server = FakeServer::start({
        let log = log.clone();
        move |_, request| {
            let size = log.len() as u64;
            let from = if request.line.contains("offset=0") { 0 } else { 10 };
            let until = if from == 0 { 10 } else { log.len() };
            CannedReply::Log { bytes: log[from..until].to_vec(), offset: until as u64, size }
        }
    });
    let said = client(&server.socket(), &["logs", "7"]);
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "start\n100%\nend without newline"),
        "{said:?}"
    );
    let said = client(&server.socket(), &["log", "7", "--raw"]);
    assert_eq!(said.stdout.as_bytes(), log);
}

fn piece(offset: usize, words: &str) -> String {
    let base64 = STANDARD.encode(words);
    format!("event: data\ndata: {{\"offset\":{offset},\"base64\":\"{base64}\"}}\n\n")
}

const END: &str = "event: end\ndata: {}\n\n";

/// A task that waits, runs, is lost from sight, fails, runs again and succeeds.
fn eventful(number: usize, line: &str) -> CannedReply {
    let one =
        |state: &str, fields: &str| ok(format!(r#"{{"v":1,"task":{}}}"#, task(7, state, fields)));
    match (number, path(line)) {
        (_, "/tasks") => CannedReply::Json(201, r#"{"v":1,"id":7,"count":1}"#.into()),
        (..3, "/tasks/7") => one("queued", &(details("") + r#","wait":{"reason":"outranked"}"#)),
        (..8, "/tasks/7") => {
            one("running", &(details(&run(1, "running")) + r#","node":"gpu1","gpu_ids":[0]"#))
        }
        (8, "/tasks/7") => one("queued", &details(&run(1, "ended"))),
        (..12, "/tasks/7") => {
            one("running", &details(&[run(1, "ended"), run(2, "running")].join(",")))
        }
        (_, "/tasks/7") => one("succeeded", &(details(&run(2, "ended")) + r#","exit_code":0"#)),
        (_, "/wait?ids=7&until=running,paused,stopping,lost") => {
            ok(r#"{"v":1,"tasks":[],"total":0,"next":null}"#)
        }
        (_, "/tasks/7/logs?run=1") => CannedReply::Events(piece(6, "first\n")),
        (_, "/tasks/7/logs?run=1&offset=6") => CannedReply::Events(piece(13, "second\n") + END),
        (_, "/tasks/7/logs?run=2") => CannedReply::Events(piece(6, "third\n") + END),
        (number, line) => panic!("{number}: {line}"),
    }
}

#[test]
fn run_follows_through_restarts_and_retries() {
    let server = FakeServer::start(|number, request| eventful(number, &request.line));
    let said = client(&server.socket(), &["run", "--", "train"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "first\nsecond\nthird\n"), "{said:?}");
    for words in [
        "task 7 waits: other tasks come first\n",
        "task 7 runs on gpu1:0\n",
        "task 7 ended with code 0",
    ] {
        assert!(said.stderr.contains(words), "`{words}` is missing: {said:?}");
    }
}

#[test]
fn run_exits_with_the_tasks_code() {
    let ends = |state: &'static str, fields: &'static str| {
        let server = FakeServer::start(move |_, request| match path(&request.line) {
            "/tasks" => CannedReply::Json(201, r#"{"v":1,"id":7,"count":1}"#.into()),
            "/tasks/7" => ok(format!(
                r#"{{"v":1,"task":{}}}"#,
                task(7, state, &(details(&run(1, "ended")) + fields))
            )),
            _ => CannedReply::Events(piece(4, "out\n") + END),
        });
        let said = client(&server.socket(), &["run", "-q", "false"]);
        assert_eq!((said.stdout.as_str(), said.stderr.as_str()), ("out\n", ""), "{said:?}");
        said.status
    };
    assert_eq!(ends("failed", r#","exit_code":3"#), 3);
    assert_eq!(ends("failed", r#","exit_code":139"#), 139);
    assert_eq!(ends("timed_out", r#","exit_code":124"#), 124);
    assert_eq!(ends("cancelled", ""), 130);
}

#[test]
fn a_reader_that_is_gone_is_no_error() {
    let long = "x".repeat(1 << 20);
    let tasks: Vec<String> = (0..2_000).map(|id| task(id, "queued", "")).collect();
    let server = FakeServer::start(move |_, request| match path(&request.line) {
        "/whoami" => ok(WHO),
        line if line.contains("/logs") => {
            CannedReply::Log { bytes: long.clone().into_bytes(), offset: 1 << 20, size: 1 << 30 }
        }
        line if line.starts_with("/overview") => {
            let lines: Vec<String> =
                tasks.iter().map(|task| format!(r#"{{"task":{task}}}"#)).collect();
            let counts = r#""running":0,"running_gpus":0,"waiting":2000,"not_shown":0"#;
            let lines = lines.join(",");
            ok(format!(r#"{{"v":1,"user":"ada",{counts},"gpus":{{}},"lines":[{lines}]}}"#))
        }
        line if line.starts_with("/tasks?") => ok(list(&tasks)),
        _ => ok(r#"{"v":1,"gpus":[]}"#),
    });
    for arguments in
        [&["ls", "-a"][..], &["ls", "--json"], &["logs", "7"], &["completions", "bash"]]
    {
        let mut command = client_command(&server.socket(), arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        drop(child.stdout.take());
        let said = answer(child.wait_with_output().expect("it ends"));
        assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{arguments:?}: {said:?}");
    }
}
