//! People are told: from a task to a message at the receiver, over failures, restarts and crashes.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::Connection;
use crate::support::receiver::{Behaviour, Received, Receiver};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use tempfile::TempDir;

/// A server with this `[notify]`; `{dir}` stands for the test's directory.
fn server(notify: &str) -> Daemon {
    server_with(notify, |_| ())
}

fn server_with(notify: &str, prepare: impl FnOnce(&TempDir)) -> Daemon {
    let directory = tempfile::tempdir().expect("a directory");
    prepare(&directory);
    let path = directory.path().join("danlu.toml");
    let text = notify.replace("{dir}", &directory.path().display().to_string());
    fs::write(&path, text).expect("a file");
    let mut setup = Setup::simulated(2);
    setup.arguments.extend(["--config".to_owned(), path.display().to_string()]);
    Daemon::start_in(directory, setup)
}

fn hook(receiver: &Receiver) -> String {
    format!("[notify.webhook.hook]\nurl = \"{}\"\n", receiver.url())
}

fn of_task<'a>(messages: &'a [Received], id: &str) -> Vec<&'a Received> {
    let id: u64 = id.parse().expect("an id");
    messages.iter().filter(|it| it.body["task"]["id"] == id).collect()
}

fn secret(directory: &TempDir, name: &str, text: &str) {
    let path = directory.path().join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

#[test]
fn start_and_end_of_a_task_are_told_in_order_and_signed() {
    let receiver = Receiver::start();
    let config = format!("{}secret_file = \"{{dir}}/secret\"\n", hook(&receiver));
    let daemon = server_with(&config, |directory| secret(directory, "secret", "key\n"));
    let id = daemon.submit("-J train --notify start,end:hook", "echo one; echo two >&2; exit 3");
    assert_eq!(daemon.ask(&["wait", &id]).status, 3);
    let messages = receiver.wait_for("start and end", |all| all.len() >= 2);
    let kinds: Vec<&str> = messages.iter().map(Received::kind).collect();
    assert_eq!(kinds, ["start", "end"]);
    let end = &messages[1];
    assert_eq!(end.body["task"]["state"], "failed");
    assert_eq!(end.body["task"]["exit_code"], 3);
    assert_eq!(end.body["task"]["failure"]["class"], "other");
    assert_eq!(end.body["last_lines"], json!(["one", "two"]));
    assert_eq!(end.body["id"], end.header("danlu-id"));
    let (time, sign) = end.header("danlu-signature").split_once(",v1=").expect("a signature");
    let time = time.trim_start_matches("t=");
    let signed = daemon.directory().join("signed");
    fs::write(&signed, format!("{time}.{}", end.text)).expect("a file");
    let openssl = Command::new("openssl")
        .args(["dgst", "-sha256", "-hmac", "key", "-r"])
        .arg(&signed)
        .output();
    let openssl = String::from_utf8(openssl.expect("openssl runs").stdout).expect("text");
    assert_eq!(openssl.split_whitespace().next(), Some(sign), "anybody can check it");
}

#[test]
fn a_task_that_is_not_to_be_told_of_is_not() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    let quiet = daemon.submit("", "true");
    let good = daemon.submit("--notify fail:hook", "true");
    let none = daemon.submit("--notify none", "false");
    let bad = daemon.submit("--notify fail:hook", "false");
    daemon.ask(&["wait", &quiet, &good, &none, &bad]);
    receiver.wait_for("the failure", |all| !all.is_empty());
    // Another one behind it: nothing came in between.
    let last = daemon.submit("--notify end:hook", "true");
    let all = receiver.wait_for("the last", |all| !of_task(all, &last).is_empty());
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[0].body["task"]["id"].to_string(), bad);
}

#[test]
fn channels_that_are_not_there_are_refused_with_a_hint() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    let said = daemon.ask(&["submit", "--notify", "end:hok", "--", "true"]);
    assert_eq!(said.status, 64, "{said:?}");
    assert!(
        said.stderr.contains("no channel `hok`") && said.stderr.contains("did you mean hook?"),
        "{said:?}"
    );
    let said = daemon.ask(&["submit", "--notify", "end:a@x.org", "--", "true"]);
    assert!(said.status == 64 && said.stderr.contains("sends no mail"), "{said:?}");
    let said = daemon.ask(&["submit", "--notify", "end:a b@x", "--", "true"]);
    assert_eq!(said.status, 64, "{said:?}");
    let id = daemon.submit("--hold --notify end:hook", "true");
    assert!(daemon.say(&["show", &id]).contains("end:hook"));
    daemon.say(&["edit", &id, "--notify", "fail:hook"]);
    assert_eq!(daemon.show(&id)["notify"], json!([{"on": ["fail"], "to": "hook"}]));
}

