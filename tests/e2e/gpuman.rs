//! gpuman's JSON interface, as its command line and its users' scripts use it.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::Connection;
use crate::support::smtp_sink::SmtpSink;
use serde_json::{Map, Value, json};
use std::fs;

struct GpumanServer {
    daemon: Daemon,
}

fn gpuman() -> GpumanServer {
    gpuman_with(Setup::simulated(4))
}

fn gpuman_with(setup: Setup) -> GpumanServer {
    gpuman_configured(setup, "")
}

fn gpuman_configured(mut setup: Setup, more: &str) -> GpumanServer {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, format!("[compat]\ngpuman = true\n{more}")).expect("it can be written");
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
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
    GpumanServer { daemon }
}

impl GpumanServer {
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
    let gpuman = gpuman();
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
    // They are written down, and stay.
    let done = gpuman.ask("query", "ann", &json!({}))["done_tasks"].take();
    assert_eq!(done.as_array().map(Vec::len), Some(2));
    let archive =
        fs::read_to_string(gpuman.daemon.data().join("archive.jsonl")).expect("it is there");
    assert_eq!(archive.lines().count(), 2);
}

#[test]
fn who_is_not_let_in_is_told_so_in_gpumans_words() {
    let gpuman = gpuman();
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
    assert!(said["Exception"].as_str().is_some_and(|why| why.contains('9')), "{said}");
    assert!(gpuman.ask("admin", "ann", &json!({ "cmd": "stop" }))["Exception"].is_string());
    let said = gpuman.ask("cancel", "ann", &json!({ "tid": "77" }));
    assert!(said["Exception"].is_string(), "{said}");
}

#[test]
fn administrators_have_their_commands() {
    let gpuman = gpuman();
    let made = gpuman.admin("useradd Zed");
    let password = made.rsplit(' ').next().expect("the last word").to_owned();
    let mut body = task();
    body["passwd"] = json!(password);
    assert_eq!(gpuman.ask("create", "Zed", &body)["ret"], "创建失败.", "until it is changed");
    body["new_passwd"] = json!("something of my own");
    let said = gpuman.ask("setting", "Zed", &body);
    assert!(said["ret"].as_str().is_some_and(|ret| ret.starts_with("成功.")), "{said}");
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
        assert!(gpuman.admin(line).contains("无需处理"), "{line}");
    }
    gpuman.admin("set auto_dump_thres 100");
    let said = gpuman.ask("admin", "boss", &json!({ "cmd": "set ctx.__class__ x" }));
    assert!(said["Exception"].is_string(), "{said}");
    let said = gpuman.ask("admin", "boss", &json!({ "cmd": "frobnicate" }));
    assert!(said["Exception"].is_string(), "{said}");
}

#[test]
fn what_runs_is_listed_with_its_process() {
    let gpuman = gpuman();
    let mut wanted = task();
    wanted["cmd"] = "sleep 600".into();
    gpuman.ask("create", "ann", &wanted);
    until("it runs, and its process is told", || {
        let listed = gpuman.ask("status", "ann", &json!({}));
        let pid = listed["run_tasks"][0][11].as_str().and_then(|pid| pid.parse::<u32>().ok());
        pid.is_some_and(|pid| fs::metadata(format!("/proc/{pid}")).is_ok())
    });
}

/// Names, numbers and gpuman's own words are the only Latin letters in what it says.
#[track_caller]
fn chinese(said: &str) {
    let known = [
        "GPU",
        "JSON",
        "None",
        "round_tid",
        "Zed",
        "fifo",
        "auto_dump_thres",
        "auto_dump_p",
        "ctx.prompt",
    ];
    let plain = known.iter().fold(said.to_owned(), |text, word| text.replace(word, ""));
    let quoted: String = plain.split('`').step_by(2).collect();
    assert!(!quoted.contains(|letter: char| letter.is_ascii_alphabetic()), "{said}");
}

#[test]
fn answers_to_administrators_are_in_chinese_throughout() {
    let gpuman = gpuman();
    let made = gpuman.admin("useradd Zed");
    let (words, password) = made.rsplit_once(' ').expect("a password");
    assert!(password.len() >= 8 && words.contains("已添加 Zed"), "{made}");
    chinese(words);
    let lines = [
        "suadd Zed",
        "sudel Zed",
        "lockuser Zed",
        "unlockuser Zed",
        "userdel Zed",
        "stop",
        "start",
        "force stop",
        "start",
        "schedule fifo",
        "prompt hello",
        "prompt None",
        "remove device 3",
        "add device 3",
        "dump all",
        "set auto_dump_thres 100",
        "save state",
        "reschedule",
    ];
    for line in lines {
        let said = gpuman.admin(line);
        assert!(said.starts_with("完成: "), "{line}: {said}");
        chinese(&said);
    }
    for line in [
        "frobnicate",
        "set ctx.x 1",
        "move a 1",
        "schedule nothing",
        "add device",
        "suadd",
        "lockuser nobody",
    ] {
        let said = gpuman.ask("admin", "boss", &json!({ "cmd": line }));
        chinese(said["Exception"].as_str().unwrap_or_else(|| panic!("{line}: {said}")));
    }
}

#[test]
fn ids_are_never_reused_whatever_round_tid_is_set_to() {
    let gpuman = gpuman();
    assert_eq!(gpuman.admin("set round_tid 2"), "完成: 无需处理: 任务编号从不重复使用");
    for id in 1..=3 {
        assert_eq!(gpuman.ask("create", "ann", &task())["ret"], format!("创建成功,任务ID {id}"));
    }
}

