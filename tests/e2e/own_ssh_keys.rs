//! Machines whose login is not root: tasks run there by their owners' own keys, as their owners.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
};

use crate::support::daemon::until;
use crate::support::ssh_lab::SshLab;
use crate::support::ssh_user::SshUser;
use nix::sys::signal::Signal;

#[test]
fn tasks_run_by_the_key_of_their_owner() {
    let Some(mut lab) = SshLab::new(1) else { return };
    let people = (SshUser::new(&lab), SshUser::new(&lab), SshUser::new(&lab));
    let (Some(ops), Some(ann), Some(bob)) = people else { return };
    ops.add(&lab, "n1", &lab.machines[0]);

    // Without a key of her own she is nobody there.
    let id = ann.submit(&lab, "id -un");
    lab.daemon.ask(&["wait", &id]);
    assert_eq!(lab.daemon.state(&id), "failed", "{}", lab.daemon.show(&id));

    let name = ann.os_user.name.clone();
    let said = ann.give(&lab, "n1", &name, &ann.key(&lab, true));
    assert_eq!(said.status, 0, "{said:?}");
    until("her tasks run", || {
        lab.wait_for("n1", "ready");
        let id = ann.submit(&lab, "id -un; echo $HOME $DANLU_NODE");
        lab.daemon.ask(&["wait", &id]);
        let said = ann.ask(&lab, &["logs", &id]);
        lab.daemon.state(&id) == "succeeded"
            && said.stdout == format!("{name}\n{} n1\n", ann.home.display())
    });

    // Her connection, the server and the machine's agent go and come; her task ends once, as it does.
    let gate = ann.home.join("gate");
    let line = format!("echo begun; while ! [ -e {} ]; do sleep 0.1; done; exit 7", gate.display());
    let id = ann.submit(&lab, &line);
    until("it has begun", || ann.ask(&lab, &["logs", &id]).stdout.contains("begun"));
    assert!(lab.machines[0].signal("agent --stdio", Signal::SIGKILL) >= 2);
    until("it is noticed", || lab.node_state("n1") != "ready");
    lab.wait_for("n1", "ready");
    assert_eq!(lab.daemon.state(&id), "running");
    lab.daemon.crash_and_restart();
    lab.wait_for("n1", "ready");
    assert_eq!(lab.daemon.state(&id), "running");
    fs::write(&gate, "").unwrap();
    assert_eq!(lab.daemon.ask(&["wait", &id]).status, 7);
    assert_eq!(lab.daemon.show(&id)["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(ann.ask(&lab, &["logs", &id]).stdout, "begun\n");

    // What is cancelled is gone there.
    let id = ann.submit(&lab, "echo up; sleep 4321");
    until("it is up", || ann.ask(&lab, &["logs", &id]).stdout.contains("up"));
    assert_eq!(ann.ask(&lab, &["cancel", "-y", &id]).status, 0);
    lab.daemon.ask(&["wait", &id]);
    assert_eq!(lab.daemon.state(&id), "cancelled");
    assert!(lab.machines[0].processes("sleep 4321").is_empty());

    // A key that the machine does not know opens nothing, and is told; nobody else is the worse for it.
    let said = bob.give(&lab, "n1", &bob.os_user.name, &bob.key(&lab, false));
    assert_eq!(said.status, 0, "{said:?}");
    until("he is told", || {
        lab.wait_for("n1", "ready");
        let id = bob.submit(&lab, "true");
        lab.daemon.ask(&["wait", &id]);
        lab.daemon.show(&id).to_string().contains("own key")
            && lab.daemon.show(&id).to_string().contains("denied")
    });
    let id = ann.submit(&lab, "exit 3");
    assert_eq!(lab.daemon.ask(&["wait", &id]).status, 3);
}

/// What a task of theirs on `n1` says, and how it ended.
fn run(lab: &SshLab, person: &SshUser, line: &str) -> (String, String) {
    let id = person.submit(lab, line);
    lab.daemon.ask(&["wait", &id]);
    (person.ask(lab, &["logs", &id]).stdout, lab.daemon.show(&id).to_string())
}

/// As often as somebody was let in, or another connection was.
fn accepted(lab: &SshLab, name: &str) -> usize {
    lab.machines[0].sshd_log().matches(&format!("Accepted publickey for {name} ")).count()
}

#[test]
fn own_connections_use_nothing_of_the_servers() {
    // The server's own key, which everybody's account accepts, is in its configuration, as is the way to the machine.
    let config = |here: &Path, address: &str| {
        let key = here.join("id").display().to_string();
        format!(
            "Host there\n  HostName {address}\n  HostKeyAlias alias-of-n1\nHost *\n  IdentityFile {key}\n"
        )
    };
    let Some(lab) = SshLab::with_ssh_config(1, config) else { return };
    let people = (SshUser::new(&lab), SshUser::new(&lab), SshUser::new(&lab));
    let (Some(ops), Some(ann), Some(bob)) = people else { return };
    let ssh = format!("{}@there", ops.os_user.name);
    let words = ["node", "add", "n1", "--ssh", &ssh, "--accept-new-key", "--sim-gpus", "2"];
    lab.daemon.say(&words);
    lab.wait_for("n1", "ready");

    // Names that are not hers are refused at once.
    let bogus = ann.key(&lab, false);
    for name in ["root", &ops.os_user.name] {
        let said = ann.give(&lab, "n1", name, &bogus);
        assert_eq!(said.status, 64, "{said:?}");
    }
    // So is another's, and her own, by a key that only the server has: when it is used.
    for name in [&bob.os_user.name, &ann.os_user.name] {
        let said = ann.give(&lab, "n1", name, &bogus);
        assert_eq!(said.status, 0, "{said:?}");
        let (said, shown) = run(&lab, &ann, "id -un");
        assert_eq!(said, "");
        assert!(shown.contains("own key") && shown.contains("denied"), "{shown}");
        assert_eq!(accepted(&lab, name), 0);
    }
    let listed = ann.ask(&lab, &["user", "ssh"]);
    assert!(listed.stderr.contains("your own connection failed"), "{listed:?}");

    // A second name of root's, which her key opens: who answers is looked at before anything is said to it.
    let other_root = format!("r{}", ann.os_user.name);
    let mut useradd = Command::new("useradd");
    useradd.args(["-o", "-u", "0", "-g", "0", "-M", "-d", "/root", "-p", "*", "-s", "/bin/sh"]);
    assert!(useradd.arg(&other_root).status().is_ok_and(|status| status.success()));
    let key = ann.key(&lab, true);
    let list = |name: &str| lab.daemon.directory().join(format!("authorized_keys-{name}"));
    fs::copy(list(&ann.os_user.name), list(&other_root)).unwrap();
    let said = ann.give(&lab, "n1", &other_root, &key);
    assert_eq!(said.status, 0, "{said:?}");
    let (said, shown) = run(&lab, &ann, "id -un");
    let again = run(&lab, &ann, "id -un");
    // `userdel` thinks that root's processes are this user's.
    let removed = Command::new("userdel").args(["-f", &other_root]).status();
    assert!(removed.is_ok_and(|status| status.success()));
    assert_eq!((said.as_str(), again.0.as_str()), ("", ""));
    assert!(shown.contains("logs in as root"), "{shown}");
    assert!(accepted(&lab, &other_root) <= 1, "{}", lab.machines[0].sshd_log());
    assert!(lab.machines[0].processes("agent --stdio").len() <= 1);

    // Her own name and her own key are all that is needed, at the place that the configuration tells.
    let said = ann.give(&lab, "n1", &ann.os_user.name, &key);
    assert_eq!(said.status, 0, "{said:?}");
    let (said, shown) = run(&lab, &ann, "id -un");
    assert_eq!(said, format!("{}\n", ann.os_user.name), "{shown}");

    // Nobody else is connected as her, even by a key that her account accepts.
    fs::copy(ann.home.join("key"), bob.home.join("key")).unwrap();
    std::os::unix::fs::chown(bob.home.join("key"), Some(bob.os_user.uid), None).unwrap();
    let said = bob.give(&lab, "n1", &ann.os_user.name, &bob.home.join("key"));
    assert_eq!(said.status, 0, "{said:?}");
    let (_, shown) = run(&lab, &bob, "id -un");
    assert!(shown.contains("another user is already connected"), "{shown}");
    let (said, shown) = run(&lab, &ann, "id -un");
    assert_eq!(said, format!("{}\n", ann.os_user.name), "{shown}");
    assert_eq!(lab.node_state("n1"), "ready");
}

#[test]
fn no_key_is_taken_while_it_is_not_known_who_the_server_is_there() {
    let Some(mut lab) = SshLab::new(1) else { return };
    let Some(ann) = SshUser::new(&lab) else { return };
    let (key, stop) = (ann.key(&lab, true), AtomicBool::new(false));
    let socket = lab.daemon.socket().to_owned();
    let danlu = lab.daemon.directory().join("danlu");
    let words = ["user", "ssh", "n1", "--user", &ann.os_user.name, "--key", key.to_str().unwrap()];
    let again_and_again = || {
        let mut tries = Vec::new();
        while !stop.load(Ordering::SeqCst) {
            tries.push(ann.os_user.ask(&danlu, &socket, &words).status);
        }
        tries
    };
    let tries = std::thread::scope(|scope| {
        let tries = scope.spawn(again_and_again);
        // It is new, is reached anew, and is away when the server is started; the server is root there each time.
        lab.add_all(1);
        for gpus in ["1", "2", "1"] {
            lab.daemon.say(&["node", "edit", "n1", "--expect-gpus", gpus]);
            lab.daemon.say(&["node", "check", "n1"]);
        }
        lab.machines[0].switch_off();
        lab.daemon.crash_and_restart();
        until("it is away", || lab.node("n1")["problem"].is_string());
        lab.machines[0].switch_on();
        lab.wait_for("n1", "ready");
        stop.store(true, Ordering::SeqCst);
        tries.join().unwrap()
    });
    assert!(tries.len() > 15, "{tries:?}");
    assert!(tries.iter().all(|status| *status != 0), "{tries:?}");
    assert!(!lab.daemon.data().join("keys").exists());
    secrets_stay(&lab, &ann);
}

/// A file of root's on `n1` is shown to nobody who names it as an output.
fn secrets_stay(lab: &SshLab, person: &SshUser) {
    let secret = lab.daemon.directory().join("secret");
    fs::write(&secret, "nobody's business\n").unwrap();
    fs::set_permissions(&secret, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let output = secret.to_str().unwrap();
    let words =
        ["submit", "-q", "-w", "n1", "-g", "1", "--dir", "/", "--output", output, "--", "true"];
    let said = person.ask(lab, &words);
    let id = said.stdout.trim();
    if said.status == 0 {
        lab.daemon.ask(&["wait", id]);
        let logs = person.ask(lab, &["logs", id]);
        assert!(!format!("{logs:?}").contains("business"), "{logs:?}");
    }
}

#[test]
fn a_key_is_for_one_machine_and_one_way_to_it() {
    let Some(lab) = SshLab::new(1) else { return };
    let (Some(ops), Some(ann)) = (SshUser::new(&lab), SshUser::new(&lab)) else { return };
    ops.add(&lab, "n1", &lab.machines[0]);
    let key = ann.key(&lab, true);
    let login = || {
        let said = ann.ask(&lab, &["user", "ssh", "--json"]);
        let nodes: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
        let mut all = nodes["nodes"].as_array().unwrap().iter();
        all.find(|it| it["node"] == "n1").unwrap()["ssh_user"].clone()
    };
    let give = || {
        let said = ann.give(&lab, "n1", &ann.os_user.name, &key);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(login(), ann.os_user.name.as_str());
    };
    let keys = || fs::read_dir(lab.daemon.data().join("keys")).map_or(0, Iterator::count);
    give();
    // What is the same machine in the same way keeps it.
    lab.daemon.say(&["node", "edit", "n1", "--expect-gpus", "1"]);
    lab.daemon.say(&["node", "check", "n1"]);
    let (said, shown) = run(&lab, &ann, "id -un");
    assert_eq!(said, format!("{}\n", ann.os_user.name), "{shown}");
    assert_eq!((login(), keys()), (ann.os_user.name.as_str().into(), 1));

    // The server is root there from now on.
    let (as_root, as_ops) = (
        format!("root@{}", lab.machines[0].address),
        format!("{}@{}", ops.os_user.name, lab.machines[0].address),
    );
    lab.daemon.say(&["node", "edit", "n1", "--ssh", &as_root]);
    assert_eq!((login(), keys()), (serde_json::Value::Null, 0));
    lab.daemon.say(&["node", "check", "n1"]);
    secrets_stay(&lab, &ann);

    // And back; another machine of the same name; and one that was accepted in its place.
    lab.daemon.say(&["node", "edit", "n1", "--ssh", &as_ops]);
    lab.daemon.say(&["node", "check", "n1"]);
    assert_eq!((login(), keys()), (serde_json::Value::Null, 0));
    give();
    lab.daemon.say(&["node", "remove", "n1"]);
    assert_eq!(keys(), 0);
    ops.add(&lab, "n1", &lab.machines[0]);
    assert_eq!(login(), serde_json::Value::Null);
    give();
    lab.daemon.say(&["node", "accept", "n1"]);
    assert_eq!((login(), keys()), (serde_json::Value::Null, 0));
}
