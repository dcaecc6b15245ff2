//! Ended tasks that have left the server's memory are listed, shown, searched and acted on like all others.

use crate::support::daemon::{Daemon, Setup};
use crate::support::http::Connection;
use serde_json::{Value, json};

/// Everything that ends leaves the memory at once.
fn forgetful() -> Daemon {
    let daemon = Daemon::start_with(Setup::simulated(4));
    daemon.say(&["set", "history.recent", "0"]);
    daemon
}

fn ids(document: &Value) -> Vec<u64> {
    let tasks = document["tasks"].as_array().expect("a list");
    tasks.iter().filter_map(|task| task["id"].as_u64()).collect()
}

fn ls(daemon: &Daemon, options: &str) -> Vec<u64> {
    let words: Vec<&str> = ["ls", "--json"].into_iter().chain(options.split_whitespace()).collect();
    ids(&daemon.json(&words))
}

fn ended(daemon: &Daemon, options: &str, command: &str) -> String {
    let id = daemon.submit(options, command);
    daemon.ask(&["wait", &id]);
    id
}

#[test]
fn an_ended_task_is_shown_read_run_again_copied_and_removed() {
    let daemon = forgetful();
    let id = ended(&daemon, "-J old --label k=v --description long-ago", "echo printed; exit 3");
    let shown = daemon.say(&["show", &id]);
    for words in ["(old): failed", "long-ago", "k=v", "exit code 3", "RUN  STATE"] {
        assert!(shown.contains(words), "`{words}` is missing:\n{shown}");
    }
    assert_eq!(daemon.say(&["logs", &id]), "printed\n");
    assert_eq!(daemon.say(&["logs", "-f", &id]), "printed\n");
    assert_eq!(daemon.ask(&["wait", &id]).status, 3);
    assert!(daemon.say(&["why", &id]).contains("failed"));
    assert!(daemon.say(&["debug", &id]).contains("argv[0]"));
    assert_eq!(daemon.ask(&["edit", &id, "--name", "new"]).status, 64);

    daemon.say(&["retry", &id]);
    assert_eq!(daemon.ask(&["wait", &id]).status, 3);
    assert_eq!(
        daemon.json(&["show", &id, "--json"])["task"]["runs"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(daemon.say(&["logs", &id, "--run", "1"]), "printed\n");

    daemon.say(&["clone", &id]);
    assert_eq!(daemon.ask(&["wait", "2"]).status, 3);
    assert_eq!(daemon.json(&["show", "2", "--json"])["task"]["name"], "old");

    daemon.say(&["rm", "-y", &id]);
    for verb in ["show", "logs", "why"] {
        assert_eq!(daemon.ask(&[verb, &id]).status, 69, "{verb}");
    }
    assert_eq!(ls(&daemon, ""), [2]);
}

#[test]
fn old_tasks_are_dependencies_and_keys_name_them() {
    let daemon = forgetful();
    let (good, bad) = (ended(&daemon, "", "true"), ended(&daemon, "", "false"));
    let follower = ended(&daemon, &format!("-d afterok:{good}"), "true");
    assert_eq!(daemon.json(&["show", &follower, "--json"])["task"]["state"], "succeeded");
    let hopeless = ended(&daemon, &format!("-d afterok:{bad}"), "true");
    assert_eq!(daemon.json(&["show", &hopeless, "--json"])["task"]["state"], "cancelled");
    let options = format!("afterok:{good}");
    let dry = daemon.json(&["submit", "--json", "--dry-run", "-d", &options, "--", "true"]);
    assert_eq!(dry["dry_run"]["now"], true, "{dry}");
    let options = format!("afterok:{bad}");
    let dry = daemon.json(&["submit", "--json", "--dry-run", "-d", &options, "--", "true"]);
    assert_eq!(dry["dry_run"]["now"], false, "{dry}");

    let mut socket = Connection::open(daemon.socket());
    let body = json!({ "command": ["true"], "directory": "/", "gpus": 0 }).to_string();
    let key = "idempotency-key: once\r\ncontent-type: application/json\r\n";
    let first = socket.ask("POST /api/v1/tasks", key, body.as_bytes());
    let id = first.body["id"].as_u64().unwrap_or_else(|| panic!("{first:?}"));
    daemon.ask(&["wait", &id.to_string()]);
    let again = socket.ask("POST /api/v1/tasks", key, body.as_bytes());
    assert_eq!(again.body["id"].as_u64(), Some(id));
}

#[test]
fn lists_are_filtered_searched_and_sorted_over_the_border() {
    let daemon = forgetful();
    ended(&daemon, "-J 训练模型 --project vision", "true 学习率 0.1");
    ended(&daemon, "-J evaluate --project vision --label k=1", "false Alpha beta");
    ended(&daemon, "-J slow", "sleep 0.3");
    daemon.submit("--hold -J 训练更大的模型 --project text", "true gamma");
    for (options, expect) in [
        ("", vec![1, 2, 3, 4]),
        ("训练", vec![1, 4]),
        ("模 练", vec![1, 4]),
        ("学习 训练", vec![1]),
        ("ALPHA", vec![2]),
        ("alpha gamma", vec![]),
        ("--text 0.1", vec![1]),
        ("--project vision", vec![1, 2]),
        ("--label k=1", vec![2]),
        ("--label k", vec![2]),
        ("--state failed", vec![2]),
        ("--state held", vec![4]),
        ("2-3", vec![2, 3]),
        ("2-4,1 训练", vec![1, 4]),
        ("99", vec![]),
        ("--since 1h", vec![1, 2, 3, 4]),
        ("--until 1h", vec![]),
        ("--since 2000-01-01 --until 2001-01-01", vec![]),
        ("-n 2", vec![4, 3]),
        ("--sort ended", vec![4, 3, 2, 1]),
        ("--sort ran -n 1", vec![3]),
        ("--user nobody-here", vec![]),
    ] {
        assert_eq!(ls(&daemon, options), expect, "{options}");
    }
    assert_eq!(ids(&daemon.json(&["ls", "--json", "Alpha beta"])), [2]);
    assert_eq!(ids(&daemon.json(&["ls", "--json", "beta Alpha"])), [0_u64; 0]);
    let shown = daemon.say(&["ls", "训练"]);
    assert!(shown.contains("训练模型") && shown.contains("训练更大的模型"), "{shown}");
    let none = daemon.say(&["ls", "nothing-has-this"]);
    assert!(none.contains("no matching tasks"), "{none}");
    for wrong in [&["ls", "9-3"][..], &["ls", "--sort", "x"], &["ls", "--since", "x"]] {
        assert_eq!(daemon.ask(wrong).status, 2, "{wrong:?}");
    }
    assert_eq!(daemon.json(&["status", "--json"])["tasks"]["succeeded"], 2);
}

#[test]
fn pages_lead_through_live_and_past_tasks_in_both_directions() {
    let daemon = forgetful();
    for round in 0..4 {
        ended(&daemon, &format!("-g 0 -a 0-3 -J past-{round}"), "true");
        daemon.submit("--hold -J live", "true");
    }
    let mut socket = Connection::open(daemon.socket());
    for sort in ["id", "ended", "ran"] {
        for oldest_first in [false, true] {
            let base = format!("sort={sort}&oldest_first={oldest_first}");
            let mut page = |more: &str| {
                let reply = socket.ask(&format!("GET /api/v1/tasks?{base}{more}"), "", b"");
                assert_eq!((reply.status, &reply.body["total"]), (200, &json!(20)), "{reply:?}");
                reply.body
            };
            let whole = ids(&page(""));
            let (mut all, mut cursor) = (Vec::new(), String::new());
            loop {
                let found = page(&format!("&limit=3{cursor}"));
                all.extend(ids(&found));
                let Some(next) = found["next_cursor"].as_str() else { break };
                // What stands before the next page is this one.
                assert_eq!(ids(&page(&format!("&limit=3&before={next}"))), ids(&found), "{base}");
                cursor = format!("&cursor={next}");
            }
            assert_eq!(all, whole, "{base}");
            let mut sorted = all.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (1..=20).collect::<Vec<u64>>(), "{base}");
        }
    }
}

#[test]
fn an_array_of_which_some_have_ended_is_still_one_line() {
    let daemon = forgetful();
    daemon.submit(
        "-g 4 -a 0-5%1 -J sweep",
        "test $DANLU_ARRAY_INDEX -ne 1 || exit 1; test $DANLU_ARRAY_INDEX -lt 3 || sleep 60",
    );
    daemon.wait_until("4", "running");
    let line = || {
        let mut socket = Connection::open(daemon.socket());
        socket.ask("GET /api/v1/overview", "", b"").body["lines"][0]["array"].clone()
    };
    let array = line();
    assert_eq!((&array["first"], &array["last"]), (&json!(1), &json!(6)), "{array}");
    assert_eq!(array["indices"], json!([[0, 5]]));
    let counts = json!({ "queued": 2, "running": 1, "succeeded": 2, "failed": 1 });
    assert_eq!(array["counts"], counts);
    assert!(daemon.say(&["ls"]).contains("sweep[0-5]"));
    daemon.say(&["rm", "-y", "1"]);
    assert_eq!(line()["indices"], json!([[1, 5]]));
    daemon.say(&["cancel", "-y", "4-6"]);
    daemon.ask(&["wait", "4-6"]);
    let array = line();
    assert_eq!(array["counts"], json!({ "succeeded": 1, "failed": 1, "cancelled": 3 }));
    let mut socket = Connection::open(daemon.socket());
    assert_eq!(ids(&socket.ask("GET /api/v1/tasks?array=1", "", b"").body), [6, 5, 4, 3, 2]);
}

#[test]
fn a_large_array_does_not_hide_what_ended_before_it() {
    let daemon = forgetful();
    ended(&daemon, "-J before", "true");
    daemon.submit("-g 0 -a 0-299 -J large", "true");
    daemon.say(&["wait", "2-301"]);
    ended(&daemon, "-J after", "true");
    let shown = daemon.say(&["ls"]);
    for words in ["before", "large[0-299]", "300 succeeded", "after"] {
        assert!(shown.contains(words), "`{words}` is missing:\n{shown}");
    }
}

#[test]
fn pages_show_past_tasks_and_search_them() {
    let daemon = forgetful();
    let id = ended(&daemon, "-J 训练模型 --label k=v", "echo printed");
    ended(&daemon, "-J other", "true");
    let token = daemon.say(&["token", "new", "pages", "-q", "--scope", "admin"]);
    let who = format!("authorization: Bearer {}\r\n", token.trim());
    let page = |path: &str| Connection::to(daemon.address()).text(&format!("GET {path}"), &who);
    let list = page("/tasks?text=%E8%AE%AD%E7%BB%83");
    assert!(list.contains("训练模型") && !list.contains("other</span>"), "{list}");
    assert!(page("/tasks?since=1d&sort=ran&label=k%3Dv").contains("训练模型"));
    assert!(page("/tasks?until=1d").contains("No matching tasks."));
    let task = page(&format!("/tasks/{id}"));
    assert!(task.contains("训练模型") && task.contains("printed"), "{task}");
    assert!(page(&format!("/new?clone={id}")).contains("训练模型"));
    let mut log = Connection::to(daemon.address());
    assert_eq!(log.head_of(&format!("GET /tasks/{id}/log"), &who).status, 200);
    // Chunked: its length comes first.
    assert_eq!((log.next_line(), log.next_line()), ("8".to_owned(), "printed".to_owned()));
    assert!(page("/").contains("训练模型"), "the overview shows what ended last");
}

/// Somebody with a session of their own, whose tasks run as the one who runs the test.
fn person(daemon: &Daemon, name: &str) -> String {
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let admin = daemon.say(&["token", "new", name, "-q", "--scope", "admin"]);
    let admin = format!("authorization: Bearer {}\r\n", admin.trim());
    let body = json!({ "name": name, "password": "correct horse", "os_user": me }).to_string();
    let mut server = Connection::to(daemon.address());
    assert_eq!(server.ask("POST /api/v1/users", &admin, body.as_bytes()).status, 201);
    let body = json!({ "user": name, "password": "correct horse" });
    let reply = server.json("POST /api/v1/session", &body);
    let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next()).expect("a session");
    let csrf = reply.body["csrf"].as_str().expect("it is told");
    format!("cookie: {cookie}\r\nx-csrf-token: {csrf}\r\n")
}

