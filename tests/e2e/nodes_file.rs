//! Machines listed in a file: added, changed and removed while the server runs; and those imported from another system.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::{fs, path::Path};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use fakeagent::{FakeAgent, facts, idle};
use serde_json::Value;

/// With `nodes.toml` beside its configuration.
fn server(nodes: &str) -> Daemon {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "").unwrap();
    fs::write(directory.path().join("nodes.toml"), nodes).unwrap();
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    Daemon::start_in(directory, setup)
}

fn node(daemon: &Daemon, name: &str) -> Option<Value> {
    let nodes = daemon.json(&["nodes", "--json"]);
    nodes["nodes"].as_array().unwrap().iter().find(|node| node["name"] == name).cloned()
}

/// As an editor does: a new file takes the place of the old one.
fn write(daemon: &Daemon, nodes: &str) {
    let path = daemon.directory().join("nodes.toml");
    fs::write(path.with_extension("new"), nodes).unwrap();
    fs::rename(path.with_extension("new"), path).unwrap();
}

#[test]
fn changes_of_the_nodes_file_take_effect() {
    let first = "[[node]]\nname = \"far\"\nssh = \"root@192.0.2.1\"\nlabels = { room = \"a\" }\n";
    let mut daemon = server(first);
    until("it is there", || node(&daemon, "far").is_some());
    assert_eq!(node(&daemon, "far").unwrap()["labels"]["room"], "a");
    assert_eq!(node(&daemon, "far").unwrap()["route"], "ssh root@192.0.2.1");

    // Changed, and another one added.
    let second = "[[node]]\nname = \"far\"\nssh = \"root@192.0.2.2:2222\"\nlabels = { rack = \"b\" }\n\
                  [[node]]\nname = \"dialling\"\ndial_in = true\n";
    write(&daemon, second);
    until("it has changed", || node(&daemon, "far").unwrap()["route"] == "ssh root@192.0.2.2:2222");
    until("the other is there", || node(&daemon, "dialling").is_some());
    let labels = node(&daemon, "far").unwrap()["labels"].clone();
    assert_eq!(labels, serde_json::json!({ "rack": "b" }));

    // What makes no sense changes nothing, and is told with its place.
    write(
        &daemon,
        "[[node]]\nname = \"far\"\nssh = \"x\"\n[[node]]\n  name = \"-bad\"\nssh = \"x\"\n",
    );
    until("it is told", || daemon.errors().contains("line 4, column 1"));
    assert!(daemon.errors().contains("-bad"), "{}", daemon.errors());
    write(&daemon, "[[node]]\nname = \"far\"\nssx = \"x\"\n");
    until("a wrong key is told", || daemon.errors().contains("line 3, column 1"));
    let said = daemon.ask(&["reload"]);
    assert_eq!(said.status, 64, "{said:?}");
    assert!(said.stderr.contains("ssx") && said.stderr.contains("line 3"), "{said:?}");
    assert!(node(&daemon, "dialling").is_some());

    // It is the same after a start; a token that was given is kept.
    write(&daemon, second);
    let token = daemon.json(&["node", "token", "dialling", "--json"])["token"].clone();
    daemon.crash_and_restart();
    until("it is there again", || node(&daemon, "dialling").is_some());
    let mut agent = join(&daemon, token.as_str().unwrap(), "dialling");

    // Taken out while something runs there: nothing new, and gone when that has ended.
    let id = daemon.submit("-w dialling -g 1", "true");
    let run = launch(&mut agent);
    daemon.wait_until(&id, "running");
    write(&daemon, first);
    until("it is drained", || node(&daemon, "dialling").unwrap()["schedulable"] == false);
    assert_eq!(daemon.state(&id), "running");
    agent.say(&fakeagent::ended(run, 3)).unwrap();
    until("it has gone", || node(&daemon, "dialling").is_none());
    assert_eq!(daemon.ask(&["wait", &id]).status, 3);

    // One that was added by hand is not the file's.
    daemon.say(&["node", "add", "mine", "--dial-in"]);
    write(&daemon, &format!("{first}[[node]]\nname = \"mine\"\nssh = \"root@192.0.2.3\"\n"));
    until("it is told", || daemon.errors().contains("added with a command"));
    write(&daemon, "");
    until("the file's is gone", || node(&daemon, "far").is_none());
    assert_eq!(node(&daemon, "mine").unwrap()["route"], "dials in");
}

fn join(daemon: &Daemon, token: &str, name: &str) -> FakeAgent {
    let mut agent = FakeAgent::join(daemon.address(), token, name).expect("let in");
    agent.wait_at_most(danlu::LONGEST).unwrap();
    loop {
        match agent.hear().unwrap().expect("a connection") {
            danlu_wire::ToAgent::AskReport => break,
            danlu_wire::ToAgent::AskFacts => agent.say(&facts()).unwrap(),
            _ => {}
        }
    }
    agent.say(&danlu_wire::FromAgent::Report(idle(name, 1))).unwrap();
    until("it is ready", || node(daemon, name).unwrap()["state"] == "ready");
    agent
}

fn launch(agent: &mut FakeAgent) -> danlu_core::RunId {
    loop {
        match agent.hear().unwrap().expect("a connection") {
            danlu_wire::ToAgent::Launch(order) => {
                agent.say(&fakeagent::started(order.run)).unwrap();
                return order.run;
            }
            danlu_wire::ToAgent::AskFacts => agent.say(&facts()).unwrap(),
            _ => {}
        }
    }
}

