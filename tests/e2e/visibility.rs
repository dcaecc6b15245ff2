//! `visibility = own` hides whose tasks the others are, and what they run.

use crate::support::daemon::{Daemon, Setup};
use crate::support::http::{Connection, Reply};
use serde_json::{Value, json};
use std::fs;

const PASSWORD: &str = "correct horse";
const SECRET: &str = "very-secret-model";

struct Viewer {
    headers: String,
}

impl Viewer {
    fn log_in(daemon: &Daemon, name: &str) -> Viewer {
        let body = json!({ "user": name, "password": PASSWORD });
        let reply = Connection::to(daemon.address()).json("POST /api/v1/session", &body);
        let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next());
        let csrf = reply.body["csrf"].as_str().expect("it is told");
        let cookie = cookie.expect("a session");
        Viewer { headers: format!("cookie: {cookie}\r\nx-csrf-token: {csrf}\r\n") }
    }

    fn ask(&self, daemon: &Daemon, request: &str, body: &Value) -> Reply {
        let body = body.to_string();
        Connection::to(daemon.address()).ask(request, &self.headers, body.as_bytes())
    }
}

/// One who holds all GPUs with a command that is a secret, and one who waits.
fn scene(visibility: &str) -> (Daemon, Viewer, u64, u64) {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "[compat]\ngpuman = true\n").expect("it can be written");
    let mut setup = Setup::simulated(2);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    let admin = daemon.say(&["token", "new", "admin", "-q", "--scope", "admin"]);
    let admin = Viewer { headers: format!("authorization: Bearer {}\r\n", admin.trim()) };
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    for name in ["owner-of-it", "ann"] {
        let body = json!({ "name": name, "password": PASSWORD, "os_user": me });
        assert_eq!(admin.ask(&daemon, "POST /api/v1/users", &body).status, 201);
    }
    daemon.say(&["set", "visibility", visibility]);
    let (other, ann) = (Viewer::log_in(&daemon, "owner-of-it"), Viewer::log_in(&daemon, "ann"));
    let submit = |who: &Viewer, command: Value, name: &str| {
        let body = json!({ "command": command, "name": name, "gpus": 2, "directory": "/" });
        let reply = who.ask(&daemon, "POST /api/v1/tasks", &body);
        reply.body["id"].as_u64().unwrap_or_else(|| panic!("{reply:?}"))
    };
    let theirs = submit(&other, json!(["sh", "-c", "sleep 1000", SECRET]), SECRET);
    daemon.wait_until(&theirs.to_string(), "running");
    let mine = submit(&ann, json!(["true"]), "mine");
    (daemon, ann, theirs, mine)
}

#[test]
fn own_hides_tasks_users_and_commands_of_others() {
    let (daemon, ann, theirs, mine) = scene("own");
    let nothing = |what: &str, said: &str| {
        for word in [SECRET, "owner-of-it", &format!("\"task\":{theirs},"), &format!("#{theirs} ")]
        {
            assert!(!said.contains(word), "{what} tells {word}: {said}");
        }
    };
    let requests = [
        "tasks",
        "gpus",
        "nodes",
        "status",
        "overview",
        "users",
        "settings",
        "me",
        &format!("tasks/{mine}"),
        &format!("tasks/{mine}/why"),
        &format!("dependents?ids={theirs}"),
    ];
    for path in requests {
        let reply = ann.ask(&daemon, &format!("GET /api/v1/{path}"), &json!({}));
        assert_eq!(reply.status, 200, "{path}");
        nothing(path, &reply.body.to_string());
    }
    let gpus = ann.ask(&daemon, "GET /api/v1/gpus", &json!({})).body;
    assert_eq!(
        (&gpus["gpus"][0]["state"], &gpus["gpus"][0]["tasks"]),
        (&"held".into(), &json!([]))
    );
    let why = ann.ask(&daemon, &format!("GET /api/v1/tasks/{mine}"), &json!({})).body;
    assert_eq!(why["task"]["why"], "for free resources");
    for path in [format!("tasks/{theirs}"), format!("wait?ids={theirs}")] {
        assert_eq!(ann.ask(&daemon, &format!("GET /api/v1/{path}"), &json!({})).status, 404);
    }
    for page in ["/", "/tasks", "/gpus", &format!("/tasks/{mine}"), "/me"] {
        let page_text = Connection::to(daemon.address()).text(&format!("GET {page}"), &ann.headers);
        assert!(page_text.contains("</html>"), "{page}");
        nothing(page, &page_text);
    }
    for path in ["status", "query/owner-of-it", "userinfo"] {
        let body = json!({ "usr": "ann", "passwd": PASSWORD });
        nothing(path, &ann.ask(&daemon, &format!("POST /api/{path}"), &body).body.to_string());
    }
}

