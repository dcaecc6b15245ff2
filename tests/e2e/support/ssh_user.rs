//! A user with an account on the machines of an SSH lab.

use std::{
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{
    danlu::Answer,
    os_user::OsUser,
    ssh_lab::{Machine, SshLab},
};

/// Somebody who can log in.
pub(crate) struct SshUser {
    pub(crate) os_user: OsUser,
    pub(crate) home: PathBuf,
}

impl SshUser {
    pub(crate) fn new(lab: &SshLab) -> Option<SshUser> {
        let os_user = OsUser::new()?;
        let home = os_user.directory(lab.daemon.directory().join(&os_user.name));
        let mut change = Command::new("usermod");
        // Not locked, and without a password.
        change.args(["-p", "*", "-s", "/bin/sh", "-d"]).arg(&home).arg(&os_user.name);
        assert!(change.status().is_ok_and(|status| status.success()));
        Some(SshUser { os_user, home })
    }

    /// A key of their own, which the machines know or not.
    pub(crate) fn key(&self, lab: &SshLab, known: bool) -> PathBuf {
        let _ = fs::remove_file(self.home.join("key"));
        let key = self.home.join("key");
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-C", "", "-N", "", "-f"])
            .arg(&key)
            .status();
        assert!(made.is_ok_and(|status| status.success()));
        chown(&key, Some(self.os_user.uid), Some(self.os_user.gid)).expect("it is ours");
        if known {
            let list = format!("authorized_keys-{}", self.os_user.name);
            fs::copy(key.with_extension("pub"), lab.daemon.directory().join(list))
                .expect("it is ours");
        }
        key
    }

    /// The server gets in as this person by its own key, too.
    pub(crate) fn lets_the_server_in(&self, lab: &SshLab) {
        let list = format!("authorized_keys-{}", self.os_user.name);
        let here = lab.daemon.directory();
        fs::copy(here.join("id.pub"), here.join(list)).expect("it can be copied");
    }

    /// A machine whose login is this person, and not root.
    pub(crate) fn add(&self, lab: &SshLab, name: &str, machine: &Machine) {
        self.lets_the_server_in(lab);
        let ssh = format!("{}@{}", self.os_user.name, machine.address);
        let key = lab.key();
        let words = ["node", "add", name, "--ssh", &ssh, "--identity", &key, "--accept-new-key"];
        lab.daemon.say(&[&words[..], &["--sim-gpus", "2"]].concat());
        lab.wait_for(name, "ready");
    }

    /// Gives their name and key for a machine.
    pub(crate) fn give(&self, lab: &SshLab, node: &str, user: &str, key: &Path) -> Answer {
        let key = key.display().to_string();
        self.ask(lab, &["user", "ssh", node, "--user", user, "--key", &key])
    }

    pub(crate) fn ask(&self, lab: &SshLab, words: &[&str]) -> Answer {
        self.os_user.ask(&lab.daemon.directory().join("danlu"), lab.daemon.socket(), words)
    }

    pub(crate) fn submit(&self, lab: &SshLab, line: &str) -> String {
        let said = self.ask(
            lab,
            &["submit", "-q", "-w", "n1", "-g", "1", "--dir", "/", "--", "sh", "-c", line],
        );
        assert_eq!(said.status, 0, "{said:?}");
        said.stdout.trim().to_owned()
    }
}
