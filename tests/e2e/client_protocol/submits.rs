//! What is sent by `submit`, `edit`, `clone` and `set`.

use crate::support::danlu::{answer, client, client_command};
use crate::support::fake_server::{CannedReply, FakeServer, details, ok, task};

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
