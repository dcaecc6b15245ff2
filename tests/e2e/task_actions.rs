//! `cancel`, `hold`, `release`, `pause`, `resume`, `retry`, `start`, `move`, `rm`, `edit`, `clone` and `wait`, with a real server.

use std::process::Stdio;

use crate::support::daemon::Daemon;
use crate::support::danlu::answer;
use crate::support::{danlu, http};
use danlu_spec::{
    Field,
    field::{Edit, InForm},
};
use serde_json::json;

#[test]
fn cancel_ends_what_runs_and_what_waits() {
    let daemon = Daemon::start();
    let runs = daemon.submit("-g 4", "trap '' TERM; sleep 60 & wait; sleep 60");
    daemon.wait_until(&runs, "running");
    let waits = daemon.submit("--label a=b", "true");
    daemon.submit("--label a=b", "true");
    assert_eq!(daemon.ask(&["cancel", "--label", "a=b"]).status, 64, "it wants a yes");
    assert_eq!(daemon.say(&["cancel", "--label", "a=b", "--yes"]), "cancelled tasks 2,3\n");
    assert_eq!(daemon.state(&waits), "cancelled");
    daemon.say(&["set", "stop_grace", "500ms"]);
    daemon.say(&["kill", &runs, "--wait"]);
    assert_eq!(daemon.state(&runs), "cancelled");
    let said = daemon.ask(&["cancel", &runs]);
    assert_eq!(said.status, 64, "{said:?}");
    assert_eq!(daemon.ask(&["cancel", "99"]).status, 69);
}

#[test]
fn hold_and_pause_stop_tasks_until_release_and_resume() {
    let daemon = Daemon::start();
    let runs = daemon.submit("-g 4", "sleep 60");
    daemon.wait_until(&runs, "running");
    let waits = daemon.submit("", "true");
    assert_eq!(daemon.say(&["hold", &waits]), "held task 2\n");
    assert_eq!(daemon.state(&waits), "held");
    assert_eq!(daemon.say(&["release", "--all"]), "released task 2\n");
    assert_eq!(daemon.state(&waits), "queued");
    assert_eq!(daemon.say(&["pause", "--all"]), "paused task 1\n");
    daemon.wait_until(&runs, "paused");
    daemon.say(&["resume", &runs]);
    daemon.wait_until(&runs, "running");
    assert_eq!(daemon.ask(&["release", &runs]).status, 64);
}

#[test]
fn retry_runs_again_under_the_same_id() {
    let daemon = Daemon::start();
    let id = daemon.submit("", "exit 3");
    assert_eq!(daemon.ask(&["wait", &id]).status, 3);
    assert_eq!(daemon.say(&["retry", "--state", "failed"]), "queued again: task 1\n");
    assert_eq!(daemon.ask(&["wait", &id]).status, 3);
    let runs = daemon.json(&["show", &id, "--json"])["task"]["runs"].clone();
    assert_eq!(runs.as_array().map(Vec::len), Some(2));
}

#[test]
fn move_and_start_change_who_comes_first() {
    let daemon = Daemon::start();
    let blocker = daemon.submit("-g 4", "sleep 60");
    daemon.wait_until(&blocker, "running");
    let first = daemon.submit("-g 4", "sleep 0.2");
    let second = daemon.submit("-g 4", "sleep 0.2");
    assert_eq!(daemon.say(&["mv", &second]), "moved task 3\n");
    let said = daemon.ask(&["start", &first]);
    assert_eq!(said.status, 64, "there is no room: {said:?}");
    daemon.say(&["cancel", &blocker]);
    daemon.say(&["wait", &first]);
    let started = |id: &str| {
        daemon.json(&["show", id, "--json"])["task"]["started_at"]
            .as_str()
            .expect("a time")
            .to_owned()
    };
    assert!(started(&second) < started(&first), "the moved one started later");
}

#[test]
fn rm_cancels_what_runs_first() {
    let daemon = Daemon::start();
    let runs = daemon.submit("", "sleep 60");
    daemon.wait_until(&runs, "running");
    let ended = daemon.submit("", "true");
    daemon.say(&["wait", &ended]);
    assert_eq!(daemon.say(&["rm", &runs, &ended]), "removed tasks 1,2\n");
    assert_eq!(daemon.ask(&["show", &runs]).status, 69);
    assert_eq!(daemon.submit("", "true"), "3", "ids are never used again");
}