#[test]
fn own_hides_past_tasks_of_others_and_their_events() {
    let daemon = forgetful();
    daemon.say(&["set", "visibility", "own"]);
    let (ann, bob) = (person(&daemon, "ann"), person(&daemon, "bob"));
    let ask = |who: &str, request: &str, body: &str| {
        Connection::to(daemon.address()).ask(request, who, body.as_bytes())
    };
    let body = json!({ "command": ["true"], "directory": "/", "gpus": 0 }).to_string();
    let mut ids_of = [&ann, &bob].map(|who| {
        let reply = ask(who, "POST /api/v1/tasks", &body);
        let id = reply.body["id"].as_u64().unwrap_or_else(|| panic!("{reply:?}"));
        daemon.say(&["wait", &id.to_string()]);
        id
    });
    ids_of.sort_unstable();
    let [anns, bobs] = ids_of;
    assert_eq!(ids(&ask(&ann, "GET /api/v1/tasks", "").body), [anns]);
    assert_eq!(ids(&ask(&ann, "GET /api/v1/tasks?user=bob", "").body), [0_u64; 0]);
    for (who, id, status) in [(&ann, anns, 200), (&ann, bobs, 404), (&bob, anns, 404)] {
        for path in [format!("tasks/{id}"), format!("tasks/{id}/why"), format!("wait?ids={id}")] {
            assert_eq!(ask(who, &format!("GET /api/v1/{path}"), "").status, status, "{path}");
        }
    }
    assert_eq!(ask(&ann, &format!("DELETE /api/v1/tasks/{bobs}"), "").status, 404);
    let act = json!({ "act": "retry", "ids": [anns, bobs] }).to_string();
    let acted = ask(&ann, "POST /api/v1/tasks/act", &act).body;
    assert_eq!(acted["results"][0]["error"], Value::Null, "{acted}");
    assert_eq!(acted["results"][1]["error"]["code"], "not_found", "{acted}");
    daemon.say(&["wait", &anns.to_string()]);

    let mut events = Connection::to(daemon.address());
    let head = events.head_of("GET /api/v1/events?after=0", &ann);
    assert_eq!(head.status, 200);
    let mut ends = 0;
    while ends < 2 {
        let line = events.next_line();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let event: Value = serde_json::from_str(data).expect("it is JSON");
        assert_ne!(event["task"], bobs, "{event}");
        let kind = event["type"].as_str().unwrap_or_default();
        assert!(!["tasks_retired", "task_recalled"].contains(&kind), "{event}");
        ends += usize::from(kind == "task_finished");
    }
}
