//! A machine whose login is not root: people's tasks run there by their own keys, as themselves.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

mod daemon;
mod danlu;
mod guest;
mod lab;

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown},
    path::PathBuf,
    process::Command,
};

use daemon::until;
use guest::Guest;
use lab::Lab;
use nix::sys::signal::Signal;

/// Somebody who can log in.
struct Person {
    guest: Guest,
    home: PathBuf,
}

impl Person {
    fn new(lab: &Lab) -> Option<Person> {
        let guest = Guest::new()?;
        let home = guest.directory(lab.daemon.directory().join(&guest.name));
        let mut change = Command::new("usermod");
        // Not locked, and without a password.
        change.args(["-p", "*", "-s", "/bin/sh", "-d"]).arg(&home).arg(&guest.name);
        assert!(change.status().is_ok_and(|status| status.success()));
        Some(Person { guest, home })
    }

    /// A key of their own, which the machines know or not.
    fn key(&self, lab: &Lab, known: bool) -> PathBuf {
        let key = self.home.join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-C", "", "-N", "", "-f"])
            .arg(&key)
            .status();
        assert!(made.is_ok_and(|status| status.success()));
        chown(&key, Some(self.guest.uid), Some(self.guest.gid)).unwrap();
        if known {
            let list = format!("authorized_keys-{}", self.guest.name);
            fs::copy(key.with_extension("pub"), lab.daemon.directory().join(list)).unwrap();
        }
        key
    }

    fn ask(&self, lab: &Lab, words: &[&str]) -> danlu::Answer {
        self.guest.ask(&lab.daemon.directory().join("danlu"), lab.daemon.socket(), words)
    }

    fn submit(&self, lab: &Lab, line: &str) -> String {
        let said = self.ask(
            lab,
            &["submit", "-q", "-w", "n1", "-g", "1", "--dir", "/", "--", "sh", "-c", line],
        );
        assert_eq!(said.status, 0, "{said:?}");
        said.stdout.trim().to_owned()
    }
}

#[test]
fn tasks_run_by_the_key_of_their_owner() {
    let Some(mut lab) = Lab::new(1) else { return };
    let open = fs::Permissions::from_mode(0o755);
    fs::set_permissions(lab.daemon.directory(), open).unwrap();
    let people = (Person::new(&lab), Person::new(&lab), Person::new(&lab));
    let (Some(ops), Some(ann), Some(bob)) = people else { return };
    fs::copy(
        lab.daemon.directory().join("id.pub"),
        lab.daemon.directory().join(format!("authorized_keys-{}", ops.guest.name)),
    )
    .unwrap();
    let ssh = format!("{}@{}", ops.guest.name, lab.machines[0].address);
    let key = lab.key();
    let words = ["node", "add", "n1", "--ssh", &ssh, "--identity", &key, "--accept-new-key"];
    lab.daemon.say(&[&words[..], &["--sim-gpus", "2"]].concat());
    lab.wait_for("n1", "ready");

    // Without a key of her own she is nobody there.
    let id = ann.submit(&lab, "id -un");
    lab.daemon.ask(&["wait", &id]);
    assert_eq!(lab.daemon.state(&id), "failed", "{}", lab.daemon.show(&id));

    let file = ann.key(&lab, true).display().to_string();
    let name = ann.guest.name.clone();
    let give = ["user", "ssh", "n1", "--user", &name, "--key", &file];
    let said = ann.ask(&lab, &give);
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
    let file = bob.key(&lab, false).display().to_string();
    let said = bob.ask(&lab, &["user", "ssh", "n1", "--user", &bob.guest.name, "--key", &file]);
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
