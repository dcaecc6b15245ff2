//! Logins of users on other machines: OS users that administrators name, and keys that users provide.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::daemon::Daemon;
use crate::support::ssh_lab::SshLab;
use crate::support::ssh_user::SshUser;

/// A machine where the server is not root, called `n9`.
fn with_machine() -> Option<(SshLab, SshUser)> {
    let lab = SshLab::new(1)?;
    let ops = SshUser::new(&lab)?;
    ops.add(&lab, "n9", &lab.machines[0]);
    Some((lab, ops))
}

/// `None`, with a line that says so, where keys cannot be made.
fn key(daemon: &Daemon, name: &str, passphrase: &str) -> Option<PathBuf> {
    let file = daemon.directory().join(name);
    let mut make = Command::new("ssh-keygen");
    make.args(["-q", "-t", "ed25519", "-C", "", "-N", passphrase, "-f"]).arg(&file);
    match make.status() {
        Ok(status) if status.success() => Some(file),
        _ => {
            crate::support::danlu::skip("there is no ssh-keygen");
            None
        }
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("it is text")
}

/// All files with these bytes in them.
fn files_with(words: &str, directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).expect("a directory").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() {
            found.extend(files_with(words, &path));
        } else if kind.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes.windows(words.len()).any(|window| window == words.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_key_is_a_file_of_the_server_alone_and_told_to_nobody() {
    let Some((lab, _ops)) = with_machine() else { return };
    let daemon = &lab.daemon;
    let Some(file) = key(daemon, "mine", "") else { return };
    let listed = || daemon.json(&["user", "ssh", "--json"])["nodes"].clone();
    let n9 = || listed().as_array().expect("a list").iter().find(|it| it["node"] == "n9").cloned();
    assert_eq!(n9().expect("it is there")["takes_keys"], true);
    let refused = daemon.ask(&["user", "ssh", "n9", "--user", "asmith"]);
    assert_eq!(refused.status, 64, "{refused:?}");

    daemon.say(&["user", "ssh", "n9", "--user", "asmith", "--key", text(&file)]);
    let seen = n9().expect("it is there");
    let print = Command::new("ssh-keygen").arg("-lf").arg(&file).output().expect("it runs");
    let print = String::from_utf8_lossy(&print.stdout).into_owned();
    let print = print.split(' ').nth(1).expect("a fingerprint");
    assert_eq!(seen["ssh_user"], "asmith");
    assert_eq!(seen["key"], format!("ssh-ed25519 {print}"));

    let secret = fs::read_to_string(&file).expect("it is there");
    let line = secret.lines().nth(2).expect("it has lines");
    let kept = files_with(line, &daemon.data());
    let [kept] = kept.as_slice() else { panic!("{kept:?}") };
    assert!(kept.starts_with(daemon.data().join("keys")), "{kept:?}");
    assert_eq!(fs::read_to_string(kept).expect("it is there"), secret);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").mode() & 0o777;
    assert_eq!((mode(kept), mode(&daemon.data().join("keys"))), (0o600, 0o700));
    for said in [daemon.errors(), daemon.say(&["audit"]), listed().to_string()] {
        assert!(!said.contains(line) && !said.contains("PRIVATE KEY"), "{said}");
    }
    assert!(daemon.say(&["audit"]).contains("set SSH login on"));

    // The name alone changes; the key stays.
    daemon.say(&["user", "ssh", "n9", "--user", "as2"]);
    assert_eq!(n9().expect("it is there")["key"], format!("ssh-ed25519 {print}"));
    daemon.say(&["user", "ssh", "n9", "--remove"]);
    assert!(!kept.exists());
    assert_eq!(daemon.ask(&["user", "ssh", "n9", "--remove"]).status, 69);

    // A machine of the same name is another one.
    daemon.say(&["user", "ssh", "n9", "--user", "asmith", "--key", text(&file)]);
    assert!(kept.exists());
    daemon.say(&["node", "remove", "n9"]);
    assert!(!kept.exists());
}

#[test]
fn what_is_no_key_is_refused_with_what_to_do() {
    let Some((lab, ops)) = with_machine() else { return };
    let daemon = &lab.daemon;
    let Some(file) = key(daemon, "locked", "a passphrase") else { return };
    let check = |file: &Path, user: &str, words: &str| {
        let user = format!("--user={user}");
        let said = daemon.ask(&["user", "ssh", "n9", &user, "--key", text(file)]);
        assert_eq!(said.status, 64, "{said:?}");
        assert!(said.stderr.contains(words) && said.stderr.contains("hint: "), "{said:?}");
    };
    check(&file, "ann", "has a passphrase");
    check(&file.with_extension("pub"), "ann", "this is the public key");
    let other = daemon.directory().join("other");
    fs::write(&other, "hello\n").expect("it can be written");
    check(&other, "ann", "not an OpenSSH private key");
    fs::write(&other, "x".repeat(20_000)).expect("it can be written");
    check(&other, "ann", "too large for a private key");
    check(&file, "-oProxyCommand=id", "invalid user name");
    check(&daemon.directory().join("none"), "ann", "could not read");
    check(&daemon.directory().join("id"), "root", "as root");
    check(&daemon.directory().join("id"), &ops.os_user.name, "the server's own login");
    assert!(!daemon.data().join("keys").exists());
    // Here nobody needs one: the server becomes whom an admin names.
    let nodes = daemon.json(&["nodes", "--json"])["nodes"].clone();
    let mut names = nodes.as_array().expect("a list").iter().map(|node| node["name"].clone());
    let here = names.find(|name| name != "n9").expect("this machine");
    let here = here.as_str().expect("a name");
    let said = daemon.ask(&["user", "ssh", here, "--user", "root", "--key", text(&file)]);
    assert_eq!(said.status, 64, "{said:?}");
    assert!(said.stderr.contains("--os-user-on"), "{said:?}");
    assert_eq!(
        daemon.ask(&["user", "ssh", "none", "--user", "a", "--key", text(&file)]).status,
        69
    );
}

#[test]
fn an_admin_names_whom_tasks_run_as_on_one_machine() {
    let daemon = Daemon::start();
    daemon.say(&["node", "add", "n9", "--ssh", "nobody@127.0.0.1:1"]);
    let nodes = daemon.json(&["nodes", "--json"])["nodes"].clone();
    let mut names = nodes.as_array().expect("a list").iter().map(|node| node["name"].clone());
    let here = names.find(|name| name != "n9").expect("this machine");
    let here = here.as_str().expect("a name").to_owned();
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let me = me.as_str().expect("a name").to_owned();
    let set = |pair: &str| daemon.json(&["user", "set", &me, "--os-user-on", pair, "--json"]);
    assert_eq!(set("n9=elsewhere")["user"]["os_user_on"]["n9"], "elsewhere");
    assert_eq!(set("n9=")["user"]["os_user_on"], serde_json::json!({}));
    assert_eq!(daemon.ask(&["user", "set", &me, "--os-user-on", "none=x"]).status, 69);
    assert_eq!(daemon.ask(&["user", "set", &me, "--os-user-on", "n9=a b"]).status, 64);
    if !nix::unistd::geteuid().is_root() {
        crate::support::danlu::skip("whom tasks run as is seen as root only");
        return;
    }
    let who = || {
        let id = daemon.submit("-g 0 --dir /", "id -un");
        daemon.wait_until(&id, "succeeded");
        daemon.say(&["logs", &id])
    };
    assert_eq!(who(), "root\n");
    set(&format!("{here}=nobody"));
    assert_eq!(who(), "nobody\n");
    set(&format!("{here}="));
    assert_eq!(who(), "root\n");
}