#[test]
fn every_address_of_a_task_gets_a_mail_at_its_start_and_at_its_end() {
    let Some(sink) = SmtpSink::start(&[]) else { return };
    let mail = format!(
        "[notify.email]\nsmtp = \"smtp://127.0.0.1:{}\"\nfrom = \"danlu@lab.example\"\nsubject = \"服务器通知\"\n",
        sink.port
    );
    let gpuman = gpuman_configured(Setup::simulated(1), &mail);
    let here = gpuman.daemon.directory().to_str().expect("it is UTF-8").to_owned();
    let task =
        json!({ "cmd": "true", "wkd": here, "ngpu": "0", "email": "a@lab.example; b@lab.example" });
    assert_eq!(gpuman.ask("create", "ann", &task)["ret"], "创建成功,任务ID 1");
    let quiet = json!({ "cmd": "true", "wkd": here, "ngpu": "0", "email": "None" });
    assert_eq!(gpuman.ask("create", "ann", &quiet)["ret"], "创建成功,任务ID 2");
    gpuman.daemon.say(&["wait", "1", "2"]);
    let mails = sink.wait_for(4);
    let mut to: Vec<String> = mails.iter().map(|mail| mail.header("X-Recipient")).collect();
    to.sort();
    assert_eq!(to, ["a@lab.example", "a@lab.example", "b@lab.example", "b@lab.example"]);
    assert!(mails.iter().all(|mail| mail.decoded().0 == "服务器通知"));
}

#[test]
fn the_default_command_and_mail_address_of_a_user_are_kept_and_used() {
    let gpuman = gpuman();
    let here = gpuman.daemon.directory().to_str().expect("it is UTF-8").to_owned();
    fs::write(gpuman.daemon.directory().join("activate"), "WHO=template\n").expect("a file");
    let settings = json!({
        "cmd": "source ./activate && echo $WHO", "wkd": here, "stdout": "out.txt", "ngpu": "0",
        "email": "ann@lab.example",
    });
    let said = gpuman.ask("setting", "ann", &settings)["ret"].clone();
    assert_eq!(said, "成功.邮箱已保存,但服务器未配置邮件,目前不会发送邮件.");
    let token = json!({ "new_passwd": "correct horse" });
    assert_eq!(gpuman.ask("setting", "ann", &token)["ret"], "成功.", "the template stays");
    // As gpuman's own program sends what its user leaves empty.
    let empty =
        json!({ "cmd": "", "wkd": "", "stdout": "", "stderr": "", "ngpu": "", "email": "" });
    assert_eq!(gpuman.ask("create", "ann", &empty)["ret"], "创建成功,任务ID 1");
    gpuman.daemon.say(&["wait", "1"]);
    let printed = fs::read_to_string(gpuman.daemon.directory().join("out.txt"));
    assert_eq!(printed.expect("the file of the template"), "template\n");
    let row = gpuman.ask("query", "ann", &json!({}))["done_tasks"][0].clone();
    assert_eq!(
        (&row[6], &row[15], &row[16]),
        (&"0".into(), &"done".into(), &"ann@lab.example".into())
    );
    let users = gpuman.daemon.json(&["user", "list", "--json"])["users"].clone();
    let ann = users.as_array().expect("a list").iter().find(|it| it["name"] == "ann").cloned();
    assert_eq!(ann.expect("she is there")["email"], "ann@lab.example");

    let mut own = task();
    own["email"] = json!("None");
    gpuman.ask("create", "ann", &own);
    gpuman.daemon.ask(&["wait", "2"]);
    assert_eq!(gpuman.ask("query", "ann", &json!({}))["done_tasks"][1][16], "");
    let wrong = gpuman.ask("setting", "ann", &json!({ "email": "nobody" }));
    assert_eq!(wrong["Exception"], "邮箱地址无效");
}

#[test]
fn devices_are_named_with_their_machine_where_there_are_several() {
    let gpuman = gpuman();
    // A second machine that has not been reached yet: that there are two is enough.
    gpuman.daemon.say(&["node", "add", "n1", "--dial-in"]);
    let nodes = gpuman.daemon.json(&["nodes", "--json"])["nodes"].clone();
    let names: Vec<&str> =
        nodes.as_array().expect("a list").iter().filter_map(|it| it["name"].as_str()).collect();
    let here = *names.iter().find(|name| **name != "n1").expect("this machine");
    assert_eq!(names.len(), 2, "{names:?}");
    let said = gpuman.ask("admin", "boss", &json!({ "cmd": "remove device 3" }));
    assert_eq!(said["Exception"], "有多台机器,请写 机器:编号,例如 gpu7:3");
    let state =
        |index: usize| gpuman.daemon.json(&["gpus", "--json"])["gpus"][index]["state"].clone();
    gpuman.admin(&format!("remove device {here}:2 {here}:3"));
    assert_eq!(
        (state(1), state(2), state(3)),
        ("free".into(), "disabled".into(), "disabled".into())
    );
    gpuman.admin(&format!("add device {here}:3"));
    assert_eq!((state(2), state(3)), ("disabled".into(), "free".into()));
    let said = gpuman.ask("admin", "boss", &json!({ "cmd": "remove device nowhere:3" }));
    assert_eq!(said["Exception"], "没有机器 nowhere");
}