#[test]
fn what_could_not_be_sent_is_sent_once_when_the_receiver_is_back() {
    let receiver = Receiver::start();
    let mut daemon = server(&hook(&receiver));
    receiver.set(Behaviour::Refuses(503));
    let first = daemon.submit("--notify start,end:hook", "true");
    daemon.ask(&["wait", &first]);
    receiver.wait_for_requests(1);
    until("administrators see it", || daemon.say(&["notify", "list"]).contains("HTTP 503"));
    // In the midst of it, and with a receiver that takes a message without saying so.
    receiver.set(Behaviour::TakesAndHangsUp);
    daemon.crash_and_restart();
    let second = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &second]);
    receiver.set(Behaviour::Takes);
    daemon.crash_and_restart();
    let all = receiver.wait_for("all three", |all| {
        of_task(all, &first).len() == 2 && of_task(all, &second).len() == 1
    });
    let kinds: Vec<&str> = of_task(&all, &first).iter().map(|it| it.kind()).collect();
    assert_eq!(kinds, ["start", "end"], "in order");
    let told: Vec<&str> = all.iter().map(Received::kind).collect();
    assert_eq!(told.len(), 3, "{told:?}: each once, {} were repeated", receiver.repeated());
    until("all are sent", || !daemon.say(&["notify", "list"]).contains("waiting"));
}

#[test]
fn a_receiver_that_hangs_delays_nobody_else() {
    let (slow, quick) = (Receiver::start(), Receiver::start());
    let config = format!("{}[notify.webhook.quick]\nurl = \"{}\"\n", hook(&slow), quick.url());
    let daemon = server(&config);
    slow.set(Behaviour::Hangs);
    let id = daemon.submit("--notify end:hook --notify end:quick", "true");
    daemon.ask(&["wait", &id]);
    slow.wait_for_requests(1);
    quick.wait_for("the message", |all| all.len() == 1);
    let other = daemon.submit("--notify end:quick", "true");
    assert_eq!(daemon.ask(&["wait", &other]).status, 0, "tasks go on");
    quick.wait_for("the next", |all| all.len() == 2);
}

#[test]
fn a_refusal_is_final_and_shown() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    receiver.set(Behaviour::Refuses(404));
    let id = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &id]);
    until("it has failed", || {
        let failed = daemon.json(&["notify", "list", "--failed", "--json"]);
        failed["messages"][0]["answer"].as_str().is_some_and(|it| it.contains("404"))
    });
    let said = daemon.ask(&["notify", "test", "hook"]);
    assert!(said.status == 64 && said.stderr.contains("HTTP 404"), "{said:?}");
    receiver.set(Behaviour::Takes);
    assert!(daemon.say(&["notify", "test", "hook"]).contains("HTTP 204"));
    assert_eq!(receiver.messages()[0].kind(), "test");
}

#[test]
fn a_thousand_elements_that_fail_are_one_message() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    daemon.say(&["set", "notify.digest", "3s"]);
    let first = daemon.submit("-g 0 --array 0-999 -J sweep --notify fail:hook", "echo no; exit 7");
    daemon.ask(&["wait", &format!("{first}-{}", first.parse::<u64>().expect("an id") + 999)]);
    let sum = |all: &[Received]| -> u64 {
        all.iter().filter_map(|it| it.body["counts"]["failed"].as_u64()).sum()
    };
    let all = receiver.wait_for("all of them", |all| sum(all) >= 1_000);
    assert_eq!((all.len(), sum(&all)), (1, 1_000), "{all:?}");
    assert_eq!(all[0].kind(), "digest");
    assert_eq!(all[0].body["array"].to_string(), first);
    assert_eq!(all[0].body["failures"].as_array().map(Vec::len), Some(5));
    let title = all[0].body["title"].as_str().expect("a title");
    assert_eq!(title, format!("Array {first} (sweep): 1000 failed"));
}

#[test]
fn in_quiet_hours_a_person_is_told_nothing() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    let now = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC);
    let hour = |shift: i64| {
        let at = now.checked_add(jiff::Span::new().hours(shift)).expect("a time");
        at.strftime("%H:%M").to_string()
    };
    let quiet = json!({"from": hour(-1), "to": hour(2), "zone": "UTC"});
    let wanted = json!({"notify": {"success": true, "channels": ["hook"], "quiet": quiet}});
    let said = Connection::open(daemon.socket()).json("PATCH /api/v1/me", &wanted);
    assert_eq!(said.status, 200, "{said:?}");
    let waits = daemon.submit("", "true");
    daemon.ask(&["wait", &waits]);
    // A task that names the channel is told of at once.
    let named = daemon.submit("--notify end:hook", "true");
    let all = receiver.wait_for("the second", |all| !all.is_empty());
    assert_eq!(all[0].body["task"]["id"].to_string(), named);
    assert_eq!(all.len(), 1);
    let bad = json!({"notify": {"quiet": {"from": "22:00", "to": "x"}}});
    let said = Connection::open(daemon.socket()).json("PATCH /api/v1/me", &bad);
    assert_eq!(said.status, 409, "{said:?}");
}