#[test]
fn a_machine_is_reached_in_another_way() {
    let daemon = server("[[node]]\nname = \"far\"\nssh = \"root@192.0.2.1\"\n");
    daemon.say(&["node", "add", "mine", "--ssh", "root@192.0.2.2", "--label", "room=a"]);
    daemon.say(&["node", "edit", "mine", "--ssh", "ops@192.0.2.3:2222", "--expect-gpus", "8"]);
    let now = node(&daemon, "mine").unwrap();
    assert_eq!(now["route"], "ssh ops@192.0.2.3:2222");
    assert_eq!(now["labels"]["room"], "a", "what was not said stays");
    daemon.say(&["node", "edit", "mine", "--role", "data"]);
    let now = node(&daemon, "mine").unwrap();
    assert_eq!((&now["role"], &now["route"]), (&"data".into(), &"ssh ops@192.0.2.3:2222".into()));
    let refused = daemon.ask(&["node", "undrain", "mine"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    daemon.say(&["node", "edit", "mine", "--role", "tasks"]);

    daemon.say(&["node", "add", "dials", "--dial-in"]);
    daemon.say(&["node", "revoke", "dials"]);
    let audit = daemon.say(&["audit"]);
    assert!(audit.contains("edit") && audit.contains("revoke token of"), "{audit}");
    let local = daemon.json(&["nodes", "--json"])["nodes"][0]["name"].as_str().unwrap().to_owned();
    until("it is there", || node(&daemon, "far").is_some());
    for (words, status) in [
        (vec!["mine"], 2),
        (vec!["mine", "--ssh", "$(id)"], 64),
        (vec!["mine", "--identity", "/no/such/key"], 64),
        (vec!["dials", "--ssh", "root@192.0.2.9"], 64),
        (vec!["far", "--expect-gpus", "1"], 64),
        (vec![local.as_str(), "--expect-gpus", "1"], 64),
        (vec!["nobody", "--expect-gpus", "1"], 69),
    ] {
        let said = daemon.ask(&[&["node", "edit"], words.as_slice()].concat());
        assert_eq!(said.status, status, "{words:?}: {said:?}");
        assert!(said.stderr.contains("hint:"), "{said:?}");
    }
}

#[test]
fn a_wrong_file_keeps_the_server_from_starting() {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("danlu.toml");
    let ask = |text: &str| {
        fs::write(&config, text).unwrap();
        let mut command = danlu::command("en");
        command.arg("up").arg("--data").arg(directory.path().join("data"));
        danlu::said(command.arg("--config").arg(&config).args(["--listen", "127.0.0.1:0"]))
    };
    for (text, words) in [
        ("[[node]]\nname = \"x\"\n", "line 1, column 1"),
        ("\n[[node]]\nname = \"a b\"\nssh = \"x\"\n", "line 2, column 1"),
        ("[[node]]\nname = \"x\"\nssh = \"$(id)\"\n", "$(id)"),
        (
            "[[node]]\nname = \"x\"\nssh = \"y\"\n[[node]]\nname = \"x\"\nssh = \"y\"\n",
            "duplicate name",
        ),
        ("[[node]]\nname = \"x\"\nssh = \"y\"\nidentity = \"/no/such/key\"\n", "/no/such/key"),
    ] {
        let said = ask(text);
        assert_eq!(said.status, 64, "{said:?}");
        assert!(said.stderr.contains(words), "{words}: {said:?}");
    }
}

#[test]
fn machines_of_the_master_slave_manager_are_imported() {
    let daemon = server("");
    let list = r#"[
      {"name": "Slaver1", "ip": "192.0.2.11", "user_name": "aaaaa", "gpu_count": 3, "gpu_info": ["RTX3090", "RTX3090", "RTX1080ti"]},
      {"name": "Slaver2", "ip": "192.0.2.12", "user_name": "aaaaa", "gpu_count": 2, "gpu_info": ["RTX3090", "RTX3090"]}
    ]"#;
    let file = daemon.directory().join("gpu_slaver_info.json");
    fs::write(&file, list).unwrap();
    let import = |file: &Path, more: &[&str]| {
        let path = file.display().to_string();
        daemon.ask(&[&["node", "import", &path], more].concat())
    };
    let said = import(&file, &["--dry-run"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("ssh aaaaa@192.0.2.11"), "{said:?}");
    assert!(node(&daemon, "Slaver1").is_none());
    assert_eq!(import(&file, &[]).status, 0);
    let second = node(&daemon, "Slaver2").unwrap();
    assert_eq!(
        (&second["route"], &second["labels"]["gpu"]),
        (&"ssh aaaaa@192.0.2.12".into(), &"RTX3090".into())
    );
    // Again: they are there already, which is told of each.
    let said = import(&file, &[]);
    assert_eq!(said.status, 64, "{said:?}");
    assert!(said.stderr.contains("Slaver1") && said.stderr.contains("Slaver2"), "{said:?}");
    for bad in ["{}", "[{\"name\": 3}]", "no"] {
        fs::write(&file, bad).unwrap();
        let said = import(&file, &[]);
        assert_eq!(said.status, 2, "{said:?}");
        assert!(said.stderr.contains("gpu_slaver_info.json"), "{said:?}");
    }
}
