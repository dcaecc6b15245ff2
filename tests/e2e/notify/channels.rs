//! Which channels there are: mistakes are refused, and secrets stay secret.

use super::{hook, of_task, secret, server, server_with};
use crate::support::daemon::until;
use crate::support::receiver::{Behaviour, Receiver};
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

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
fn a_default_that_goes_nowhere_is_refused() {
    let receiver = Receiver::start();
    let default = |to: &str| {
        format!("{}[[defaults.task.notify]]\non = [\"end\"]\nto = \"{to}\"\n", hook(&receiver))
    };
    let daemon = server(&default("hook"));
    let id = daemon.submit("", "true");
    receiver.wait_for("the message", |all| !of_task(all, &id).is_empty());
    let file = daemon.directory().join("danlu.toml");
    for wrong in ["hok", "a@x.org", "email"] {
        fs::write(&file, default(wrong)).expect("a file");
        let said = daemon.ask(&["reload"]);
        let named = said.stderr.contains("[defaults.task]") && said.stderr.contains(wrong);
        assert!(said.status == 64 && named, "{said:?}");
    }
    let data = daemon.directory().join("other").display().to_string();
    let config = file.display().to_string();
    let said = crate::support::danlu::danlu(
        "en",
        &format!("up --data {data} --config {config} --listen 127.0.0.1:0"),
    );
    assert!(said.status != 0 && said.stderr.contains("no channel `email`"), "{said:?}");
}
