//! What `ls`, `gpus` and `why` make of what the server says.

use super::{WHO, path};

use crate::support::danlu::{answer, client, client_command};
use crate::support::fake_server::{CannedReply, FakeServer, list, ok, task};

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
