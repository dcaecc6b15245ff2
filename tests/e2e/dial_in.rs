//! Machines that dial in: the real agent over TLS.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::{
    fs,
    net::TcpListener,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use crate::support::http::Connection;
use crate::support::os_user::{OsUser, open_to_all};
use serde_json::json;

struct DialInServer {
    daemon: Daemon,
    /// `https://localhost:…`
    url: String,
}

/// A server that can be started again at the same address.
fn place() -> DialInServer {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).unwrap().port();
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--listen".to_owned(), format!("0.0.0.0:{port}")]);
    let daemon = Daemon::start_with(setup);
    DialInServer { daemon, url: format!("https://localhost:{port}") }
}

impl DialInServer {
    /// The token of a new machine with two simulated GPUs.
    fn add(&self, name: &str) -> String {
        self.add_with(name, &[])
    }

    fn add_with(&self, name: &str, more: &[&str]) -> String {
        let data = self.daemon.directory().join(name).display().to_string();
        let words =
            ["node", "add", name, "--dial-in", "--sim-gpus", "2", "--data", &data, "--json"];
        let added = self.daemon.json(&[&words[..], more].concat());
        added["token"].as_str().expect("a token").to_owned()
    }

    fn join(&self, token: &str) -> Agent {
        self.join_as(token, "")
    }

    /// On a machine that is called so, where that is not empty.
    fn join_as(&self, token: &str, host: &str) -> Agent {
        let errors = self.daemon.directory().join("agent.err");
        let errors = fs::File::options().create(true).append(true).open(errors).unwrap();
        let mut command = Command::new("unshare");
        // Another machine has other disks, too.
        let line = match host {
            "" => "exec \"$@\"",
            _ => "hostname \"$0\" && mount -t tmpfs none \"$DISK\" && exec \"$@\"",
        };
        command.env("DISK", self.daemon.directory());
        command.args(["--uts", "--mount", "sh", "-c", line, host]);
        command.args([danlu::BUILT, "agent", "join", &self.url]);
        command.args(["--token", token]).stdin(Stdio::null()).stderr(errors);
        Agent(command.spawn().expect("it starts"))
    }

    fn node(&self, name: &str) -> serde_json::Value {
        let nodes = self.daemon.json(&["nodes", "--json"]);
        let all = nodes["nodes"].as_array().unwrap();
        all.iter().find(|node| node["name"] == name).unwrap().clone()
    }

    fn node_that_is_not(&self, name: &str) -> String {
        let nodes = self.daemon.json(&["nodes", "--json"]);
        let mut names = nodes["nodes"].as_array().unwrap().iter().map(|node| &node["name"]);
        names.find(|it| **it != name).unwrap().as_str().unwrap().to_owned()
    }

    fn wait_for(&self, name: &str, state: &str) {
        until(&format!("{name} is {state}"), || self.node(name)["state"] == state);
    }
}

struct Agent(Child);