/// What a machine does is everybody's to see, but not for whom.
#[test]
fn own_holds_for_the_history_of_use() {
    let (daemon, ann, theirs, mine) = scene("own");
    let ask = |path: &str| ann.ask(&daemon, &format!("GET /api/v1/{path}"), &json!({}));
    assert_eq!(ask(&format!("tasks/{theirs}/usage")).status, 404, "as one that does not exist");
    assert_eq!(ask(&format!("tasks/{mine}/usage")).status, 200);
    let node = ask("nodes").body["nodes"][0]["name"].as_str().expect("a name").to_owned();
    for path in [format!("nodes/{node}/usage"), format!("gpus/{node}:0/usage")] {
        let reply = ask(&path);
        assert_eq!(reply.status, 200, "{path}");
        let said = reply.body.to_string();
        for word in [SECRET, "owner-of-it", "\"task\"", "\"attempts\""] {
            assert!(!said.contains(word), "{path} tells {word}: {said}");
        }
    }
}

#[test]
fn own_events_are_ones_own() {
    let (daemon, ann, theirs, mine) = scene("own");
    let mut stream = Connection::to(daemon.address());
    assert_eq!(stream.head_of("GET /api/v1/events?after=0", &ann.headers).status, 200);
    let (mut seen, mine) = (Vec::new(), format!("\"task\":{mine}"));
    while !seen.last().is_some_and(|line: &String| line.contains(&mine)) {
        seen.push(stream.next_line());
    }
    let said = seen.join("\n");
    assert!(said.contains("node_ready"), "what is nobody's is told: {said}");
    assert!(!said.contains(&format!("\"task\":{theirs},")), "{said}");
    assert!(!said.contains("run_launched") && !said.contains("part_started"), "{said}");
}

#[test]
fn all_tells_who_holds_what() {
    let (daemon, ann, theirs, mine) = scene("all");
    let gpus = ann.ask(&daemon, "GET /api/v1/gpus", &json!({})).body;
    assert_eq!(gpus["gpus"][0]["tasks"], json!([theirs]));
    let page = Connection::to(daemon.address()).text(&format!("GET /tasks/{mine}"), &ann.headers);
    assert!(page.contains("owner-of-it"), "{page}");
}

#[test]
fn the_page_of_a_waiting_task_links_who_holds_it_and_the_form_that_would_start_now() {
    let (daemon, ann, theirs, mine) = scene("all");
    let page =
        |path: &str| Connection::to(daemon.address()).text(&format!("GET {path}"), &ann.headers);
    let shown = page(&format!("/tasks/{mine}"));
    let link = format!(r#"<a href="/tasks/{theirs}">#{theirs}</a>"#);
    for words in
        [&link, "Needs 2 GPUs on one machine. 1st of 1 in line.", "(owner-of-it, end unknown) ends"]
    {
        assert!(shown.contains(words), "`{words}` is missing: {shown}");
    }
    daemon.say(&["cancel", "-y", &theirs.to_string()]);
    assert_eq!(daemon.ask(&["wait", &mine.to_string()]).status, 0);
    let small = daemon.submit("-g 1", "sleep 1000");
    daemon.wait_until(&small, "running");
    let body = json!({ "command": ["true"], "gpus": 2, "directory": "/" });
    let id = ann.ask(&daemon, "POST /api/v1/tasks", &body).body["id"].clone();
    let shown = page(&format!("/tasks/{id}"));
    let button = format!(r#"href="/new?edit={id}&#38;gpus=1">--gpus 1</a>"#);
    assert!(shown.contains(&button), "`{button}` is missing: {shown}");
    let form = page(&format!("/new?edit={id}&gpus=1"));
    let field = form.split("name=\"gpus\"").nth(1).expect("the field");
    assert!(field.starts_with(" value=\"1\""), "{}", &field[..80]);
}
