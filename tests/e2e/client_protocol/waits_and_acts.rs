//! `wait`, and acts on several tasks.

use super::{WHO, path};

use crate::support::danlu::{Answer, client};
use crate::support::fake_server::{CannedReply, FakeServer, details, list, ok, task};

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