impl Agent {
    fn arguments(&self) -> String {
        let bytes = fs::read(format!("/proc/{}/cmdline", self.0.id())).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_root() -> bool {
    let root = nix::unistd::geteuid().is_root();
    if !root {
        crate::support::danlu::skip("a machine with another name needs root");
    }
    root
}

#[test]
fn a_machine_dials_in_runs_tasks_and_comes_back() {
    if !is_root() {
        return;
    }
    let mut place = place();
    let token = place.add("far");
    assert_eq!(place.node("far")["state"], "down");
    assert!(place.daemon.say(&["nodes"]).contains("far"), "it is listed before it has come");
    let agent = place.join(&token);
    place.wait_for("far", "ready");
    // Nobody else on the machine sees the token.
    let secret = token.split('.').next().unwrap();
    until("the token is hidden", || !agent.arguments().contains(secret));
    assert!(!place.daemon.errors().contains(secret));

    let id = place.daemon.submit("-w far -g 2", "echo $DANLU_NODE; exit 5");
    assert_eq!(place.daemon.ask(&["wait", &id]).status, 5);
    assert_eq!(place.daemon.say(&["logs", &id]), "far\n");

    // The server is killed, then the agent; the task knows of neither.
    let gate = place.daemon.directory().join("gate");
    let line =
        format!("echo begun; while ! [ -e {} ]; do sleep 0.05; done; exit 7", gate.display());
    let id = place.daemon.submit("-w far -g 1", &line);
    until("it has begun", || place.daemon.ask(&["logs", &id]).stdout.contains("begun"));
    place.daemon.crash_and_restart();
    place.wait_for("far", "ready");
    assert_eq!(place.daemon.state(&id), "running");
    // Its last lines are asked for now and then, and kept when it is away: also by a server that is started then.
    let contact = place.node("far")["last_contact_at"].clone();
    until("it is asked how it is", || place.node("far")["last_contact_at"] != contact);
    drop(agent);
    place.wait_for("far", "down");
    assert_eq!(place.daemon.state(&id), "lost");
    for _ in 0..2 {
        let said = place.daemon.ask(&["logs", &id]);
        assert_eq!((said.status, said.stdout.as_str()), (0, "begun\n"), "{said:?}");
        assert!(said.stderr.contains("its machine is unreachable"), "{said:?}");
        place.daemon.crash_and_restart();
    }
    fs::write(&gate, "").unwrap();
    let _agent = place.join(&token);
    assert_eq!(place.daemon.ask(&["wait", &id]).status, 7);
    let task = place.daemon.show(&id);
    assert_eq!(task["runs"].as_array().map(Vec::len), Some(1), "{task}");
}

/// The logs that are kept below a data directory.
fn logs_below(data: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![data.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.ends_with("output.log")
                || path.parent().is_some_and(|it| it.ends_with("logs"))
            {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn rm_deletes_logs_here_on_another_machine_and_on_one_that_is_away() {
    if !is_root() {
        return;
    }
    let mut place = place();
    let token = place.add("far");
    let agent = place.join(&token);
    place.wait_for("far", "ready");
    let (here, there) = (place.daemon.data(), place.daemon.directory().join("far"));
    let own = place.daemon.directory().join("own.txt");
    let run = |options: &str| {
        let id = place.daemon.submit(options, "echo printed");
        assert_eq!(place.daemon.ask(&["wait", &id]).status, 0);
        id
    };
    let local = place.node_that_is_not("far");
    let at_home = run(&format!("-w {local} -g 0"));
    let (away, first, kept) = (run("-w far -g 1"), run("-w far -g 1"), run("-w far -g 1"));
    let directed = run(&format!("-w far -g 1 --output {}", own.display()));
    until("logs are kept", || logs_below(&here).len() == 1 && logs_below(&there).len() == 3);

    place.daemon.say(&["rm", "-y", &at_home, &first, &directed]);
    until("they are gone here and there", || {
        logs_below(&here).is_empty() && logs_below(&there).len() == 2
    });
    assert_eq!(fs::read_to_string(&own).unwrap(), "printed\n", "a file of the user's stays");

    drop(agent);
    place.wait_for("far", "down");
    place.daemon.say(&["rm", "-y", &away]);
    place.daemon.crash_and_restart();
    assert_eq!(logs_below(&there).len(), 2, "it is away");
    let _agent = place.join(&token);
    until("it is gone when the machine is back", || logs_below(&there).len() == 1);
    assert_eq!(place.daemon.say(&["logs", &kept]), "printed\n");
}

#[test]
fn a_token_is_for_one_machine_and_can_be_revoked() {
    if !is_root() {
        return;
    }
    let place = place();
    let token = place.add("far");
    let mut agent = place.join_as(&token, "far");
    place.wait_for("far", "ready");

    // Somebody else with the token neither gets in nor throws out who is there.
    let contact = place.node("far")["last_contact_at"].clone();
    let mut thief = place.join_as(&token, "thief");
    until("the thief has tried", || {
        let said = fs::read_to_string(place.daemon.directory().join("agent.err")).unwrap();
        said.contains("closed the connection") || said.contains("broken")
    });
    assert_eq!(place.node("far")["state"], "ready");
    assert_eq!(place.node("far")["host_name"], "far");
    assert_ne!(contact, serde_json::Value::Null);
    thief.0.kill().unwrap();

    // The token of another machine is that machine's.
    let other = place.add("other");
    assert_ne!(other, token);

    place.daemon.say(&["node", "revoke", "far"]);
    place.wait_for("far", "down");
    assert_eq!(agent.0.wait().unwrap().code(), Some(77));
    // With a new one it is let in again.
    let again = place.daemon.json(&["node", "token", "far", "--json"]);
    let _agent = place.join_as(again["token"].as_str().unwrap(), "far");
    place.wait_for("far", "ready");
    // Which is not for machines that are reached otherwise.
    let nodes = place.daemon.json(&["nodes", "--json"]);
    let refused = place.daemon.ask(&["node", "token", nodes["nodes"][0]["name"].as_str().unwrap()]);
    assert_eq!(refused.status, 64, "{refused:?}");
}

#[test]
fn nothing_is_said_to_a_server_that_is_not_the_one() {
    let place = place();
    let token = place.add("far");
    let (secret, print) = token.split_once('.').expect("it tells the certificate");
    let turned: String = print.chars().rev().collect();
    let url = place.url.clone();
    let mut wrong = danlu::command("en");
    wrong.args(["agent", "join", &url]).env("DANLU_AGENT_TOKEN", format!("{secret}.{turned}"));
    let mut child = wrong.stderr(Stdio::piped()).spawn().unwrap();
    let mut words = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut words, &mut line).unwrap();
    assert!(line.contains("certificate"), "{line}");
    let _ = child.kill();
    let _ = child.wait();
    assert_eq!(place.node("far")["state"], "down");

    let ask = |url: &str, token: &str| {
        danlu::said(danlu::command("en").args(["agent", "join", url, "--token", token]))
    };
    // In the clear only within a machine.
    let said = ask("http://gpu-server:8787", secret);
    assert_eq!(said.status, 2, "{said:?}");
    assert!(said.stderr.contains("encrypted") && said.stderr.contains("hint:"), "{said:?}");
    // A token that nobody knows.
    let stranger = format!("{}.{print}", "x".repeat(43));
    let said = ask(&url, &stranger);
    assert_eq!(said.status, 77, "{said:?}");
    for (bad, token) in [("gpu7", secret), (url.as_str(), "short"), ("https://x y", secret)] {
        assert_eq!(ask(bad, token).status, 2, "{bad} {token}");
    }
    let none = danlu::said(danlu::command("en").args(["agent", "join", &url]));
    assert_eq!(none.status, 2, "{none:?}");
}

#[test]
fn logs_in_a_shared_directory_are_read_while_the_machine_is_away() {
    if !is_root() {
        return;
    }
    let place = place();
    let shared = place.daemon.directory().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let token = place.add_with("far", &["--logs", shared.to_str().unwrap()]);
    let agent = place.join(&token);
    place.wait_for("far", "ready");
    let id = place.daemon.submit("-w far -g 1", "echo one; echo two >&2");
    assert_eq!(place.daemon.ask(&["wait", &id]).status, 0);
    let files: Vec<_> = fs::read_dir(&shared).unwrap().map_while(Result::ok).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(fs::read_to_string(files[0].path()).unwrap(), "one\ntwo\n");
    drop(agent);
    place.wait_for("far", "down");
    let said = place.daemon.ask(&["logs", &id]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "one\ntwo\n"), "{said:?}");
    assert_eq!(said.stderr, "", "all of it is there, not only the last lines");
}

/// Everybody may write to the directory, and knows what the next log will be called.
#[test]
fn logs_in_a_shared_directory_are_the_owners_alone() {
    let (Some(owner), Some(other)) = (OsUser::new(), OsUser::new()) else { return };
    let place = place();
    let danlu = open_to_all(place.daemon.directory());
    let shared = place.daemon.directory().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
    let token = place.add_with("far", &["--logs", shared.to_str().unwrap()]);
    let _agent = place.join(&token);
    place.wait_for("far", "ready");
    let ask = |arguments: &[&str]| owner.ask(&danlu, place.daemon.socket(), arguments);
    let submit = |line: &str| {
        let said = ask(&["submit", "-q", "-w", "far", "--dir", "/", "--", "sh", "-c", line]);
        assert_eq!(said.status, 0, "{said:?}");
        said.stdout.trim().to_owned()
    };
    let log_of = |id: &str| {
        let run = place.daemon.show(id)["runs"][0]["run"].as_str().unwrap().to_owned();
        (shared.join(format!("danlu-{run}.log")), run)
    };

    let first = submit("echo mine");
    assert_eq!(ask(&["wait", &first]).status, 0);
    let (log, run) = log_of(&first);
    assert_eq!(ask(&["logs", &first]).stdout, "mine\n");

    // Files and links that wait for the next ones.
    let (epoch, number) = run.split_once('-').unwrap();
    let number: u64 = number.parse().unwrap();
    let next = |more: u64| shared.join(format!("danlu-{epoch}-{}.log", number + more));
    let theirs = other.directory(shared.join("theirs"));
    for more in 1..=8 {
        if more % 2 == 0 {
            symlink(theirs.join("log"), next(more)).unwrap();
        } else {
            fs::write(next(more), "").unwrap();
            fs::set_permissions(next(more), fs::Permissions::from_mode(0o666)).unwrap();
            chown(next(more), Some(other.uid), Some(other.gid)).unwrap();
        }
    }
    fs::set_permissions(&theirs, fs::Permissions::from_mode(0o777)).unwrap();
    for _ in 0..2 {
        let id = submit("echo secret");
        assert_ne!(ask(&["wait", &id]).status, 0);
        let failure = place.daemon.show(&id)["failure"].take();
        assert_eq!(failure["class"], "launch", "{failure}");
    }
    for more in (1..=8).step_by(2) {
        assert_eq!(fs::read_to_string(next(more)).unwrap(), "", "what somebody else has made");
    }
    assert!(!theirs.join("log").exists(), "where a link of somebody else leads");

    assert_eq!(fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);

    // The owner's own link leads to nothing that the owner could not read.
    let secret = place.daemon.directory().join("secret");
    fs::write(&secret, "secret\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(&log).unwrap();
    symlink(&secret, &log).unwrap();
    for way in [&["logs", first.as_str()][..], &["logs", &first, "--tail", "1"]] {
        let said = ask(way);
        assert!(!said.stdout.contains("secret") && said.status != 0, "{said:?}");
    }
}

#[test]
fn paths_are_looked_at_on_the_machine_that_would_run_the_task() {
    if !is_root() {
        return;
    }
    let place = place();
    let token = place.add("far");
    let _agent = place.join_as(&token, "far");
    place.wait_for("far", "ready");
    // Its disk has its data there, and nothing of ours.
    let [here, there] = ["data", "far"].map(|name| place.daemon.directory().join(name));
    let submit = |directory: &std::path::Path, node: Option<&str>| {
        let mut task =
            json!({ "command": ["true"], "gpus": 0, "hold": true, "directory": directory });
        if let Some(node) = node {
            task["node"] = json!({ "name": node });
        }
        let mut connection = Connection::open(place.daemon.socket());
        let reply = connection.json("POST /api/v1/tasks", &task);
        reply.body["error"]["message"].as_str().map(str::to_owned)
    };
    assert_eq!(submit(&here, None), None);
    assert_eq!(submit(&there, Some("far")), None);
    assert_eq!(submit(&there, None), None, "one machine has it");
    let missing = format!("there is no directory {}", here.display());
    assert_eq!(submit(&here, Some("far")), Some(format!("{missing} on far")));
    let nowhere = place.daemon.directory().join("nowhere");
    assert!(submit(&nowhere, None).is_some_and(|it| it.contains("there is no directory")));
}

#[test]
fn a_service_is_installed() {
    let root = tempfile::tempdir().unwrap();
    let token = "0123456789abcdefghij";
    let below = root.path().display().to_string();
    let said = danlu::said(danlu::command("en").args([
        "agent",
        "install",
        "https://server:8787",
        "--token",
        token,
        "--root",
        &below,
    ]));
    assert_eq!(said.status, 0, "{said:?}");
    let file = root.path().join("etc/danlu/agent-token");
    assert_eq!(fs::read_to_string(&file).unwrap().trim(), token);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let unit = fs::read_to_string(root.path().join("etc/systemd/system/danlu-agent.service"));
    let unit = unit.unwrap();
    assert!(unit.contains("KillMode=process"), "{unit}");
    assert!(
        unit.contains("agent join https://server:8787 --token-file /etc/danlu/agent-token"),
        "{unit}"
    );
    assert!(!unit.contains(token), "{unit}");
    // A file that others can read is not taken.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let path = file.display().to_string();
    let said = danlu::said(danlu::command("en").args([
        "agent",
        "join",
        "https://server:8787",
        "--token-file",
        &path,
    ]));
    assert_eq!(said.status, 2, "{said:?}");
}