#[test]
fn edit_changes_a_waiting_task_and_clone_copies_one() {
    let daemon = Daemon::start();
    let id = daemon.submit("--hold --label a=1 --env A=x", "echo $A");
    daemon.say(&["edit", &id, "--gpus", "2", "--label", "b=2", "-t", "1h"]);
    let mut command = daemon.command(&["edit", &id]);
    command.env_remove("VISUAL").env("EDITOR", "sed -i s/priority.*/priority=1/");
    assert_eq!(answer(command.output().expect("it starts")).stdout, "changed task 1\n");
    let task = daemon.json(&["show", &id, "--json"])["task"].clone();
    let expect = (&json!(2), &json!({"a": "1", "b": "2"}), &json!(3_600), &json!(1));
    assert_eq!((&task["gpus"], &task["labels"], &task["time_limit"], &task["priority"]), expect);
    assert_eq!(daemon.ask(&["edit", &id, "--gpus", "9"]).status, 64);
    assert_eq!(daemon.say(&["clone", &id, "--gpus", "0", "-q"]), "2\n");
    daemon.say(&["wait", "2"]);
    assert_eq!(daemon.say(&["logs", "2"]), "x\n");
}

#[test]
fn wait_returns_when_each_task_has_been_in_one_of_the_states() {
    let daemon = Daemon::start();
    let blocker = daemon.submit("-g 4", "sleep 600");
    assert_eq!(daemon.ask(&["wait", &blocker, "--until", "running"]).status, 0);
    let waits = daemon.submit("-g 4", "sleep 600");
    let after = daemon.submit(&format!("-d {waits}"), "true");
    let said = daemon.ask(&["wait", &waits, &after, "--until", "queued,blocked"]);
    assert_eq!(said.status, 0, "{said:?}");
    let shown = daemon.json(&["wait", &waits, "--until", "waiting", "--json"]);
    assert_eq!(shown["tasks"][0]["state"], "queued");
    // An event, and no polling: who waits for it is told when it happens.
    let mut both = daemon.command(&["wait", &waits, &after, "--until", "running"]);
    let both = both.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    daemon.say(&["kill", &blocker]);
    daemon.wait_until(&waits, "running");
    daemon.say(&["kill", &waits]);
    let both = answer(both.wait_with_output().expect("it ends"));
    assert_eq!(both.status, 1, "the second was cancelled and never ran: {both:?}");
    assert_eq!(daemon.ask(&["wait", &waits, "--until", "running"]).status, 0, "it has run");
    assert_eq!(daemon.ask(&["wait", &waits, "--until", "failed,succeeded"]).status, 1);
    assert_eq!(daemon.ask(&["wait", &waits, "--until", "cancelled"]).status, 0);
    assert_eq!(daemon.ask(&["wait", &waits, "--until", "ended"]).status, 130, "as without it");
}

#[test]
fn wait_gives_up_after_its_timeout_and_says_how_far_the_task_is() {
    let daemon = Daemon::start();
    let id = daemon.submit("-g 4", "sleep 600");
    daemon.wait_until(&id, "running");
    let begun = std::time::Instant::now();
    let said = daemon.ask(&["wait", &id, "--timeout", "1s"]);
    assert_eq!((said.status, said.stdout.as_str()), (124, ""), "{said:?}");
    assert!(said.stderr.contains("task 1 is running"), "{said:?}");
    assert!(begun.elapsed() < danlu::LONGEST / 2, "long before the server would answer by itself");
    assert_eq!(daemon.ask(&["wait", &id, "--until", "paused", "--timeout", "1s"]).status, 124);
    for wrong in [["--timeout", "10"], ["--until", "runing"]] {
        let said = daemon.ask(&[&["wait", &id], &wrong[..]].concat());
        assert_eq!(said.status, 2, "{said:?}");
    }
    for (method, expect) in
        [("until=runing", 400), ("until=", 400), ("until=held&timeout_ms=1", 200)]
    {
        let mut connection = http::Connection::open(daemon.socket());
        let reply = connection.ask(&format!("GET /api/v1/wait?ids=1&{method}"), "", b"");
        assert_eq!(reply.status, expect, "{method}: {reply:?}");
    }
}

