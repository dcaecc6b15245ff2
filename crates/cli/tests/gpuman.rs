//! gpuman's JSON interface, as its own command line and its users' scripts speak it.

mod daemon;
mod danlu;
mod http;

use daemon::{Daemon, Setup, until};
use http::Connection;
use serde_json::{Map, Value, json};
use std::fs;

struct Gpuman {
    daemon: Daemon,
}

fn gpuman() -> Option<Gpuman> {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "[compat]\ngpuman = true\n").expect("it can be written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup)?;
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let me = me.as_str().expect("a name").to_owned();
    let admin = daemon.say(&["token", "new", "t", "-q", "--scope", "admin"]);
    let headers = format!("authorization: Bearer {}\r\n", admin.trim());
    for (name, admin) in [("ann", false), ("boss", true)] {
        let user =
            json!({ "name": name, "admin": admin, "os_user": me, "password": "correct horse" });
        let mut connection = Connection::to(daemon.address());
        let reply = connection.ask("POST /api/v1/users", &headers, user.to_string().as_bytes());
        assert_eq!(reply.status, 201, "{reply:?}");
    }
    Some(Gpuman { daemon })
}

impl Gpuman {
    /// Always status 200, without a content type, as gpuman's own program does it.
    fn ask(&self, path: &str, user: &str, fields: &Value) -> Value {
        let mut body: Map<String, Value> = fields.as_object().expect("fields").clone();
        body.insert("usr".into(), user.into());
        body.entry("passwd").or_insert_with(|| "correct horse".into());
        let mut connection = Connection::to(self.daemon.address());
        let body = Value::Object(body).to_string();
        let reply = connection.ask(&format!("POST /api/{path}"), "", body.as_bytes());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.body
    }

    fn admin(&self, line: &str) -> String {
        let said = self.ask("admin", "boss", &json!({ "cmd": line }));
        said["ret"].as_str().unwrap_or_else(|| panic!("{line}: {said}")).to_owned()
    }
}

fn task() -> Value {
    json!({
        "wkd": "/tmp", "cmd": "echo \"it's $HOME\"; exit 3", "stdout": "/dev/null", "stderr": "/dev/null",
        "ngpu": "1", "force_gpuids": "None", "real_gpuid_args": "None", "timeout": "None",
        "email": "ann@lab.example", "desc": "a try",
    })
}

#[test]
fn tasks_are_created_listed_updated_and_cancelled() {
    let Some(gpuman) = gpuman() else { return };
    assert_eq!(gpuman.ask("create", "ann", &task())["ret"], "创建成功,任务ID 1");
    until("it has failed", || {
        let rows = gpuman.ask("query", "ann", &json!({}))["done_tasks"].clone();
        rows[0][15] == "failed(3)"
    });
    let row = gpuman.ask("status", "boss", &json!({}))["done_tasks"][0].clone();
    assert_eq!(row.as_array().map(Vec::len), Some(18));
    assert_eq!((&row[0], &row[1], &row[3]), (&"1".into(), &"ann".into(), &task()["cmd"]));

    assert!(gpuman.admin("stop").starts_with("完成"));
    let mut pinned = task();
    pinned["force_gpuids"] = json!("2,3");
    assert_eq!(gpuman.ask("create", "ann", &pinned)["ret"], "创建成功,任务ID 2");
    let mut change: Value = task();
    change.as_object_mut().expect("fields").values_mut().for_each(|value| *value = json!(""));
    change["tid"] = json!("2");
    change["timeout"] = json!("90.5");
    assert_eq!(gpuman.ask("update", "ann", &change)["ret"], "更新成功,任务ID 2");
    let row = gpuman.ask("query/ann", "boss", &json!({}))["wait_tasks"][0].clone();
    assert_eq!((&row[6], &row[7], &row[10]), (&"2".into(), &"2,3".into(), &"91.0".into()));
    assert!(gpuman.ask("cancel", "boss", &json!({ "tid": "2" }))["ret"].as_str().is_some());
    assert_eq!(gpuman.ask("query", "ann", &json!({}))["done_tasks"][1][15], "cancelled");
    assert_eq!(gpuman.ask("dump", "ann", &json!({ "cmd": "all" }))["ret"], "完成");
    assert_eq!(gpuman.ask("query", "ann", &json!({})), json!({}));
}

#[test]
fn who_is_not_let_in_is_told_so_in_gpumans_words() {
    let Some(gpuman) = gpuman() else { return };
    let wrong = |path: &str| {
        let mut body = task();
        body["passwd"] = json!("a wrong guess");
        gpuman.ask(path, "ann", &body)
    };
    assert_eq!(wrong("create")["ret"], "创建失败.");
    assert_eq!(wrong("status")["ret"], "查询失败.");
    let mut large = task();
    large["ngpu"] = json!("9");
    let said = gpuman.ask("create", "ann", &large);
    assert!(said["Exception"].as_str().is_some_and(|why| why.contains("9 GPUs")), "{said}");
    assert!(gpuman.ask("admin", "ann", &json!({ "cmd": "stop" }))["Exception"].is_string());
    let said = gpuman.ask("cancel", "ann", &json!({ "tid": "77" }));
    assert!(said["Exception"].is_string(), "{said}");
}

#[test]
fn administrators_have_their_commands() {
    let Some(gpuman) = gpuman() else { return };
    let made = gpuman.admin("useradd Zed");
    let password = made.rsplit(' ').next().expect("the last word").to_owned();
    let mut body = task();
    body["passwd"] = json!(password);
    assert_eq!(gpuman.ask("create", "Zed", &body)["ret"], "创建失败.", "until it is changed");
    body["new_passwd"] = json!("something of my own");
    assert_eq!(gpuman.ask("setting", "Zed", &body)["ret"], "成功.");
    assert!(gpuman.admin("addusers a b").lines().count() == 2);
    gpuman.admin("suadd a");
    gpuman.admin("lockuser b");
    let users = gpuman.ask("userinfo", "ann", &json!({}));
    assert!(users["admins"].to_string().contains("\"a\""), "{users}");
    gpuman.admin("prompt GPU 3 Is Away");
    assert_eq!(gpuman.daemon.say(&["announce"]), "GPU 3 Is Away\n", "as it was written");
    gpuman.admin("remove device 3");
    assert_eq!(gpuman.daemon.json(&["gpus", "--json"])["gpus"][3]["state"], "disabled");
    gpuman.admin("schedule fifo");
    assert!(gpuman.daemon.say(&["policy"]).starts_with("fifo"));
    for line in ["save state", "clear cache", "lock x", "reschedule"] {
        assert!(gpuman.admin(line).contains("nothing to do"), "{line}");
    }
    gpuman.admin("set auto_dump_thres 100");
    let said = gpuman.ask("admin", "boss", &json!({ "cmd": "set ctx.__class__ x" }));
    assert!(said["Exception"].is_string(), "{said}");
    let said = gpuman.ask("admin", "boss", &json!({ "cmd": "frobnicate" }));
    assert!(said["Exception"].is_string(), "{said}");
}

#[test]
fn what_runs_is_listed_with_its_process() {
    let Some(gpuman) = gpuman() else { return };
    let mut wanted = task();
    wanted["cmd"] = "sleep 600".into();
    gpuman.ask("create", "ann", &wanted);
    until("it runs, and its process is told", || {
        let listed = gpuman.ask("status", "ann", &json!({}));
        let pid = listed["run_tasks"][0][11].as_str().and_then(|pid| pid.parse::<u32>().ok());
        pid.is_some_and(|pid| fs::metadata(format!("/proc/{pid}")).is_ok())
    });
}
