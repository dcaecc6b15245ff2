//! The protocol between client verbs and the server, tested against a fake server.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixListener,
    process::Stdio,
    thread,
};

use crate::support::danlu::{Answer, answer, client, client_command};
use crate::support::fake_server::{CannedReply, FakeServer, details, list, ok, run, task};
use base64::{Engine as _, engine::general_purpose::STANDARD};

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

#[test]
fn a_submit_carries_the_command_the_directory_and_the_environment() {
    let server =
        FakeServer::start(|_, _| CannedReply::Json(201, r#"{"v":1,"id":12,"count":1}"#.into()));
    let mut command = client_command(
        &server.socket(),
        &[
            "submit", "-g", "2", "-t", "90", "--env", "A=1", "--", "python", "train.py", "--lr",
            "0.1",
        ],
    );
    command.env("CAPTURED", "yes").env("DANLU_TOKEN", "secret").current_dir(server.directory());
    let said = answer(command.output().expect("it starts"));
    assert_eq!((said.status, said.stdout.as_str()), (0, "submitted task 12\n"), "{said:?}");
    assert_eq!(said.stderr, "note: the time limit is 1h30m\n");
    let request = &server.asked()[0];
    assert_eq!(request.line, "POST /api/v1/tasks");
    assert!(request.header("idempotency-key").is_some_and(|key| key.len() == 32), "{request:?}");
    assert_eq!(request.header("authorization"), Some("bearer secret"));
    let body: serde_json::Value = serde_json::from_str(&request.body).expect("JSON");
    assert_eq!(body["command"], serde_json::json!(["python", "train.py", "--lr", "0.1"]));
    assert_eq!(body["name"], "train.py");
    assert_eq!(body["gpus"], 2);
    assert_eq!(body["time_limit"], 5_400);
    assert_eq!(body["variables"]["A"], "1");
    let directory = std::fs::canonicalize(server.directory()).expect("it is there");
    assert_eq!(body["directory"].as_str(), directory.to_str());
    let environment = body["environment"].as_array().expect("a list");
    assert!(environment.iter().any(|variable| variable == "CAPTURED=yes"));
    assert!(!request.body.contains("secret"), "a token was captured");
}

#[test]
fn a_submit_whose_answer_is_lost_is_repeated_with_the_same_key() {
    let server = FakeServer::start(|number, _| match number {
        0 | 1 => CannedReply::HangUp,
        _ => CannedReply::Json(201, r#"{"v":1,"id":12,"count":100}"#.into()),
    });
    let said = client(&server.socket(), &["submit", "--array", "0-99", "--", "true"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "submitted tasks 12-111\n"), "{said:?}");
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    let key = asked[0].header("idempotency-key");
    assert!(key.is_some());
    assert!(
        asked.iter().all(
            |request| request.header("idempotency-key") == key && request.body == asked[0].body
        )
    );
}

#[test]
fn quiet_and_json_print_what_scripts_want() {
    let document = r#"{"v":1,"id":12,"count":1}"#;
    let server = FakeServer::start(move |_, _| CannedReply::Json(201, document.into()));
    let said = client(&server.socket(), &["submit", "-q", "--", "true"]);
    assert_eq!(said.stdout, "12\n");
    let said = client(&server.socket(), &["add", "--json", "true"]);
    assert_eq!(said.stdout, format!("{document}\n"));
}

fn machine(line: &str, waiting: &[String]) -> CannedReply {
    match path(line) {
        "/whoami" => ok(WHO),
        "/gpus" => ok(r#"{"v":1,"gpus":[
            {"node":"gpu1","index":0,"uuid":"a","model":"A100-80G","state":"held","memory_total":85899345920,
             "memory_used":76235669504,"utilization":97,"temperature":71,"power":402,"tasks":[412],"foreign":[],"slots":1},
            {"node":"gpu1","index":1,"uuid":"b","model":"A100-80G","state":"foreign","memory_total":85899345920,
             "memory_used":22870700851,"utilization":100,"temperature":64,"power":310,"tasks":[],
             "foreign":[{"pid":4711,"user":"chen","command":"python","memory":22870700851}],"slots":1},
            {"node":"gpu1","index":2,"uuid":"c","model":"A100-80G","state":"free","memory_total":85899345920,
             "memory_used":null,"utilization":null,"temperature":null,"power":null,"tasks":[],"foreign":[],"slots":1}]}"#),
        path if path.starts_with("/overview") => ok(overview(waiting)),
        // What runs.
        _ => ok(list(&[running()])),
    }
}

fn running() -> String {
    task(
        412,
        "running",
        r#""name":"resnet","gpus":2,"node":"gpu1","gpu_ids":[0,1],"started_at":"2026-11-15T10:00:00Z","time_limit":86400"#,
    )
}

/// Lines for what waits, between one that runs and one that has failed.
fn overview(waiting: &[String]) -> String {
    let line = |task: String| format!(r#"{{"task":{task}}}"#);
    let mut lines = vec![line(running())];
    lines.extend_from_slice(waiting);
    lines.push(line(task(
        408,
        "failed",
        r#""started_at":"2026-11-15T10:00:00Z","ended_at":"2026-11-15T10:12:03Z","failure":{"class":"cuda_oom","evidence":"79.6G"}"#,
    )));
    let counts = r#""running":1,"running_gpus":2,"waiting":4,"not_shown":0"#;
    let gpus = r#"{"held":1,"foreign":1,"free":1}"#;
    format!(r#"{{"v":1,"user":"ada",{counts},"gpus":{gpus},"lines":[{}]}}"#, lines.join(","))
}

#[test]
fn ls_says_why_and_where_within_80_columns() {
    let single = [
        task(
            416,
            "blocked",
            r#""name":"eval","wait":{"reason":"dependencies","on":[412,413,414]}"#,
        ),
        task(
            420,
            "queued",
            r#""name":"一个名字很长很长很长很长很长很长很长的任务","wait":{"reason":"resources","held_by":[{"epoch":1,"number":3}]}"#,
        ),
    ];
    let element = task(
        421,
        "queued",
        r#""name":"sweep","array":421,"index":0,"wait":{"reason":"array_limit","at_once":4}"#,
    );
    let array =
        r#"{"first":421,"last":422,"indices":[[0,1]],"counts":{"queued":2},"running_since":null}"#;
    let mut waiting = single.map(|task| format!(r#"{{"task":{task}}}"#)).to_vec();
    waiting.push(format!(r#"{{"task":{element},"array":{array}}}"#));
    let server = FakeServer::start(move |_, request| machine(&request.line, &waiting));
    let mut command = client_command(&server.socket(), &["ls"]);
    let said = answer(command.env("COLUMNS", "80").output().expect("it starts"));
    assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{said:?}");
    for words in [
        "GPUs 1/3 free · 1 used outside Danlu",
        "you: 1 running (2 GPUs), 4 waiting",
        "after 412-414",
        "gpu1:0,1  limit 24h",
        "0:12:03  CUDA out of memory: 79.6G",
        "421-422",
        "sweep[0,1]",
        "2 wait: array limit: 4 at",
    ] {
        assert!(said.stdout.contains(words), "`{words}` is missing:\n{}", said.stdout);
    }
    assert!(!said.stdout.contains('\x1b'), "colour without a terminal");
    let asked: Vec<String> = server.asked().iter().map(|request| request.line.clone()).collect();
    assert_eq!(asked, ["GET /api/v1/overview?user=%40me"]);
}

#[test]
fn ls_speaks_chinese() {
    let server = FakeServer::start(move |_, request| machine(&request.line, &[]));
    let mut command = client_command(&server.socket(), &["ls", "-a"]);
    let said = answer(command.env("DANLU_LANG", "zh").output().expect("it starts"));
    for words in ["GPU 空闲 1/3", "编号", "用户", "运行", "失败"] {
        assert!(said.stdout.contains(words), "`{words}` is missing:\n{}", said.stdout);
    }
    assert!(server.asked().iter().all(|request| !request.line.contains("user=")));
}

#[test]
fn ls_json_is_one_document_however_many_pages_there_are() {
    let page = |first: u64, next: &str| {
        let tasks = [task(first, "queued", ""), task(first + 1, "queued", "")].join(",");
        ok(format!(r#"{{"v":1,"tasks":[{tasks}],"total":4,"next":{next}}}"#))
    };
    let server = FakeServer::start(move |_, request| match path(&request.line) {
        "/whoami" => ok(WHO),
        path if path.contains("cursor=3") => page(3, "null"),
        _ => page(1, "3"),
    });
    let said = client(&server.socket(), &["ls", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let ids: Vec<u64> = document["tasks"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|task| task["id"].as_u64())
        .collect();
    assert_eq!((document["v"].as_u64(), ids), (Some(1), vec![1, 2, 3, 4]));
}

#[test]
fn gpus_names_holders_and_strangers() {
    let server = FakeServer::start(move |_, request| machine(&request.line, &[]));
    let said = client(&server.socket(), &["gpus"]);
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(lines[0].starts_with("NODE  GPU  MODEL"), "{}", said.stdout);
    assert!(lines[1].ends_with("71.0 / 80.0G   97%  71  402  412 ada"), "{}", said.stdout);
    assert!(lines[2].ends_with("outside: chen, pid 4711 (python, 21.3 GiB)"), "{}", said.stdout);
    assert!(lines[3].ends_with("free"), "{}", said.stdout);
}

#[test]
fn why_names_who_has_the_gpus() {
    let queued = task(
        420,
        "queued",
        r#""name":"llama","wait":{"reason":"resources","held_by":[{"epoch":1,"number":3}]}"#,
    );
    let server = FakeServer::start(move |_, request| match path(&request.line) {
        "/tasks/420/why" => ok(format!(
            r#"{{"v":1,"why":{{"task":{queued},"words":null,"expected_start_at":null}}}}"#
        )),
        _ => machine(&request.line, &[]),
    });
    let said = client(&server.socket(), &["why", "420"]);
    let expect = "task 420 (llama) waits: for a running task to end.\n  \
                  gpu1  1 free · 1 held by 412 (ada, ends by ";
    assert!(said.stdout.starts_with(expect), "{}", said.stdout);
    assert!(
        said.stdout.contains("GPU 1 used outside Danlu by chen, pid 4711 (python, 21.3 GiB)"),
        "{}",
        said.stdout
    );
}

fn wait_for(tasks: Vec<String>) -> Answer {
    let server = FakeServer::start(move |number, _| match number {
        // The server may answer before all have ended.
        0 => ok(list(&[task(1, "running", "")])),
        _ => ok(list(&tasks)),
    });
    client(&server.socket(), &["wait", "1", "2", "3"])
}

#[test]
fn wait_exits_with_the_code_of_the_lowest_that_did_not_succeed() {
    let code = |tasks: &[(u64, &str, &str)]| {
        let tasks = tasks.iter().map(|(id, state, fields)| task(*id, state, fields)).collect();
        wait_for(tasks).status
    };
    assert_eq!(code(&[(1, "succeeded", r#""exit_code":0"#), (2, "succeeded", "")]), 0);
    assert_eq!(
        code(&[
            (3, "failed", r#""exit_code":3"#),
            (2, "failed", r#""exit_code":7"#),
            (1, "succeeded", "")
        ]),
        7
    );
    assert_eq!(code(&[(1, "failed", r#""exit_code":137"#)]), 137);
    assert_eq!(code(&[(1, "failed", "")]), 1);
    assert_eq!(code(&[(1, "timed_out", r#""exit_code":124"#)]), 124);
    assert_eq!(code(&[(1, "cancelled", r#""exit_code":143"#)]), 130);
}

#[test]
fn wait_goes_on_when_the_server_restarts() {
    let server = FakeServer::start(|number, _| match number {
        0 => CannedReply::HangUp,
        _ => ok(list(&[task(1, "succeeded", "")])),
    });
    assert_eq!(client(&server.socket(), &["wait", "1"]).status, 0);
}

#[test]
fn acts_are_sent_together_and_the_first_refusal_decides() {
    let server = FakeServer::start(|_, _| {
        ok(
            r#"{"v":1,"results":[{"id":3},{"id":4,"error":{"code":"not_found","message":"there is no task 4","hint":""}},
            {"id":5},{"id":12,"error":{"code":"not_permitted","message":"not yours","hint":"ask"}}]}"#,
        )
    });
    let said = client(&server.socket(), &["hold", "3-5", "12"]);
    assert_eq!((said.status, said.stdout.as_str()), (77, "held tasks 3,5\n"), "{said:?}");
    assert_eq!(said.stderr, "error: not yours\nhint: ask\n");
    let body: serde_json::Value = serde_json::from_str(&server.asked()[0].body).expect("JSON");
    let expected = serde_json::json!(
        {"act": "hold", "ids": [3, 4, 5, 12], "position": 0, "cascade": false, "more": 0});
    assert_eq!(body, expected);
}

#[test]
fn destructive_acts_on_many_want_a_yes() {
    let server = FakeServer::start(|_, request| match path(&request.line) {
        "/whoami" => ok(WHO),
        line if line.starts_with("/dependents?") => ok(r#"{"v":1,"ids":[]}"#),
        line if line.starts_with("/tasks?") => {
            ok(list(&[task(3, "queued", ""), task(4, "running", "")]))
        }
        _ => ok(r#"{"v":1,"results":[{"id":3},{"id":4}]}"#),
    });
    let acts = || server.asked().iter().filter(|request| request.line.starts_with("POST")).count();
    for arguments in
        [["cancel", "3-9"], ["cancel", "--all"], ["cancel", "--state=queued"], ["rm", "3-4"]]
    {
        let said = client(&server.socket(), &arguments);
        assert_eq!((said.status, acts()), (64, 0), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains("hint: add --yes"), "{said:?}");
    }
    let said = client(&server.socket(), &["cancel", "--all", "--yes"]);
    assert_eq!(
        (said.status, said.stdout.as_str(), acts()),
        (0, "cancelled tasks 3,4\n", 1),
        "{said:?}"
    );
    let said = client(&server.socket(), &["kill", "3", "4"]);
    assert_eq!((said.status, acts()), (0, 2), "{said:?}");
}

#[test]
fn at_signs_are_my_last_tasks() {
    let server = FakeServer::start(|_, request| match path(&request.line) {
        "/whoami" => ok(WHO),
        line if line.starts_with("/tasks?limit=") && line.contains("&user=ada") => {
            ok(list(&[task(9, "queued", ""), task(7, "queued", "")]))
        }
        "/tasks/7" => ok(format!(r#"{{"v":1,"task":{}}}"#, task(7, "queued", &details("")))),
        other => panic!("{other}"),
    });
    let said = client(&server.socket(), &["show", "@~1"]);
    assert!(said.stdout.starts_with("task 7 (train): queued\n"), "{said:?}");
    let said = client(&server.socket(), &["show", "@~5"]);
    assert_eq!(
        (said.status, said.stderr.as_str()),
        (69, "error: there is no `@~5`: you have only 2 tasks\nhint: danlu ls\n")
    );
}

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

#[test]
fn edit_sends_only_what_changes_and_keeps_other_labels() {
    let server = FakeServer::start(|_, request| match request.line.as_str() {
        "GET /api/v1/tasks/7" => ok(format!(
            r#"{{"v":1,"task":{}}}"#,
            task(7, "queued", &(details("") + r#","labels":{"a":"1"}"#))
        )),
        _ => ok(format!(r#"{{"v":1,"task":{}}}"#, task(7, "queued", ""))),
    });
    let said = client(&server.socket(), &["edit", "7", "--gpus", "4", "--label", "b=2"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "changed task 7\n"), "{said:?}");
    let request = server.asked().pop().expect("it was asked");
    assert_eq!(request.line, "PATCH /api/v1/tasks/7");
    let body: serde_json::Value = serde_json::from_str(&request.body).expect("JSON");
    assert_eq!(
        body,
        serde_json::json!({"gpus": 4, "gpu_model": null, "labels": {"a": "1", "b": "2"}})
    );
}

#[test]
fn edit_opens_an_editor() {
    let server = FakeServer::start(|_, request| match request.line.as_str() {
        "GET /api/v1/tasks/7" => {
            ok(format!(r#"{{"v":1,"task":{}}}"#, task(7, "queued", &details(""))))
        }
        _ => ok(format!(r#"{{"v":1,"task":{}}}"#, task(7, "queued", ""))),
    });
    let edit = |editor: &str| {
        let mut command = client_command(&server.socket(), &["edit", "7"]);
        command.env_remove("VISUAL").env("EDITOR", editor);
        answer(command.output().expect("it starts"))
    };
    assert_eq!(edit("true").stdout, "nothing was changed\n");
    let said = edit("sed -i s/time.*/time=\"2h\"/");
    assert_eq!((said.status, said.stdout.as_str()), (0, "changed task 7\n"), "{said:?}");
    assert_eq!(
        server.asked().pop().map(|request| request.body).as_deref(),
        Some(r#"{"time_limit":7200}"#)
    );
    assert_eq!(edit("false").status, 64);
    let said = edit("sed -i s/time.*/time=\"soon\"/");
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.stderr.contains("`time`: ") && said.stderr.contains("is saved in"), "{said:?}");
    let kept = said.stderr.split_whitespace().last().expect("a path");
    std::fs::remove_file(kept).expect("the text was kept");
}

#[test]
fn clone_submits_what_the_other_task_is() {
    let server = FakeServer::start(|_, request| match request.line.as_str() {
        "GET /api/v1/tasks/7" => {
            let fields =
                details("") + r#","labels":{"a":"1"},"environment":["A=1"],"command":["old"]"#;
            ok(format!(r#"{{"v":1,"task":{}}}"#, task(7, "failed", &fields)))
        }
        _ => CannedReply::Json(201, r#"{"v":1,"id":8,"count":1}"#.into()),
    });
    let said = client(&server.socket(), &["clone", "7", "-J", "again"]);
    assert_eq!(
        (said.status, said.stdout.as_str()),
        (0, "submitted task 8, a copy of 7\n"),
        "{said:?}"
    );
    let body: serde_json::Value =
        serde_json::from_str(&server.asked().pop().expect("it was asked").body).expect("JSON");
    assert_eq!((&body["name"], &body["labels"]["a"]), (&"again".into(), &"1".into()));
    assert_eq!(
        (&body["environment"], &body["command"]),
        (&serde_json::json!(["A=1"]), &serde_json::json!(["old"]))
    );
}

#[test]
fn settings_are_shown_and_changed_with_their_types() {
    let server = FakeServer::start(|_, _| {
        ok(r#"{"v":1,"settings":{"order":"fifo","backfill":"easy","restart_cost":{"above":60}}}"#)
    });
    let say = |arguments: &[&str]| client(&server.socket(), arguments).stdout;
    assert_eq!(say(&["set"]), "backfill = easy\norder = fifo\nrestart_cost.above = 60\n");
    assert_eq!(say(&["set", "restart_cost"]), "restart_cost.above = 60\n");
    assert_eq!(say(&["policy"]), "fifo+easy\n");
    assert_eq!(client(&server.socket(), &["set", "nonsense"]).status, 69);
    say(&["set", "stop_grace", "30"]);
    assert_eq!(
        server.asked().pop().map(|request| request.body).as_deref(),
        Some(r#"{"key":"stop_grace","value":30}"#)
    );
    say(&["policy", "set", "sjf+skip"]);
    let bodies: Vec<String> =
        server.asked().into_iter().rev().take(2).map(|request| request.body).collect();
    assert_eq!(
        bodies,
        [r#"{"key":"backfill","value":"skip"}"#, r#"{"key":"order","value":"sjf"}"#]
    );
}