/// What can be said when a task is submitted can be said in the editor and on the page, or the table says why not.
#[test]
fn the_page_and_the_editor_know_every_field_that_submit_knows() {
    let daemon = Daemon::start();
    let id = daemon.submit("--hold", "true");
    let help = daemon.say(&["submit", "--help"]);
    let page = http::Connection::open(daemon.socket()).text(&format!("GET /new?edit={id}"), "");
    let kept = daemon.directory().join("editor.toml");
    let editor = daemon.directory().join("editor.sh");
    std::fs::write(&editor, format!("cp \"$1\" {}\n", kept.display())).expect("written");
    let mut command = daemon.command(&["edit", &id]);
    command.env_remove("VISUAL").env("EDITOR", format!("sh {}", editor.display()));
    assert_eq!(answer(command.output().expect("it starts")).stdout, "nothing was changed\n");
    let text = std::fs::read_to_string(kept).expect("the text of the editor");
    for field in Field::ALL {
        let row = field.row();
        if let Some(option) = row.option {
            assert!(help.contains(&format!("--{}", option.long)), "{field:?} is no option");
        }
        let control = match row.form {
            InForm::Yes => row.name,
            InForm::As(control) => control,
            InForm::No(_) => continue,
        };
        assert!(page.contains(&format!("name=\"{control}\"")), "{field:?} is not on the page");
        let word = field.option_or_name();
        let lines = [format!("\n{word} = "), format!("\n[{word}]")];
        let is_there = lines.iter().any(|line| text.contains(line));
        assert_eq!(is_there, row.edit == Edit::Yes, "{field:?} in the editor:\n{text}");
    }
}

#[test]
fn what_the_editor_and_the_page_say_is_what_the_task_gets() {
    let daemon = Daemon::start();
    let id = daemon.submit("--hold --stdout out.txt", "true");
    let mut command = daemon.command(&["edit", &id]);
    let changes = [
        "s/^begin = .*/begin = \"2036-01-01T00:00:00Z\"/",
        "s/^prefer = .*/prefer = \"rack=7\"/",
        "s/^retries = .*/retries = \"2:nccl\"/",
        "s/^gpu-env = .*/gpu-env = \"uuid\"/",
        "s/^conda = .*/conda = \"torch\"/",
        "s/^truncate = .*/truncate = true/",
        "s/^exclusive = .*/exclusive = true/",
    ];
    let file = daemon.directory().join("changes.sed");
    std::fs::write(&file, changes.join("\n")).expect("written");
    command.env_remove("VISUAL").env("EDITOR", format!("sed -i -f {}", file.display()));
    let said = answer(command.output().expect("it starts"));
    assert_eq!(said.stdout, "changed task 1\n", "{said:?}");
    let task = daemon.show(&id);
    assert_eq!(task["begin"], "2036-01-01T00:00:00.000Z", "{task}");
    assert_eq!(task["request"]["prefer"], json!({"label": {"key": "rack", "value": "7"}}));
    assert_eq!((&task["retries"], &task["retry_on"]), (&json!(2), &json!(["nccl"])));
    assert_eq!(
        (&task["gpus_by_uuid"], &task["python"]),
        (&json!(true), &json!({"conda": "torch"}))
    );
    assert_eq!(task["output"]["stdout"], json!({"truncate": {"path": "out.txt"}}));
    assert_eq!(task["request"]["sharing"], "exclusive");

    let head = "content-type: application/x-www-form-urlencoded\r\n";
    let form = format!(
        "edit={id}&action=submit&command=true&directory=/&sharing=shared&vram=1G&idle_util=30&\
         stderr=err.txt&gpu_env=index&venv=/opt/v&retries=1"
    );
    assert_eq!(http::Connection::open(daemon.socket()).form("POST /new", head, &form), 303);
    let task = daemon.show(&id);
    assert_eq!(
        task["output"],
        json!({"both": null, "stdout": null, "stderr": {"append": {"path": "err.txt"}}})
    );
    assert_eq!(task["request"]["sharing"], json!({"shared": {"idle_utilization": 30}}), "{task}");
    assert_eq!(
        (&task["gpus_by_uuid"], &task["python"]),
        (&json!(false), &json!({"venv": "/opt/v"}))
    );
    assert_eq!(
        (&task["begin"], &task["retry_on"]),
        (&json!(null), &json!([])),
        "what is empty is as usual"
    );
}
