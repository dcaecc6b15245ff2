//! Machines reached by SSH: real OpenSSH servers, each with its own network, name and processes.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use crate::support::daemon::until;
use crate::support::danlu;
use crate::support::ssh_lab::SshLab;

#[test]
fn three_machines_run_tasks_and_show_their_logs() {
    let Some(lab) = SshLab::new(3) else { return };
    lab.add_all(4);
    let daemon = &lab.daemon;
    assert_eq!(daemon.json(&["gpus", "--json"])["gpus"].as_array().map(Vec::len), Some(13));

    // Each runs what is meant for it, and the log comes from there.
    for machine in &lab.machines {
        let line = "hostname; echo $DANLU_NODE; echo oops $CUDA_VISIBLE_DEVICES >&2; exit 3";
        let id = daemon.submit(&format!("-w {} -g 2", machine.name), line);
        assert_eq!(daemon.ask(&["wait", &id]).status, 3, "{}", daemon.show(&id));
        let name = &machine.name;
        let last = daemon.say(&["logs", &id, "--tail", "1"]);
        assert_eq!(daemon.say(&["logs", &id]), format!("{name}\n{name}\n{last}"));
        assert!(last.starts_with("oops ") && last.split(',').count() == 2, "{last}");
        assert_eq!(daemon.show(&id)["node"], name.as_str());
    }

    // Directories are looked at on the machine that is to run the task.
    let refused = daemon.ask(&["submit", "-w", "n1", "--dir", "/no-such-place", "--", "pwd"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    assert!(refused.stderr.contains("no directory /no-such-place on n1"), "{refused:?}");
    let refused = daemon.ask(&["submit", "--dir", "/no-such-place", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");

    // A log is followed while it grows, to its end.
    let id = daemon.submit(
        "-w n2",
        "echo one; read x < /dev/shm/../tmp/nothing || sleep 0.3; echo two; exit 0",
    );
    let mut follow = daemon.command(&["logs", "-f", &id]).stdout(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> =
        BufReader::new(follow.stdout.take().unwrap()).lines().map_while(Result::ok).collect();
    assert!(follow.wait().unwrap().success());
    assert_eq!((lines.first().unwrap().as_str(), lines.last().unwrap().as_str()), ("one", "two"));

    // What is cancelled is gone there, whatever it has started.
    let id = daemon
        .submit("-w n3", "trap '' TERM; (setsid sleep 4321 &); echo up; sleep 4321; sleep 4321");
    until("it has printed", || daemon.ask(&["logs", &id]).stdout.contains("up"));
    until("all of it runs", || lab.machines[2].processes("sleep 4321").len() >= 2);
    daemon.say(&["set", "stop_grace", "1s"]);
    daemon.say(&["cancel", "-y", &id]);
    daemon.ask(&["wait", &id]);
    assert_eq!(daemon.state(&id), "cancelled");
    assert!(lab.machines[2].processes("sleep 4321").is_empty());

    // Drained, it gets nothing new, and what waits for it says so.
    daemon.say(&["node", "drain", "n1"]);
    assert_eq!(lab.node_state("n1"), "draining");
    let id = daemon.submit("-w n1", "exit 0");
    assert!(daemon.say(&["why", &id]).contains("n1"), "{}", daemon.say(&["why", &id]));
    assert_eq!(daemon.state(&id), "queued");
    daemon.say(&["node", "undrain", "n1"]);
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);

    // Taken out only when nothing runs there.
    let id = daemon.submit("-w n1", "sleep 1000");
    daemon.wait_until(&id, "running");
    let refused = daemon.ask(&["node", "remove", "n1"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    daemon.say(&["cancel", "-y", &id]);
    daemon.ask(&["wait", &id]);
    daemon.say(&["node", "remove", "n1"]);
    assert_eq!(lab.node("n1"), serde_json::Value::Null);
    until("its agent is gone", || lab.machines[0].processes("agent --stdio").is_empty());
}

#[test]
fn what_is_known_of_machines_is_shown_and_checked() {
    let Some(mut lab) = SshLab::new(2) else { return };
    lab.add(&lab.machines[0], &["--sim-gpus", "2", "--expect-gpus", "4", "--label", "room=b12"]);
    lab.wait_for("n1", "ready");
    let checked = lab.daemon.ask(&["node", "check", "n1"]);
    assert_eq!(checked.status, 0, "{checked:?}");
    for step in ["reach", "upload", "start", "greet", "login", "clock", "disk", "gpus"] {
        assert!(checked.stdout.contains(step), "{checked:?}");
    }
    until("facts have come", || lab.node("n1")["load"].is_number());
    let node = lab.node("n1");
    assert_eq!((&node["host_name"], &node["labels"]["room"]), (&"n1".into(), &"b12".into()));
    assert!(node["problem"].as_str().unwrap().contains("should have 4"), "{node}");
    assert!(node["clock_ahead_ms"].as_i64().unwrap().abs() < 2_000, "{node}");
    assert!(node["disk_total"].as_u64().unwrap() > 0 && node["version"].is_string(), "{node}");
    // Chosen by its label.
    let id = lab.daemon.submit("-w room=b12", "hostname");
    lab.daemon.ask(&["wait", &id]);
    assert_eq!(lab.daemon.say(&["logs", &id]), "n1\n");

    // A host key that nobody has let in.
    let key = lab.key();
    let ssh = format!("root@{}", lab.machines[1].address);
    lab.daemon.say(&["node", "add", "n2", "--ssh", &ssh, "--identity", &key]);
    let checked = lab.daemon.ask(&["node", "check", "n2"]);
    assert_eq!(checked.status, 75, "{checked:?}");
    assert!(checked.stderr.contains("host key is not known"), "{checked:?}");
    assert!(checked.stderr.contains("hint: "), "{checked:?}");

    // Another machine at an address that is known: it is not taken for the old one.
    let id = lab.daemon.submit("-w n1", "sleep 1000");
    lab.daemon.wait_until(&id, "running");
    lab.machines[0].rename("impostor");
    let told = || lab.node("n1")["problem"].as_str().unwrap_or_default().to_owned();
    until("it is noticed", || told().contains("another machine (impostor)"));
    assert_eq!(lab.daemon.state(&id), "lost");
    lab.daemon.say(&["node", "accept", "n1"]);
    lab.wait_for("n1", "ready");
    // What ran has vanished with the old machine, and is begun again.
    until("it runs again", || lab.daemon.show(&id)["attempt"] == 2);
    lab.daemon.wait_until(&id, "running");
    lab.daemon.say(&["cancel", "-y", &id]);
}

#[test]
fn two_names_of_one_machine_do_not_end_each_other_for_ever() {
    let Some(lab) = SshLab::new(1) else { return };
    lab.add_all(1);
    let (ssh, key) = (format!("root@{}", lab.machines[0].address), lab.key());
    let data = lab.daemon.directory().join("machine1/runs").display().to_string();
    let words = ["node", "add", "twin", "--ssh", &ssh, "--identity", &key, "--data", &data];
    let said = lab.daemon.ask(&[&words[..], &["--sim-gpus", "1"]].concat());
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stderr.contains("same machine as n1"), "{said:?}");
    until("the first is told why it is away", || {
        let n1 = lab.node("n1");
        let problem = n1["problem"].as_str().unwrap_or_default().to_owned();
        n1["state"] == "down" && problem.contains("twin is the same machine")
    });
    lab.wait_for("twin", "ready");
    let said = lab.daemon.say(&["nodes"]);
    assert!(said.contains("twin is the same machine"), "{said}");
    assert!(said.contains("danlu node remove n1"), "{said}");
    lab.daemon.say(&["node", "remove", "twin"]);
    lab.wait_for("n1", "ready");
}

#[test]
fn a_changed_host_key_is_not_accepted_by_name() {
    let Some(mut lab) = SshLab::new(1) else { return };
    lab.add_all(1);
    lab.machines[0].switch_off();
    let host_key = lab.daemon.directory().join("hostkey");
    std::fs::remove_file(&host_key).unwrap();
    let mut make = Command::new("ssh-keygen");
    make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&host_key);
    assert!(make.status().unwrap().success());
    lab.machines[0].switch_on();
    until("it is noticed", || {
        let problem = lab.node("n1")["problem"].as_str().unwrap_or_default().to_owned();
        problem.contains("another host key")
    });
    let said = lab.daemon.ask(&["node", "accept", "n1"]);
    assert_eq!(said.status, 75, "{said:?}");
    let hint = said.stderr.split("ssh-keygen ").nth(1).expect("what to do").trim().to_owned();
    assert!(!hint.contains("HOST") && !hint.contains("DATA"), "{said:?}");
    // As the hint says.
    let done = Command::new("sh").args(["-c", &format!("ssh-keygen {hint}")]).status();
    assert!(done.unwrap().success());
    lab.daemon.say(&["node", "accept", "n1"]);
    lab.wait_for("n1", "ready");
}

#[test]
fn what_cannot_be_a_machine_is_refused() {
    let Some(lab) = SshLab::new(0) else { return };
    let refused = |arguments: &[&str]| {
        let answer = lab.daemon.ask(&[&["node", "add"], arguments].concat());
        assert_eq!(answer.status, 64, "{arguments:?}: {answer:?}");
        assert!(answer.stderr.contains("hint: "), "{answer:?}");
        answer.stderr
    };
    let witness = lab.daemon.directory().join("witness");
    let evil = format!("$(touch {})", witness.display());
    for name in ["../x", "a b", &evil, "-x", "'", "\"", "`id`"] {
        refused(&["--ssh", "root@127.0.0.1", "--", name]);
    }
    for ssh in ["root@-oProxyCommand=id", &format!("root@{evil}"), "a'b@host", "host:0", "host:x"] {
        refused(&["x", "--ssh", ssh]);
    }
    let key = lab.daemon.directory().join("open.key");
    std::fs::write(&key, "not secret").unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let said = refused(&["x", "--ssh", "root@host", "--identity", key.to_str().unwrap()]);
    assert!(said.contains("readable by other users"), "{said}");
    assert!(refused(&["x", "--ssh", "root@host", "--data", "there"]).contains("absolute path"));
    let own = lab.daemon.json(&["nodes", "--json"])["nodes"][0]["name"].clone();
    let own = own.as_str().unwrap();
    assert!(refused(&[own, "--ssh", "root@host"]).contains(own));
    let answer = lab.daemon.ask(&["node", "remove", own]);
    assert!(
        answer.status == 64 && answer.stderr.contains("the machine of the server itself"),
        "{answer:?}"
    );
    assert!(!witness.exists());
}

/// Locks and databases are not safe on the disk of another machine.
#[test]
fn data_on_another_machines_disk_is_refused() {
    let Some(lab) = SshLab::new(1) else { return };
    let here = lab.daemon.directory().join("far away");
    std::fs::create_dir(&here).unwrap();
    let target = format!("root@{}:/tmp", lab.machines[0].address);
    let mount = || {
        let mut sshfs = Command::new("sshfs");
        sshfs.args([target.as_str(), here.to_str().unwrap()]);
        sshfs.args(["-o", &format!("IdentityFile={}", lab.key())]);
        sshfs.args(["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]);
        sshfs.status().is_ok_and(|status| status.success())
    };
    if !Path::new("/usr/bin/sshfs").exists() || !Path::new("/dev/fuse").exists() {
        crate::support::danlu::skip("no disk of another machine can be mounted here");
        return;
    }
    // The machine may still be starting.
    until("its disk is mounted", mount);
    let data = here.join("danlu-data");
    let refused = danlu::said(danlu::command("en").args(["up", "--data", data.to_str().unwrap()]));
    let left = std::fs::read_dir(&data).map(Iterator::count).unwrap_or(0);
    assert!(Command::new("umount").arg(&here).status().unwrap().success());
    assert!(![0, 70].contains(&refused.status), "{refused:?}");
    assert!(refused.stderr.contains("network file system (fuse.sshfs)"), "{refused:?}");
    assert!(refused.stderr.contains("hint: choose a directory on a local disk"), "{refused:?}");
    assert_eq!(left, 0, "nothing is written there");
}