#[test]
fn nobody_sees_the_messages_of_others() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    let id = daemon.submit("--notify end:hook", "false");
    daemon.ask(&["wait", &id]);
    receiver.wait_for("the message", |all| all.len() == 1);
    let user = json!({"name": "ann", "password": "correct horse"});
    let admin = daemon.say(&["token", "new", "t", "-q", "--scope", "admin"]);
    let admin = format!("authorization: Bearer {}\r\n", admin.trim());
    let ask = |request: &str, headers: &str, body: &serde_json::Value| {
        Connection::to(daemon.address()).ask(request, headers, body.to_string().as_bytes())
    };
    assert_eq!(ask("POST /api/v1/users", &admin, &user).status, 201);
    let session = json!({"user": "ann", "password": "correct horse"});
    let session = ask("POST /api/v1/session", "", &session);
    let cookie = session.header("set-cookie").and_then(|it| it.split(';').next()).expect("one");
    let ann = format!("cookie: {cookie}\r\n");
    let all = ask("GET /api/v1/notify/messages", &admin, &json!({}));
    assert_eq!(all.body["messages"].as_array().map(Vec::len), Some(1));
    let hers = ask("GET /api/v1/notify/messages", &ann, &json!({}));
    assert_eq!(hers.body["messages"].as_array().map(Vec::len), Some(0), "{hers:?}");
}

#[test]
fn evidence_goes_to_the_owner_and_announcements_to_who_wants_them() {
    let (ops, own) = (Receiver::start(), Receiver::start());
    let config = format!(
        "[notify]\nadmins = [\"ops\"]\n[notify.webhook.ops]\nurl = \"{}\"\n[notify.webhook.own]\nurl = \"{}\"\n",
        ops.url(),
        own.url()
    );
    let daemon = server(&config);
    daemon.say(&["announce", "maintenance tonight"]);
    let id = daemon.submit("--notify fail:own", "echo secret line >&2; exit 1");
    daemon.ask(&["wait", &id]);
    let told = own.wait_for("the failure", |all| all.len() == 1);
    assert!(told[0].text.contains("secret line"));
    let wanted = json!({"notify": {"announcement": true, "channels": ["own"]}});
    assert_eq!(Connection::open(daemon.socket()).json("PATCH /api/v1/me", &wanted).status, 200);
    daemon.say(&["announce", "maintenance tomorrow"]);
    let told = own.wait_for("the announcement", |all| all.len() == 2);
    assert_eq!(told[1].body["announcement"], "maintenance tomorrow");
    assert!(ops.messages().iter().all(|it| !it.text.contains("secret line")));
}

#[test]
fn a_command_is_run_and_a_reload_changes_channels() {
    let daemon = server("[notify.command.log]\ncommand = \"cat >> {dir}/log\"\n");
    let id = daemon.submit("--notify end:log", "true");
    daemon.ask(&["wait", &id]);
    let log = daemon.directory().join("log");
    until("it was written", || {
        fs::read_to_string(&log).is_ok_and(|text| text.contains(&format!("\"id\":{id},")))
    });
    let receiver = Receiver::start();
    fs::write(daemon.directory().join("danlu.toml"), hook(&receiver)).expect("a file");
    daemon.say(&["reload"]);
    assert_eq!(daemon.ask(&["submit", "--notify", "end:log", "--", "true"]).status, 64);
    let id = daemon.submit("--notify end:hook", "true");
    receiver.wait_for("the message", |all| !of_task(all, &id).is_empty());
    fs::write(daemon.directory().join("danlu.toml"), "[notify.webhook.hook]\n").expect("a file");
    assert_eq!(daemon.ask(&["reload"]).status, 64, "a mistake changes nothing");
    assert_eq!(daemon.json(&["notify", "channels", "--json"])["channels"][0]["name"], "hook");
}

#[test]
fn secrets_are_nowhere_to_be_seen() {
    let receiver = Receiver::start();
    let address = format!("http://{}/services/T000/token-of-chat", receiver.address);
    let config = format!(
        "[notify.slack.chat]\nurl = \"{address}\"\n{}secret_file = \"{{dir}}/secret\"\n",
        hook(&receiver)
    );
    let daemon = server_with(&config, |directory| secret(directory, "secret", "key-of-hook"));
    receiver.set(Behaviour::Refuses(500));
    let id = daemon.submit("--notify end:chat --notify end:hook", "true");
    daemon.ask(&["wait", &id]);
    receiver.wait_for_requests(2);
    until("both are tried", || daemon.say(&["notify", "list"]).matches("HTTP 500").count() == 2);
    let test = daemon.ask(&["notify", "test", "chat"]);
    let shown = [
        daemon.say(&["config", "show"]),
        daemon.say(&["notify", "list", "--json"]),
        daemon.say(&["notify", "channels", "--json"]),
        daemon.say(&["logs", "server"]),
        daemon.say(&["notices"]),
        format!("{test:?}"),
        daemon.errors(),
    ];
    for text in shown {
        assert!(!text.contains("token-of-chat") && !text.contains("key-of-hook"), "{text}");
    }
}

#[test]
fn a_secret_that_others_can_read_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let secret = directory.path().join("secret");
    fs::write(&secret, "key").expect("a file");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let config = directory.path().join("danlu.toml");
    let text =
        format!("[notify.webhook.a]\nurl = \"http://x\"\nsecret_file = \"{}\"", secret.display());
    fs::write(&config, text).expect("a file");
    let data = directory.path().join("data").display().to_string();
    let config = config.display().to_string();
    let said = crate::support::danlu::danlu(
        "en",
        &format!("up --data {data} --config {config} --listen 127.0.0.1:0"),
    );
    assert!(said.status != 0 && said.stderr.contains("chmod 600"), "{said:?}");
}

#[test]
fn free_gpus_are_told_once_or_each_time() {
    let receiver = Receiver::start();
    let daemon = server(&hook(&receiver));
    let wanted = json!({"notify": {"channels": ["hook"]}});
    assert_eq!(Connection::open(daemon.socket()).json("PATCH /api/v1/me", &wanted).status, 200);
    let go = daemon.directory().join("go");
    let waits = |name: &str| format!("while [ ! -e {}.{name} ]; do sleep 0.05; done", go.display());
    let end = |name: &str| fs::write(format!("{}.{name}", go.display()), "").expect("a file");
    let first = daemon.submit("-g 2", &waits("1"));
    daemon.wait_until(&first, "running");
    daemon.say(&["notify", "when-free", "-g", "2"]);
    daemon.say(&["notify", "when-free", "-g", "1", "--always"]);
    assert_eq!(daemon.ask(&["notify", "when-free", "-g", "2", "--node", "nowhere"]).status, 64);
    assert_eq!(
        daemon.json(&["notify", "when-free", "--list", "--json"])["watches"]
            .as_array()
            .map(Vec::len),
        Some(2)
    );
    assert!(receiver.messages().is_empty());
    end("1");
    receiver.wait_for("both alerts", |all| all.len() == 2);
    assert!(receiver.messages().iter().all(|it| it.kind() == "gpus_free"));
    let second = daemon.submit("-g 2", &waits("2"));
    daemon.wait_until(&second, "running");
    end("2");
    let all = receiver.wait_for("one of them again", |all| all.len() == 3);
    assert!(all[2].body["title"].as_str().is_some_and(|it| it.contains("-g 1")), "{all:?}");
    let left = daemon.json(&["notify", "when-free", "--list", "--json"]);
    assert_eq!(left["watches"].as_array().map(Vec::len), Some(1));
    let id = left["watches"][0]["id"].to_string();
    daemon.say(&["notify", "when-free", "--cancel", &id]);
    assert_eq!(daemon.ask(&["notify", "when-free", "--cancel", &id]).status, 69);
}

#[test]
fn a_restored_database_tells_nothing_old_again() {
    let receiver = Receiver::start();
    let mut daemon = server(&hook(&receiver));
    let id = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &id]);
    receiver.wait_for("the message", |all| all.len() == 1);
    daemon.terminate();
    let database = daemon.data().join("danlu.db");
    let bytes = fs::read(&database).expect("the database");
    daemon.start_again();
    let later = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &later]);
    receiver.wait_for("the next", |all| all.len() == 2);
    daemon.terminate();
    fs::write(&database, bytes).expect("a restore");
    daemon.add_argument("--accept-loss");
    daemon.start_again();
    daemon.terminate();
    fs::remove_file(daemon.data().join("notify.db")).expect("it is there");
    daemon.start_again();
    let new = daemon.submit("--notify end:hook", "true");
    daemon.ask(&["wait", &new]);
    let all = receiver.wait_for("the new one", |all| !of_task(all, &new).is_empty());
    assert_eq!(all.len(), 3, "{all:?}");
}
